"""Which nodes have a number under a label that is above or below a bound (`Gt`, `Lt`).

The numbers of all labels are kept in order as nodes come, change and go: sorting them when they are
asked for would take milliseconds for each label.

Costs: a change costs some microseconds. A comparison costs a step for each `BLOCK` numbers and for
each number of one block. Nodes share an equal number; each number takes some 100 bytes.
"""

from bisect import bisect_left, bisect_right
from typing import Final

from .number_comparison import whole_number

BLOCK: Final = 64
"""Numbers of a new block. A block is divided when it has twice as many."""


class LabelNumbers:
    """By label key. Entries are single bits; each has at most one value under a key."""

    def __init__(self) -> None:
        self._columns: dict[str, _Column] = {}
        """Only keys with a number."""
        self.work = 0
        """Steps of comparisons so far, each about a tenth of a microsecond."""

    def put(self, key: str, value: str, bit: int) -> None:
        """Set the value of a label that an entry did not have."""
        number = whole_number(value)
        if number is not None:
            column = self._columns.get(key)
            if column is None:
                column = self._columns[key] = _Column()
            column.put(number, bit)

    def take(self, key: str, value: str, bit: int) -> None:
        """The inverse of `put`."""
        number = whole_number(value)
        if number is not None:
            column = self._columns[key]
            column.take(number, bit)
            if not column.all:
                del self._columns[key]

    def compared(self, key: str, operator: str, bound: int) -> int:
        """The bits of all entries with a number above (`Gt`) or below (`Lt`) `bound`."""
        column = self._columns.get(key)
        if column is None:
            return 0
        self.work += column.steps
        return column.above(bound) if operator == "Gt" else column.below(bound)


class _Column:
    """The numbers of one label, in blocks, in order."""

    __slots__ = ("_bits", "_last", "_numbers", "_together", "all")

    def __init__(self) -> None:
        self._numbers: list[list[int]] = [[]]
        self._bits: list[list[int]] = [[]]
        """By block and number: the bits of the entries that have it."""
        self._last: list[int] = [0]
        """By block: its largest number; outdated if the only block is empty."""
        self._together: list[int] = [0]
        """By block: the bits of all entries with one of its numbers."""
        self.all = 0

    @property
    def steps(self) -> int:
        """Steps of one comparison, at most."""
        return len(self._last) + 2 * BLOCK

    def put(self, number: int, bit: int) -> None:
        self.all |= bit
        block = min(bisect_left(self._last, number), len(self._last) - 1)
        numbers, bits = self._numbers[block], self._bits[block]
        self._together[block] |= bit
        place = bisect_left(numbers, number)
        if place < len(numbers) and numbers[place] == number:
            bits[place] |= bit
            return
        numbers.insert(place, number)
        bits.insert(place, bit)
        self._last[block] = numbers[-1]
        if len(numbers) >= 2 * BLOCK:
            self._divide(block)

    def take(self, number: int, bit: int) -> None:
        self.all &= ~bit
        block = bisect_left(self._last, number)
        numbers, bits = self._numbers[block], self._bits[block]
        self._together[block] &= ~bit
        place = bisect_left(numbers, number)
        bits[place] &= ~bit
        if bits[place]:
            return
        del numbers[place], bits[place]
        if numbers:
            self._last[block] = numbers[-1]
        elif len(self._last) > 1:
            for column in (self._numbers, self._bits, self._last, self._together):
                del column[block]

    def _divide(self, block: int) -> None:
        for columns in (self._numbers, self._bits):
            columns.insert(block + 1, columns[block][BLOCK:])
            del columns[block][BLOCK:]
        self._last.insert(block, self._numbers[block][-1])
        second = 0
        for bits in self._bits[block + 1]:
            second |= bits
        self._together.insert(block + 1, second)
        self._together[block] &= ~second

    def above(self, bound: int) -> int:
        block = bisect_right(self._last, bound)
        place = bisect_right(self._numbers[block], bound) if block < len(self._last) else 0
        return self.all & ~self._before(block, place)

    def below(self, bound: int) -> int:
        block = bisect_left(self._last, bound)
        place = bisect_left(self._numbers[block], bound) if block < len(self._last) else 0
        return self._before(block, place)

    def _before(self, block: int, place: int) -> int:
        found = 0
        for bits in self._together[:block]:
            found |= bits
        if place:
            for bits in self._bits[block][:place]:
                found |= bits
        return found
