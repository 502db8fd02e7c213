"""Who comes before, of those that wait (E6)."""

from ..words import show
from .phrases import waits_in


def waits_in_order(queue: str, number: int, of: int) -> str:
    """The place of a group that waits, after why it waits. `number` 0: too many to count."""
    if not number:
        return f"more than <{of}> {waits_in(queue)}"
    return f"number <{number}> of <{of}> that {waits_in(queue)}"


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
            f"lets pods through strictly in order (fifo), and {who}, which comes before this pod, "
            f"waits for <{show(dimension)}>"
        )
    else:
        why = (
            f"keeps <{show(dimension)}> for {who}, which comes before this pod and has waited "
            f"<{int(waited) // 60}> min"
        )
    return f"Queue <{show(queue)}> {why}; wait, or ask the queue's owner for a higher quota"
