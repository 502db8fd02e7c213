"""Jobs of Volcano that are written: why one is refused, and what its pods will wait for (V4)."""

from collections.abc import Sequence

from ... import vocabulary as v
from ...words import MOST_LISTED, counted, first_of, logged, show
from ..phrases import Asked, asked_text


def job_refused(job: str, faults: Sequence[str]) -> str:
    """A Job can never run as it is written. `faults`: at most five are listed, then a count."""
    more = len(faults) - MOST_LISTED
    rest = [f"and {counted(more, 'more fault')}"] if more > 0 else []
    return f"Job <{logged(job)}> can never run: {'; '.join([*faults[:MOST_LISTED], *rest])}"


def task_never_fits(tasks: Sequence[str], text: str) -> str:
    """A fault of a Job: one pod of each of these tasks can never be let through, all for the same.
    `text`: why, with numbers.
    """
    named = first_of([f"<{show(task)}>" for task in tasks], ", ")
    return f"a pod of {'task' if len(tasks) == 1 else 'each of the tasks'} {named}: {text}"


def minimum_never_fits(pods: int, text: str) -> str:
    """A fault of a Job: the pods that start together never fit. `text`: why, with numbers."""
    return f"its minimum of {counted(pods, 'pod')}, which start together: {text}"


def tasks_too_unlike(pods: int, most: int) -> str:
    """A fault of a Job: the pods that start together ask for too many different things."""
    return (
        f"its minimum of {counted(pods, 'pod')}, which start together, asks for more than "
        f"<{most}> different things: give more tasks the same requests, or lower minAvailable"
    )


def job_pods_wait(job: str, text: str) -> str:
    """Warning: its pods will wait at the gate for what an administrator can change."""
    return f"{show(job)}: its pods will wait at the gate: {text}"


def job_stays_wrong(job: str, text: str) -> str:
    """Warning on a change that makes nothing worse: a fault that it had before. `text`: which."""
    return f"{show(job)} could not run before, and cannot now: {text}"


def request_disagrees(said: Asked, pods: int, asked: Asked, cards: tuple[int, int]) -> str:
    """Warning: `card.request` of a Job and its tasks ask for different cards. `asked`: what its
    tasks do; empty if that depends on which of them start. `cards`: the least and the most.
    """
    least, most = cards
    found = asked_text(asked) or (f"<{least}>" if least == most else f"<{least}> to <{most}>")
    cards_text = found if asked else f"{found} cards"
    return (
        f"{v.REQUEST} says {asked_text(said)}, but its minimum of {counted(pods, 'pod')} asks for "
        f"{cards_text}: make them agree"
    )


def partitions_not_supported(task: str) -> str:
    """Warning: Volcano schedules the members of a task by partition. Short."""
    return (
        f"task <{show(task)}> has a partitionPolicy: not supported, its members start in any order "
        "and may span partitions"
    )


def dependent_task(task: str, minimum: int) -> str:
    """Warning: pods that start together, of which some come only when others run."""
    return (
        f"task <{show(task)}> has dependsOn, but all <{minimum}> pods must start together: they "
        "never can; lower minAvailable"
    )


def request_copied_once() -> str:
    """Warning: `card.request` of a Job is changed that has its pod group."""
    return f"{v.REQUEST} of a Job is copied to its PodGroup once: change it there too"


def job_not_read(problem: str) -> str:
    """Warning: the Job has a shape that no pod template can have."""
    return f"the Job cannot be read ({show(problem, most=200)}): its pods are not checked now"


def job_not_looked_at(problem: str) -> str:
    """Warning: more than is read of a Job (P8). `problem`: the limit, and what was found."""
    return f"{problem}; its pods are not checked now, each is checked when it is created"
