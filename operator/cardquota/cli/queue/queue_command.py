"""`kubectl cardquota queue NAME`: ask, and print the answer."""

import asyncio
import sys
from pathlib import Path

from ...cluster.api.access import AccessError
from ...quota.answers.answer_forms import QueueAnswer
from ...quota.vocabulary import QUEUE_REVIEWS
from ..printing import print_lines
from ..reviews.answer_output import AnswerOutput
from ..reviews.ask import ask
from ..reviews.no_answer import NoAnswerError
from ..reviews.print_answer import print_answer
from .queue_lines import queue_lines


def queue(
    name: str, *, limit: int, kubeconfig: Path | None, context: str, output: AnswerOutput
) -> int:
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
        sys.stderr.write(f"cardquota: {' '.join(str(error).split())}\n")
        return 2 if isinstance(error, AccessError) else 1
    if output is AnswerOutput.TEXT:
        print_lines(queue_lines(found))
    else:
        print_answer(found, output)
    return 0
