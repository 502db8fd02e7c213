"""Node affinity and the label with a card's memory, by which shares of one product differ (P5).

A label that is a whole number of MiB is asked for by its range, `Gt` and `Lt`: exactly the values
that are rounded to the GiB of the card's name. One with a unit is asked for by the values that
nodes have shown.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from .card_memory import MemoryLabel, MemoryUnit, mib_of
from .number_comparison import bound_of, whole_number
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


class AskedOfLabel:
    """A requirement that is held against many cards: its values, made ready once."""

    __slots__ = ("_numbers", "bound", "expression", "values")

    def __init__(self, expression: Expression) -> None:
        self.expression = expression
        self.values = frozenset(expression.values or ())
        self.bound = bound_of(expression.values) if expression.operator in ("Gt", "Lt") else None
        self._numbers: dict[MemoryUnit, list[int]] = {}

    def possible(self, memory: MemoryLabel) -> int:
        """How many of its values a node with a card of this memory can show."""
        if memory.values:
            return len(self.values.intersection(memory.values))
        numbers = self._numbers.get(memory.unit)
        if numbers is None:
            found = (mib_of(text, memory.unit) for text in self.values)
            numbers = sorted(mib for mib in found if mib is not None)
            self._numbers[memory.unit] = numbers
        return bisect_right(numbers, memory.most) - bisect_left(numbers, memory.least)


def memory_can_hold(asked: AskedOfLabel, memory: MemoryLabel) -> bool:
    """Whether some node with a card of this memory fits."""
    match asked.expression.operator:
        case "In":
            return asked.possible(memory) > 0
        case "NotIn" if memory.values:
            return not asked.values.issuperset(memory.values)
        case "NotIn":
            return asked.possible(memory) <= memory.most - memory.least
        case "DoesNotExist":
            return False
        case "Gt" | "Lt":
            return _can_compare(asked, memory)
        case _:
            return True  # as where nothing is known, the scheduler has the last word


def _can_compare(asked: AskedOfLabel, memory: MemoryLabel) -> bool:
    bound = asked.bound
    if bound is None:
        return False
    if memory.unit is MemoryUnit.WRITTEN and not memory.values:
        return True
    numbers = [n for n in map(whole_number, memory.values) if n is not None]
    if memory.unit is MemoryUnit.MIB:
        numbers = [memory.least, memory.most]
    return any(n > bound if asked.expression.operator == "Gt" else n < bound for n in numbers)
