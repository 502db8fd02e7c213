"""`kubectl cardquota queue NAME`: ask, and print the answer."""

import asyncio
from pathlib import Path

import msgspec

from ...cluster.api.access import AccessError
from ...cluster.api.client import Client
from ...cluster.api.find_access import find_access
from ...quota.answers.answer_forms import QueueAnswer
from ...quota.vocabulary import QUEUE_REVIEWS
from ..failure import failed
from ..leader.read_leases import note_unless_led
from ..output import Output
from ..printing import print_data, print_lines
from ..reviews.ask import ask_through
from ..reviews.no_answer import NoAnswerError
from .queue_lines import queue_lines


def queue(
    name: str,
    namespace: str,
    *,
    limit: int,
    kubeconfig: Path | None,
    context: str,
    output: Output,
) -> int:
    """The exit code: 0 if the queue was shown, 1 if it could not be, 2 if no cluster was found.

    `namespace`: the operator's. Any replica answers; the Lease tells whether one of them leads.
    """
    try:
        found, unled = asyncio.run(_read(name, namespace, limit, kubeconfig, context))
    except (AccessError, NoAnswerError) as error:
        return failed(error)
    notes = [unled] if unled else []
    if output.is_data:
        print_data({**msgspec.to_builtins(found), "notes": notes}, output)
    else:
        print_lines(queue_lines(found, notes))
    return 0


async def _read(
    name: str, namespace: str, limit: int, kubeconfig: Path | None, context: str
) -> tuple[QueueAnswer, str]:
    client = Client(await find_access(kubeconfig, context))
    spec = {"queue": name, "limit": limit}
    try:
        found = await ask_through(client, QueueAnswer, "QueueReview", QUEUE_REVIEWS, spec)
        return found, await note_unless_led(client, namespace, published=False)
    finally:
        await client.close()
