"""What becomes of a gang at the gate: what it waits for, reserves, holds and loses."""

from collections.abc import Sequence

from .. import vocabulary as v
from ..amounts import Amount
from ..words import first_of, show
from .phrases import held_text, not_written

_MIXED = (
    "; its pods have several cards: to bind them Volcano's scheduler needs "
    "predicateErrorCacheEnable: false for allocate"
)


def gang_refused(pod: str, answer: str) -> str:
    """A gang that starts whole: the opening of one of its pods' gates is refused."""
    return (
        f"the gate of pod <{show(pod)}> cannot be opened: {show(answer, most=300)}; so no pod of "
        "the group starts and the group holds nothing; cardquota tries again, at growing "
        "intervals: correct what this answer names, or create that pod again"
    )


def gang_held_back(namespace: str, failures: int) -> str:
    """A gang with room: it has to wait because gates of its namespace do not open."""
    return (
        f"the last <{failures}> changes of pods of namespace <{show(namespace)}> were refused or "
        "not answered, so its groups start one at a time, with few changes at once; no pod of this "
        "group has started yet and the group holds nothing; cardquota tries again, at growing "
        "intervals: see the events GateNotOpened of pods of that namespace"
    )


def gang_in_part(pod: str, opened: int, minimum: int, seconds: float) -> str:
    """The opening of a gate is refused after other pods of the gang were released."""
    return (
        f"the gate of pod <{show(pod)}> was not opened, though a dry run of that had succeeded. "
        f"<{opened}> of the <{minimum}> pods that start together are released; what is reserved "
        f"for the others is given back after <{seconds:g}> s. The events of that pod say why: "
        "correct it, or delete the group's pods"
    )


def gang_not_reserved(answer: str) -> str:
    """A gang: writing its reservation on the PodGroup is refused."""
    return (
        f"{not_written(answer)}; so no pod of the group starts and the group holds nothing; "
        "cardquota tries again, at growing intervals: correct what this answer names"
    )


def group_not_enqueued(answer: str) -> str:
    """A group that is to be enqueued: writing its reservation on the PodGroup is refused."""
    return (
        f"{not_written(answer)}; so nothing is reserved for it; "
        "cardquota tries again, at growing intervals: correct what this answer names"
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
        f"{not_written(answer)}; an earlier request got no answer and may still take effect, so "
        f"Queue <{show(queue)}> holds for the group: {held_text(held)}, and no pod of it starts; "
        "cardquota tries again: correct what this answer names, or change a label of the PodGroup, "
        "which voids the earlier request"
    )


def reservation_expired(
    queue: str,
    bound: int,
    minimum: int,
    seconds: float,
    rest: Sequence[Amount],
    *,
    mixed: bool = False,
) -> str:
    """E8: the minimum of a gang did not run in time. `mixed`: its pods have several cards, and
    Volcano schedules (V7).
    """
    left = held_text(rest) if rest else "nothing more"
    return (
        f"Queue <{show(queue)}>: <{bound}> of the <{minimum}> pods that start together had a node "
        f"<{seconds:g}> s after their start; the rest of the reservation is given back: {left}. "
        "Pods that were released stay charged. The others wait again, behind those that fit: "
        "see why the missing pods do not run or do not exist, or lower minMember"
        f"{_MIXED if mixed else ''}"
    )


def request_expired(
    queue: str, there: int, minimum: int, seconds: float, rest: Sequence[Amount]
) -> str:
    """E8: the pods of a group that was enqueued did not come, or did not start, in time."""
    advice = "Its pods still wait, behind those that fit: see why they do not start"
    if there < minimum:
        advice = (
            "It is reserved again, behind those that fit, when a pod of the group exists or the "
            "group asks for something else: create its pods, or delete the group"
        )
    return (
        f"Queue <{show(queue)}>: <{there}> of the <{minimum}> pods of the group existed "
        f"<{seconds:g}> s after it was enqueued; the reservation is given back: {held_text(rest)}. "
        f"{advice}"
    )


def reservation_kept(queue: str, rest: Sequence[Amount], answer: str) -> str:
    """A reservation is over, and removing it from the PodGroup is refused."""
    return (
        f"{not_written(answer)}; so its reservation, which is over, cannot be given back: Queue "
        f"<{show(queue)}> still holds for the group: {held_text(rest)}; cardquota tries again, at "
        "growing intervals: correct what this answer names"
    )


def gang_incomplete(group: str, there: int, minimum: int) -> str:
    """The gang waits for members that have not been created."""
    return (
        f"pod group <{show(group)}> needs <{minimum}> pods to start together, but only <{there}> "
        f"exist; create the others (or see why they are refused), or lower its minMember"
    )


def group_to_come(queue: str) -> str:
    """A pod of a workload that Volcano schedules: only its group says how many start together."""
    where = f"Queue <{show(queue)}>: " if queue else ""
    return (
        f"{where}Volcano has not given the pod its pod group yet, so it is not known how many pods "
        "start together; ask the administrator whether volcano-controllers runs"
    )


def waits_for_minimum(queue: str, group: str, on_nodes: int, minimum: int) -> str:
    """A pod beyond the minimum of a gang, beside Volcano: it would get another card (V7)."""
    return (
        f"Queue <{show(queue)}>: <{on_nodes}> of the <{minimum}> pods that pod group "
        f"<{show(group)}> starts with are on nodes; this one is beyond them and has no room on "
        "their card; wait until they are, so that Volcano does not hold them up for it"
    )


def gang_tasks_incomplete(group: str, tasks: Sequence[tuple[str, int, int]]) -> str:
    """The gang waits for members of some tasks that have not been created.

    `tasks`: each with its minimum, and how many of its pods are there.
    """
    return (
        f"pod group <{show(group)}> needs its minimum of each task (spec.minTaskMember) to start, "
        f"but too few pods exist: {_by_task(tasks)}; create the others, with their task in "
        f"annotation {v.TASK}, or lower its minTaskMember"
    )


def gang_tasks_not_ready(group: str, queue: str, tasks: Sequence[tuple[str, int, int]]) -> str:
    """All members of the gang exist, but not enough of some tasks can be released.

    `tasks`: each with how many must still be released, and how many can be, in this queue.
    """
    return (
        f"pod group <{show(group)}> needs its minimum of each task (spec.minTaskMember) to start; "
        f"the pods exist, but too few can be released in queue <{show(queue)}>: "
        f"{_by_task(tasks)}; name one queue for all of them, and see which finalizers keep those "
        "that are being deleted"
    )


def _by_task(tasks: Sequence[tuple[str, int, int]]) -> str:
    texts = [f"<{found}> of <{least}> of task <{show(task)}>" for task, least, found in tasks]
    return first_of(texts, ", ")


def gang_not_ready(group: str, queue: str, minimum: int, missing: int, ready: int) -> str:
    """All members of the gang exist, but not enough of them can be released.

    `missing`: how many are still to be released. `ready`: how many can be, in this queue.
    """
    return (
        f"pod group <{show(group)}> needs <{minimum}> pods to start together; they exist, but of "
        f"the <{missing}> that must still be released only <{ready}> can be in queue "
        f"<{show(queue)}>: others are being deleted, or belong to another queue; name one queue "
        "for all of them, and see which finalizers keep those that are being deleted"
    )


def group_released(queue: str) -> str:
    """Condition: the pods of a group's minimum are released, or start now."""
    return f"Queue <{show(queue)}> has let the group start"


def group_runs_in_part(running: int, minimum: int) -> str:
    """Condition: a group ran, and now fewer of its pods do than start together."""
    return (
        f"only <{running}> of the <{minimum}> pods that start together run: see why the others "
        "have ended, or create them again"
    )


def gang_too_unlike(group: str, members: int, most: int) -> str:
    """The members that start together ask for too many different things."""
    return (
        f"the <{members}> pods of group <{show(group)}> that start together differ in what they "
        f"ask for, or in which nodes they may use, in more than <{most}> ways: give more of them "
        "the same requests, or lower its minMember"
    )
