"""What became of the gate of a pod."""

from collections.abc import Sequence

from .. import vocabulary as v
from ..amounts import Amount
from ..stamp import allocated_text
from ..words import show
from .phrases import Asked, held_text


def gate_refused(answer: str) -> str:
    """The API server, or a webhook of others, refuses the opening of a gate."""
    return (
        f"the gate cannot be opened: {show(answer, most=300)}; cardquota tries again, at growing "
        "intervals: correct what this answer names, or create the pod again"
    )


def gate_undecided(queue: str, held: Sequence[Amount], answer: str) -> str:
    """It is not known whether a gate will open, and the pod cannot be written to settle it."""
    return (
        f"the pod cannot be changed: {show(answer, most=300)}; an earlier request to open its gate "
        f"got no answer and may still take effect, so Queue <{show(queue)}> holds for the pod: "
        f"{held_text(held)}; cardquota tries again: correct what this answer names, or change a "
        "label of the pod, which voids the earlier request"
    )


def not_read_lately() -> str:
    """It is not known what is free: the view is missing or old, and the pod cannot wait."""
    return "cardquota has not read the cluster recently enough to decide; try again in a second"


def gated_without_queue() -> str:
    """A gated pod that has lost its queue."""
    return (
        f"the pod is gated but has no queue any more; name one in the annotation {v.QUEUE_NAME} "
        "of the pod or of its namespace"
    )


def released(queue: str, cards: Asked) -> str:
    """The gate is open."""
    charged = allocated_text(tuple(cards)) if cards else "cpu and memory"
    return f"Queue <{show(queue)}> has room: gate opened, charged {charged}"


def released_unasked(namespace: str, mode: str) -> str:
    """The gate is open whatever room there is: no pod waits in such a namespace."""
    where = f"namespace <{show(namespace)}> (mode {show(mode)})"
    return f"gate opened without looking at the quota: no pod waits in {where}"


def behind_room_made(queue: str, card: str, name: str | None = None, *, group: bool = False) -> str:
    """Pods end so that another pod or group can start, and nobody else takes that room (L5).

    `name`: that of the other, if the reader may see it. `group`: whether it is a group.
    """
    kind = "group" if group else "pod"
    who = f"{kind} <{show(name)}>" if name else f"a {kind}"
    return (
        f"Queue <{show(queue)}> releases no <{show(card)}> now: pods are being ended to make room "
        f"for {who}, and no other pod gets this card until that has started; wait a few minutes"
    )


def waits_in_order(queue: str, number: int, of: int) -> str:
    """The place of a group that waits, after why it waits. `number` 0: too many to count."""
    if not number:
        return f"more than <{of}> wait in Queue <{show(queue)}>"
    return f"number <{number}> of <{of}> that wait in Queue <{show(queue)}>"


def behind(
    queue: str,
    dimension: str,
    name: str | None = None,
    *,
    group: bool = False,
    waited: float | None = None,
) -> str:
    """A pod or group before this one waits for the same, and nobody passes it (E6).

    `name`: that of the one before, if the reader may see it. `group`: whether it is a group.
    `waited`: seconds, where it has waited too long; None: the queue is fifo.
    """
    kind = "group" if group else "pod"
    who = f"{kind} <{show(name)}>" if name else f"a {kind}"
    if waited is None:
        why = (
            f"releases pods strictly in order (fifo), and {who}, which comes before this pod, "
            f"waits for <{show(dimension)}>"
        )
    else:
        why = (
            f"keeps <{show(dimension)}> for {who}, which comes before this pod and has waited "
            f"<{int(waited) // 60}> min"
        )
    return f"Queue <{show(queue)}> {why}; wait, or ask the queue's owner for a higher quota"
