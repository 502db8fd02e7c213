"""Who comes before, of those that wait (E6)."""

from collections.abc import Sequence

from ..amounts import Amount
from ..words import show
from .phrases import held_text, waits_in


def waits_in_order(queue: str, number: int, of: int) -> str:
    """The place of a group that waits, after why it waits. `number` 0: too many to count."""
    if not number:
        return f"more than <{of}> {waits_in(queue)}"
    return f"number <{number}> of <{of}> that {waits_in(queue)}"


def behind(queue: str, card: str, before: int, first: str | None = None) -> str:
    """No pod passes another in a queue with `dequeueStrategy: fifo`.

    `before`: how many pods, at least, wait for the card before this one. `first`: the first of
    them, if the reader may see it; pods of other namespaces are not named.
    """
    named = f", the first is <{show(first)}>" if first else ""
    return (
        f"Queue <{show(queue)}> lets pods through strictly in order (fifo): at least <{before}> "
        f"wait for <{show(card)}> before this pod{named}; wait, or ask the queue's owner for a "
        "higher quota"
    )


def behind_long_wait(
    queue: str, waited: int, asked: Sequence[Amount], *, group: bool, name: str | None = None
) -> str:
    """There is room, but it is set aside for a group, or a pod, that has waited too long (E6).

    `waited`: seconds. `name`: that of the group or pod, if the reader may see it.
    """
    kind = "group" if group else "pod"
    who = f"{kind} <{show(name)}>" if name else f"a {kind}"
    return (
        f"Queue <{show(queue)}> keeps what is free for {who}, which comes before this pod and has "
        f"waited <{waited // 60}> min for {held_text(asked)}; this pod would take some of that; "
        "wait, or ask the queue's owner for a higher quota"
    )
