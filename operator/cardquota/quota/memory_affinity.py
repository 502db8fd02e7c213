"""Node affinity and the label with a card's memory, by which shares of one product differ (P5).

A label that is a whole number of MiB is asked for by its range, `Gt` and `Lt`: exactly the values
that are rounded to the GiB of the card's name. One with a unit is asked for by the values that
nodes have shown.
"""

from collections.abc import Sequence

from .card_memory import MemoryLabel, MemoryUnit
from .objects.node_affinity import Expression


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


def memory_can_hold(expression: Expression, memory: MemoryLabel) -> bool:
    """Whether some node with a card of this memory fits; `In` is asked of `MemoryLabel.can_be`."""
    values = expression.values or ()
    match expression.operator:
        case "NotIn" if memory.values:
            return not set(memory.values) <= set(values)
        case "NotIn":
            return sum(map(memory.can_be, set(values))) <= memory.most - memory.least
        case "DoesNotExist":
            return False
        case "Gt" | "Lt":
            return _can_compare(expression.operator, values, memory)
        case _:
            return True  # as where nothing is known, the scheduler has the last word


def _can_compare(operator: str, values: tuple[str, ...], memory: MemoryLabel) -> bool:
    try:
        bound = int(values[0])
    except (ValueError, IndexError):
        return False
    if memory.unit is MemoryUnit.WRITTEN and not memory.values:
        return True
    numbers = [int(text) for text in memory.values if text.isdigit()]
    if memory.unit is MemoryUnit.MIB:
        numbers = [memory.least, memory.most]
    return any(n > bound if operator == "Gt" else n < bound for n in numbers)
