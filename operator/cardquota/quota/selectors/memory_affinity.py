"""Node affinity for the label with a card's memory, which tells shares of one product apart (P5).

A label that is a whole number of MiB is selected by a range, `Gt` and `Lt`: exactly the values that
round to the GiB in the card's name. A label with a unit is selected by the values that nodes have
shown.
"""

from collections.abc import Sequence

from ..cards.card_memory import MemoryLabel, MemoryUnit
from ..objects.node_affinity import Expression


def memory_asked_for(memories: Sequence[MemoryLabel | None]) -> tuple[Expression, ...]:
    """The requirements of a node that has one of these cards. Empty if they cannot be expressed.

    For shares of several sizes, every size between them is allowed too: all requirements of a term
    must hold, and a gated pod must not get more terms than it had.
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
