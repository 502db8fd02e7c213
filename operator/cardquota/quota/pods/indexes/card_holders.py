"""Which workloads of one namespace hold how much of one card of one queue."""

from bisect import bisect_left, insort
from heapq import nsmallest
from typing import Final

RANKED: Final = 64
"""Workloads from which on an order by amount is kept, once somebody has asked for it."""
_UNRANKED: Final = RANKED // 2
"""Workloads below which it is given up."""


class CardHolders:
    """Amounts by name of the workload. Workloads of different kinds with one name count as one.

    Guarantees: a change, and the question who holds most, cost a few steps however many workloads
    there are; but for the first question after many came, which costs by them all. Memory: one
    entry for each workload, three where somebody has asked and there are `RANKED` or more.
    """

    __slots__ = ("_amounts", "_ranks", "total")

    def __init__(self) -> None:
        self.total = 0
        """Cards that all of them hold."""
        self._amounts: dict[str, int] = {}
        self._ranks: _ByAmount | None = None

    def __len__(self) -> int:
        return len(self._amounts)

    @property
    def amounts(self) -> dict[str, int]:
        """Cards by workload, to be read."""
        return self._amounts

    def add(self, workload: str, amount: int) -> None:
        """The workload holds so many more cards; fewer, if `amount` is negative."""
        before = self._amounts.get(workload, 0)
        after = before + amount
        self.total += amount
        if after:
            self._amounts[workload] = after
        else:
            self._amounts.pop(workload, None)
        if self._ranks is None:
            return
        if len(self._amounts) < _UNRANKED:
            self._ranks = None
        else:
            self._ranks.move(workload, before, after)

    def most(self, number: int) -> list[tuple[str, int]]:
        """So many workloads that hold most, with what they hold. Equal ones are in the order of
        their names; where there are `RANKED` or more, in any.
        """
        if self._ranks is None:
            if len(self._amounts) < RANKED:
                return nsmallest(number, self._amounts.items(), key=_place)
            self._ranks = _ByAmount(self._amounts)
        return self._ranks.first(number)


def _place(held: tuple[str, int]) -> tuple[int, str]:
    name, amount = held
    return -amount, name


class _ByAmount:
    """Workloads by what they hold. Few amounts differ: most workloads hold one card, or eight."""

    __slots__ = ("_amounts", "_names")

    def __init__(self, amounts: dict[str, int]) -> None:
        self._names: dict[int, dict[str, None]] = {}
        for name, amount in amounts.items():
            self._names.setdefault(amount, {})[name] = None
        self._amounts = sorted(self._names)

    def move(self, name: str, before: int, after: int) -> None:
        """It held `before` and holds `after`; 0: it was not there, or is gone."""
        if before:
            names = self._names[before]
            del names[name]
            if not names:
                del self._names[before]
                del self._amounts[bisect_left(self._amounts, before)]
        if after:
            found = self._names.get(after)
            if found is None:
                found = self._names[after] = {}
                insort(self._amounts, after)
            found[name] = None

    def first(self, number: int) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for amount in reversed(self._amounts):
            for name in self._names[amount]:
                if len(found) == number:
                    return found
                found.append((name, amount))
        return found
