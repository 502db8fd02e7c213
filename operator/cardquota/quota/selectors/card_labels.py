"""Which of many cards a requirement leaves, for all of them at once (P5).

For every label, the cards that show a value are a set of bits in one whole number. A requirement
then costs a step for each value that it names, not one for each value and card.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final, NamedTuple, TypeVar

from ..cards.card import Card
from ..cards.card_memory import MemoryLabel, MemoryUnit, gib_of, mib_of
from .number_comparison import bound_of, whole_number

K = TypeVar("K")

_BEYOND: Final = 2**64
"""Above every number that a label can have."""


class CardLabels:
    """What these cards show. Any other label may have any value: we assume that some node fits."""

    def __init__(self, cards: Iterable[Card]) -> None:
        self._cards = list(cards)
        self._keys: dict[str, _UnderKey] = {}
        for place, card in enumerate(self._cards):
            shown: dict[str, str | MemoryLabel] = dict(card.labels)
            if card.memory is not None:
                shown[card.memory.key] = card.memory
            for key, value in shown.items():
                self._keys.setdefault(key, _UnderKey()).add(value, 1 << place)
            for key, value in card.barred:
                self._keys.setdefault(key, _UnderKey()).bar(value, 1 << place)
        self.all: Final = (1 << len(self._cards)) - 1
        """The bits of all cards."""

    def meeting(self, key: str, operator: str, values: Sequence[str] = ()) -> int:
        """The bits of the cards that a node can show which meets this requirement of a label."""
        under = self._keys.get(key)
        if under is None:
            return self.all
        match operator:
            case "In":
                return self.all & ~under.shown | under.one_of(values)
            case "NotIn":
                return self.all & ~under.none_but(values)
            case "DoesNotExist":
                return self.all & ~under.shown | under.may_lack
            case "Gt" | "Lt":
                return self.all & ~under.shown | under.compared(operator, bound_of(values))
            case _:
                return self.all  # an operator of a later Kubernetes: the scheduler decides

    def cards(self, bits: int) -> list[Card]:
        """The cards with these bits, in the order in which they were given."""
        return list(compress(self._cards, map("1".__eq__, reversed(f"{bits:b}"))))


class _Range(NamedTuple):
    """The numbers that some cards can show."""

    least: int
    most: int
    bits: int


class _UnderKey:
    """What cards show under one key, as bits of the cards."""

    __slots__ = (
        "_barred",
        "_memories",
        "_ranges",
        "_sizes",
        "_units",
        "_values",
        "_written",
        "may_lack",
        "shown",
    )

    def __init__(self) -> None:
        self.shown = 0
        """Cards that show some value under the key, or must not show one."""
        self.may_lack = 0
        """Those of them whose nodes may lack the label: they only must not show some value."""
        self._values: dict[str, int] = {}
        """By value. Includes the values of a memory that nodes have shown."""
        self._barred: dict[str, int] = {}
        """By value: cards that must not show it."""
        self._sizes: dict[tuple[MemoryUnit, int], int] = {}
        """By unit and GiB: memories of which no written value is known."""
        self._units: set[MemoryUnit] = set()
        """The units in `_sizes`."""
        self._written: dict[tuple[str, ...], int] = {}
        """By all written values of a memory that nodes have shown."""
        self._memories: dict[MemoryLabel, int] = {}
        self._ranges: list[_Range] | None = None

    def add(self, shown: str | MemoryLabel, bit: int) -> None:
        self.shown |= bit
        if isinstance(shown, MemoryLabel):
            self._add_memory(shown, bit)
        else:
            _add(self._values, shown, bit)

    def bar(self, value: str, bit: int) -> None:
        self.shown |= bit
        self.may_lack |= bit
        _add(self._barred, value, bit)

    def _add_memory(self, memory: MemoryLabel, bit: int) -> None:
        _add(self._memories, memory, bit)
        for value in memory.values:
            _add(self._values, value, bit)
        if memory.values:
            _add(self._written, memory.values, bit)
        else:
            _add(self._sizes, (memory.unit, memory.gib), bit)
            self._units.add(memory.unit)

    def one_of(self, values: Sequence[str]) -> int:
        """Cards that can show one of these values."""
        found, of = 0, self._values.get
        for value in values:
            found |= of(value, 0)
        for value in values:
            found |= self.may_lack & ~self._barred.get(value, 0)
        for unit in self._units:
            for value in values:
                mib = mib_of(value, unit)
                if mib is not None:
                    found |= self._sizes.get((unit, gib_of(mib)), 0)
        return found

    def none_but(self, values: Sequence[str]) -> int:
        """Cards that can show only these values."""
        found, of = 0, self._values.get
        for value in values:
            found |= of(value, 0)
        if self._written and found:
            asked = frozenset(values)
            for shown, bits in self._written.items():
                if not asked.issuperset(shown):
                    found &= ~bits
        for unit in self._units:
            sizes = {mib for value in values if (mib := mib_of(value, unit)) is not None}
            for gib, number in Counter(map(gib_of, sizes)).items():
                of_size = self._sizes.get((unit, gib), 0)
                memory = MemoryLabel("", gib, unit)
                if of_size and number > memory.most - memory.least:
                    found |= of_size
        return found

    def compared(self, operator: str, bound: int | None) -> int:
        """Cards that can show a number above (`Gt`) or below (`Lt`) the bound."""
        if bound is None:
            return 0  # comparing with something that is no number is always false
        found = self.may_lack
        if self._ranges is None:
            self._ranges = self._numbers()
        for least, most, bits in self._ranges:
            if most > bound if operator == "Gt" else least < bound:
                found |= bits
        return found

    def _numbers(self) -> list[_Range]:
        of_memories = 0
        found = []
        for memory, bits in self._memories.items():
            of_memories |= bits
            if memory.unit is MemoryUnit.MIB:
                found.append(_Range(memory.least, memory.most, bits))
            elif not memory.values:
                found.append(_Range(-_BEYOND, _BEYOND, bits))
            elif numbers := [n for n in map(whole_number, memory.values) if n is not None]:
                found.append(_Range(min(numbers), max(numbers), bits))
        for value, bits in self._values.items():
            number = whole_number(value)
            if number is not None and (plain := bits & ~of_memories):
                found.append(_Range(number, number, plain))
        return found


def _add(bits_by: dict[K, int], key: K, bit: int) -> None:
    bits_by[key] = bits_by.get(key, 0) | bit
