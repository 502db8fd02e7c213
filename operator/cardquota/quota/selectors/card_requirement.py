"""Whether a node that shows a card can meet a requirement of one label (P5)."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ..cards.card import Card, MemoryLabel, MemoryUnit, gib_of, mib_of

_WHOLE: Final = re.compile(r"([+-]?)(?=[0-9])0*+([0-9]{0,19}+)", re.ASCII)
"""Possessive: it never backtracks on a text that is no number."""
_SHORT: Final = 19
"""A number with this many digits may be too large."""
_LARGEST: Final = 2**63 - 1


def compares(operator: str, of_node: str, of_pod: str) -> bool:
    """Whether the node's value is above (`Gt`) or below (`Lt`) the pod's.

    Both must be whole decimal numbers of 64 bits; anything else compares as false.
    """
    node, pod = whole_number(of_node), whole_number(of_pod)
    if node is None or pod is None:
        return False
    return node > pod if operator == "Gt" else node < pod


def bound_of(values: Sequence[str] | None) -> int | None:
    """The number that a requirement of node affinity compares with. None: nothing meets it.

    A term holds only if there is exactly one value and it is a number.
    """
    return whole_number(values[0]) if values and len(values) == 1 else None


def whole_number(text: str) -> int | None:
    """The whole number of 64 bits that a text stands for; None if it is none."""
    if len(text) < _SHORT and text.isascii() and text.isdigit():
        return int(text)  # nearly all texts; takes a third of the time
    found = _WHOLE.fullmatch(text)
    if found is None:
        return None
    number = int(found[1] + (found[2] or "0"))
    return number if -_LARGEST - 1 <= number <= _LARGEST else None


class CardRequirement:
    """A requirement of a node's label: `zone In (a, b)`.

    Of a label that does not belong to a card we assume that some node has the right value. Costs a
    microsecond for each card, and once the number of its values.
    """

    def __init__(self, key: str, operator: str, values: Sequence[str] = ()) -> None:
        self._key = key
        self._operator = operator
        self._values: Final = frozenset(values)
        self._bound = bound_of(values)
        self._sizes: dict[MemoryUnit, Counter[int]] = {}

    def allowed(self, cards: Iterable[Card]) -> list[Card]:
        """The cards of which a node can meet this, in their order."""
        return [card for card in cards if self._allows(card)]

    def _allows(self, card: Card) -> bool:
        if card.memory is not None and card.memory.key == self._key:
            return self._of_memory(card.memory)
        for key, value in card.labels:
            if key == self._key:
                return self._of_value(value)
        barred = [value for key, value in card.barred if key == self._key]
        return not barred or self._beside(barred)

    def _of_value(self, value: str) -> bool:
        """The node has this value."""
        match self._operator:
            case "In":
                return value in self._values
            case "NotIn":
                return value not in self._values
            case "DoesNotExist":
                return False
            case "Gt" | "Lt":
                number = whole_number(value)
                return number is not None and self._compares(number, number)
            case _:
                return True  # an operator of a later Kubernetes: the scheduler decides

    def _beside(self, barred: Collection[str]) -> bool:
        """The node has any value but these, or lacks the label."""
        match self._operator:
            case "In":
                return not self._values.issubset(barred)
            case "Gt" | "Lt":
                return self._bound is not None
            case _:
                return True

    def _of_memory(self, memory: MemoryLabel) -> bool:
        """The node has one of the values that were seen; or if none is known, any of that size."""
        match self._operator:
            case "In":
                if memory.values:
                    return not self._values.isdisjoint(memory.values)
                return memory.gib in self._sizes_in(memory.unit)
            case "NotIn":
                if memory.values:
                    return not self._values.issuperset(memory.values)
                excluded = self._sizes_in(memory.unit)[memory.gib]
                return excluded <= memory.most - memory.least
            case "DoesNotExist":
                return False
            case "Gt" | "Lt":
                if memory.unit is MemoryUnit.MIB:
                    return self._compares(memory.least, memory.most)
                if not memory.values:
                    return self._bound is not None
                numbers = [n for n in map(whole_number, memory.values) if n is not None]
                return bool(numbers) and self._compares(min(numbers), max(numbers))
            case _:
                return True

    def _compares(self, least: int, most: int) -> bool:
        """Whether some number from `least` to `most` is above, or below, the bound."""
        if self._bound is None:
            return False  # comparing with something that is no number is always false
        return most > self._bound if self._operator == "Gt" else least < self._bound

    def _sizes_in(self, unit: MemoryUnit) -> Counter[int]:
        """By GiB: how many different sizes its values name."""
        if unit not in self._sizes:
            mib_values = {mib for value in self._values if (mib := mib_of(value, unit)) is not None}
            self._sizes[unit] = Counter(map(gib_of, mib_values))
        return self._sizes[unit]
