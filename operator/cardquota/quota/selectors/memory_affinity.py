"""Node affinity and the label with a card's memory, by which shares of one product differ (P5).

A label that is a whole number of MiB is asked for by its range, `Gt` and `Lt`: exactly the values
that are rounded to the GiB of the card's name. One with a unit is asked for by the values that
nodes have shown.
"""

from collections.abc import Sequence

from ..cards.card_memory import MemoryLabel, MemoryUnit
from ..objects.node_affinity import Expression


def memory_asked_for(memories: Sequence[MemoryLabel | None]) -> tuple[Expression, ...]:
    """What a node must show that has one of these cards; nothing where that cannot be said.

    Of shares of several sizes all that lies between them is let pass: the requirements of a term
    must all hold, and a gated pod must not get more terms than it had.
    """
    known = [memory for memory in memories if memory is not None]
    if len(known) < len(memories) or len({(memory.key, memory.unit) for memory in known}) != 1:
        return ()
    key = known[0].key
    if known[0].unit is MemoryUnit.WRITTEN:
        values = dict.fromkeys(value for memory in known for value in memory.values)
        all_shown = all(memory.values for memory in known)
        return (Expression(key=key, operator="In", values=tuple(values)),) if all_shown else ()
    least, most = min(one.least for one in known), max(one.most for one in known)
    return (
        Expression(key=key, operator="Gt", values=(str(least - 1),)),
        Expression(key=key, operator="Lt", values=(str(most + 1),)),
    )
