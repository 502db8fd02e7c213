"""Why a question about a queue or a workload is not answered."""

from ..words import show
from .phrases import did_you_mean


def send_as_dry_run(resource: str) -> str:
    """Somebody wants to store a question. `resource`: as roles name it."""
    return (
        f"{show(resource)} are answered and never stored: create one as a dry run "
        "(kubectl create --dry-run=server -o yaml)"
    )


def question_refused(resource: str, problem: str) -> str:
    """It is too large to be read."""
    return f"this cannot be answered: {problem}; {show(resource)} need only their spec"


def no_such_queue(queue: str, *, meant: str = "") -> str:
    """Nobody has a queue of this name. `meant`: the queue that was probably meant."""
    return f"Queue <{show(queue)}> does not exist{did_you_mean(meant)}"


def too_many_questions() -> str:
    """So many ask at the same time that this one would wait for long."""
    return "too many questions wait for their answers; try again in a second"
