"""`kubectl cardquota queue NAME`: ask, and print the answer."""

import asyncio
from pathlib import Path

import msgspec

from ...cluster.api.access import AccessError
from ...quota.answers.answer_forms import QueueAnswer
from ...quota.vocabulary import QUEUE_REVIEWS
from ..failure import failed
from ..output import Output
from ..printing import print_data, print_lines
from ..reviews.ask import ask
from ..reviews.no_answer import NoAnswerError
from .queue_lines import queue_lines


def queue(name: str, *, limit: int, kubeconfig: Path | None, context: str, output: Output) -> int:
    """The exit code: 0 if the queue was shown, 1 if it could not be, 2 if no cluster was found."""
    question = ask(
        QueueAnswer,
        "QueueReview",
        QUEUE_REVIEWS,
        {"queue": name, "limit": limit},
        kubeconfig=kubeconfig,
        context=context,
    )
    try:
        found = asyncio.run(question)
    except (AccessError, NoAnswerError) as error:
        return failed(error)
    if output.is_data:
        print_data(msgspec.to_builtins(found), output)
    else:
        print_lines(queue_lines(found))
    return 0
