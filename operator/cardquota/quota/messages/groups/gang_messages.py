"""What becomes of a gang at the gate: what it waits for, reserves, holds and loses."""

from collections.abc import Sequence

from ... import vocabulary as v
from ...amounts import Amount
from ...words import first_of, show
from ..phrases import held_text, not_written


def gang_refused(pod: str, answer: str) -> str:
    """A gang that starts whole: the opening of one of its pods' gates is refused."""
    return (
        f"the gate of pod <{show(pod)}> cannot be opened: {show(answer, most=300)}; so no pod of "
        "the group is started and nothing is held for it; it is tried again, ever less often: "
        "correct what is named there, or create that pod again"
    )


def gang_held_back(namespace: str, failures: int) -> str:
    """A gang with room: it has to wait because gates of its namespace do not open."""
    return (
        f"the last <{failures}> changes of pods of namespace <{show(namespace)}> were refused or "
        "not answered, so its groups start one at a time, with few changes at once; no pod of this "
        "group is started yet and nothing is held for it; it is tried again, ever less often: see "
        "the events of the pods of that namespace whose gates were not opened"
    )


def gang_in_part(pod: str, opened: int, minimum: int, seconds: float) -> str:
    """The opening of a gate is refused after other pods of the gang were let through."""
    return (
        f"the gate of pod <{show(pod)}> was not opened, though nobody had objected just before. "
        f"<{opened}> of the <{minimum}> pods that start together are let through; what is reserved "
        f"for the others is given back after <{seconds:g}> s. The events of that pod say why: "
        "correct it, or delete the group's pods"
    )


def gang_not_reserved(answer: str) -> str:
    """A gang: writing its reservation on the PodGroup is refused."""
    return (
        f"{not_written(answer)}; so no pod of the group is "
        "started and nothing is held for it; it is tried again, ever less often: correct what is "
        "named there"
    )


def group_not_enqueued(answer: str) -> str:
    """A group that is to be enqueued: writing its reservation on the PodGroup is refused."""
    return (
        f"{not_written(answer)}; so nothing is reserved for it; "
        "it is tried again, ever less often: correct what is named there"
    )


def enqueued(queue: str, held: Sequence[Amount], seconds: float) -> str:
    """E1: what a group asks for is reserved, before its pods are there."""
    return (
        f"Queue <{show(queue)}> reserves for the group: {held_text(held)}. Its pods start together "
        f"once they are there and that much is free; if they do not come within <{seconds:g}> s, "
        "the reservation ends"
    )


def gang_undecided(queue: str, held: Sequence[Amount], answer: str) -> str:
    """A gang: it is not known whether its reservation was written, and writing it again fails."""
    return (
        f"{not_written(answer)}; an earlier try was not "
        f"answered and may come yet, so Queue <{show(queue)}> holds for the group: "
        f"{held_text(held)}, and no pod of it is started; it is tried again: correct what is "
        "named there, or change anything of the PodGroup, which ends this try"
    )


def reservation_expired(
    queue: str, bound: int, minimum: int, seconds: float, rest: Sequence[Amount]
) -> str:
    """E8: the minimum of a gang did not run in time."""
    left = held_text(rest) if rest else "nothing more"
    return (
        f"Queue <{show(queue)}>: <{bound}> of the <{minimum}> pods that start together had a node "
        f"<{seconds:g}> s after their start; what is still reserved is to be given back: "
        f"{left}. Pods that were let through stay charged. The others wait anew, behind "
        "those who fit: see why the missing ones do not run or do not exist, or lower minMember"
    )


def request_expired(
    queue: str, there: int, minimum: int, seconds: float, rest: Sequence[Amount]
) -> str:
    """E8: the pods of a group that was enqueued did not come, or did not start, in time."""
    advice = "Its pods wait on, behind those who fit: see why they do not start"
    if there < minimum:
        advice = (
            "It is reserved again, behind those who fit, when a pod of the group is there or the "
            "group asks for something else: create its pods, or delete the group"
        )
    return (
        f"Queue <{show(queue)}>: <{there}> of the <{minimum}> pods of the group were there "
        f"<{seconds:g}> s after it was enqueued; what is reserved is to be given back: "
        f"{held_text(rest)}. {advice}"
    )


def reservation_kept(queue: str, rest: Sequence[Amount], answer: str) -> str:
    """A reservation is over, and removing it from the PodGroup is refused."""
    return (
        f"{not_written(answer)}; so what is still reserved is "
        f"not given back, though the reservation is over: Queue <{show(queue)}> holds for the "
        f"group: {held_text(rest)}; it is tried again, ever less often: correct what is named there"
    )


def gang_incomplete(group: str, there: int, minimum: int) -> str:
    """The gang waits for members that have not been created."""
    return (
        f"pod group <{show(group)}> starts with <{minimum}> pods together, but only <{there}> are "
        "there; create the others, or lower its minMember"
    )


def gang_tasks_incomplete(group: str, tasks: Sequence[tuple[str, int, int]]) -> str:
    """The gang waits for members of some tasks that have not been created.

    `tasks`: each with its minimum, and how many of its pods are there.
    """
    return (
        f"pod group <{show(group)}> starts with its minimum of each task (spec.minTaskMember), but "
        f"too few are there: {_by_task(tasks)}; create the others, which name their task in "
        f"annotation {v.TASK}, or lower its minTaskMember"
    )


def gang_tasks_not_ready(group: str, queue: str, tasks: Sequence[tuple[str, int, int]]) -> str:
    """All members of the gang exist, but not enough of some tasks can be let through.

    `tasks`: each with how many must still be let through, and how many can be, in this queue.
    """
    return (
        f"pod group <{show(group)}> starts with its minimum of each task (spec.minTaskMember), and "
        f"they are there, but too few can be let through in queue <{show(queue)}>: "
        f"{_by_task(tasks)}; let all of them name one queue, and see what holds up those that are "
        "being deleted (their finalizers)"
    )


def _by_task(tasks: Sequence[tuple[str, int, int]]) -> str:
    texts = [f"of task <{show(task)}> <{found}> of <{least}>" for task, least, found in tasks]
    return first_of(texts, ", ")


def gang_not_ready(group: str, queue: str, minimum: int, missing: int, ready: int) -> str:
    """All members of the gang exist, but not enough of them can be let through.

    `missing`: how many are still to be let through. `ready`: how many can be, in this queue.
    """
    return (
        f"pod group <{show(group)}> starts with <{minimum}> pods together, and they are there, but "
        f"of the <{missing}> that must still be let through only <{ready}> can be in queue "
        f"<{show(queue)}>: others are being deleted, or belong to another queue; let all of them "
        "name one queue, and see what holds up those that are being deleted (their finalizers)"
    )


def group_let_through(queue: str) -> str:
    """Condition: the pods of a group's minimum are let through, or start now."""
    return f"Queue <{show(queue)}> has let the group start"


def group_runs_in_part(running: int, minimum: int) -> str:
    """Condition: a group ran, and now fewer of its pods do than start together."""
    return (
        f"<{running}> of the <{minimum}> pods that start together run: "
        "see why the others have ended, or create them again"
    )


def gang_too_unlike(group: str, members: int, most: int) -> str:
    """The members that start together ask for too many different things."""
    return (
        f"the <{members}> pods of group <{show(group)}> that start together differ in what they "
        f"ask for, or in which nodes they may use, in more than <{most}> ways: give more of them "
        "the same requests, or lower its minMember"
    )
