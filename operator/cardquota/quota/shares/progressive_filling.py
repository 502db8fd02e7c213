"""Weighted max-min fairness: one amount is shared by weight, in rounds, until it is used up (W1).

The rounds have one result, whatever their number: a *level*, at which everybody has its weight
times the level, but at least its guarantee and at most its cap. So the level is kept, not the
rounds. In each round those who reach their cap leave, and the level rises; it stops where nothing
remains. A guarantee above the level is set aside first, and the others share what is left.

Amounts and weights are integers, and so is all arithmetic: nothing is rounded but by `whole`.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import Final, NamedTuple

from ..accounts.queue_facts import LARGEST_WEIGHT

_SHIFT: Final = 2 * LARGEST_WEIGHT.bit_length()
"""Two quotients by such weights that differ do so by more than 2**-32. Shifted, and cut to an
integer, they are therefore in the same order, and equal only if they were.
"""


class WeightedDemand(NamedTuple):
    """What one of those who share may get. No number is negative."""

    weight: int
    """1 to `LARGEST_WEIGHT`."""
    cap: int
    """The most it gets."""
    guarantee: int = 0
    """The least it gets; no more than the cap counts."""


Quotient = tuple[int, int]
"""An exact amount: numerator and denominator, the latter above zero."""
_Point = tuple[int, str, bool]
"""A level at which somebody's amount begins or ends to rise: the level, shifted, whose, and whether
it ends. Sorted by level. Plain tuples: they are compared and made by the thousand.
"""


class ProgressiveFilling:
    """Shares `total` among named demands.

    Guarantees, of what each gets: never above its cap, and never below its guarantee; together
    never above the total, unless the guarantees alone are; nothing is left while anybody is below
    its cap; with equal caps and guarantees a larger weight never gets less. None of it depends on
    the order in which they came.

    To set one costs by the logarithm of their number, and by those whom the level then passes.
    """

    __slots__ = ("_demands", "_fixed", "_level_found", "_passed", "_points", "_total", "_weights")

    def __init__(self, total: int, demands: Mapping[str, WeightedDemand] | None = None) -> None:
        self._total = total
        self._level_found = False
        """Whether all below is as of the level now."""
        self._demands: dict[str, WeightedDemand] = {}
        self._points: list[_Point] = []
        self._passed = 0
        """How many points are at or below the level, as it was when last asked for."""
        self._weights = 0
        """Of those who rise with the level there, together."""
        self._fixed = 0
        """What the others have, together: their guarantee or their cap."""
        for name, demand in (demands or {}).items():
            self._demands[name] = within = _within_cap(demand)
            self._points += _points(name, within)
            self._count_below(within, 1)
        self._points.sort()

    def set_total(self, total: int) -> None:
        """Share another amount."""
        if total != self._total:
            self._total, self._level_found = total, False

    def set(self, name: str, demand: WeightedDemand | None) -> None:
        """Put another demand in the place of the former one. None: it shares no more."""
        before = self._demands.get(name)
        demand = _within_cap(demand) if demand is not None else None
        if before == demand:
            return
        self._level_found = False
        if before is not None:
            del self._demands[name]
            for point in _points(name, before):
                index = bisect_left(self._points, point)
                if index < self._passed:
                    self._pass(point, before, -1)
                del self._points[index]
            self._count_below(before, -1)
        if demand is None:
            return
        self._demands[name] = demand
        self._count_below(demand, 1)
        for point in _points(name, demand):
            if self._passed and point < self._points[self._passed - 1]:
                self._pass(point, demand, 1)
            insort(self._points, point)

    def settle(self) -> bool:
        """Find the level, so that neither `of` nor `whole` has to. Returns whether that was to be
        done.
        """
        if self._level_found:
            return False
        self._find_level()
        return True

    def of(self, name: str) -> Quotient:
        """What this one gets."""
        self.settle()
        return self._of(self._demands[name])

    def whole(self) -> dict[str, int]:
        """What each gets in whole numbers: by largest remainder, of equal ones by name."""
        self.settle()
        found: dict[str, int] = {}
        remainders: list[tuple[int, str]] = []
        weights, remaining = self._weights, self._total - self._fixed
        for name, demand in self._demands.items():
            weight, cap, guarantee = demand
            if not weights:
                found[name] = self._of(demand)[0]
                continue
            amount, rest = divmod(weight * remaining, weights)
            if amount >= cap or amount < guarantee:
                found[name] = cap if amount >= cap else guarantee
                continue
            found[name] = amount
            if rest:
                remainders.append((-rest, name))
        # The exact amounts that have a remainder make up the total with all others.
        left = self._total - sum(found.values()) if remainders else 0
        remainders.sort()
        for _, name in remainders[:left]:
            found[name] += 1
        return found

    def _of(self, demand: WeightedDemand) -> Quotient:
        if not self._weights:
            # Nobody rises: all have their cap, or the guarantees alone are above the total.
            everything = self._passed == len(self._points)
            return (demand.cap if everything else demand.guarantee), 1
        weights = self._weights
        rising = demand.weight * (self._total - self._fixed)
        least, most = demand.guarantee * weights, demand.cap * weights
        return min(max(rising, least), most), weights

    # --- the level ----------------------------------------------------------------------------

    def _find_level(self) -> None:
        """Move past all points at or below the level, and back to before all above it."""
        points = self._points
        while self._passed < len(points) and self._reaches(points[self._passed]):
            point = points[self._passed]
            self._pass(point, self._demands[point[1]], 1)
        while self._passed and not self._reaches(points[self._passed - 1]):
            point = points[self._passed - 1]
            self._pass(point, self._demands[point[1]], -1)
        self._level_found = True

    def _reaches(self, point: _Point) -> bool:
        """Whether the total is enough for the level of this point."""
        _, name, stops = point
        demand = self._demands[name]
        amount = demand.cap if stops else demand.guarantee
        return (self._total - self._fixed) * demand.weight >= self._weights * amount

    def _pass(self, point: _Point, demand: WeightedDemand, sign: int) -> None:
        """Count a point as below the level (1), or as above it (-1)."""
        self._passed += sign
        if point[2]:
            self._weights -= sign * demand.weight
            self._fixed += sign * demand.cap
        else:
            self._weights += sign * demand.weight
            self._fixed -= sign * demand.guarantee

    def _count_below(self, demand: WeightedDemand, sign: int) -> None:
        """Count a demand as at level 0 (1), or no more (-1)."""
        if demand.guarantee:
            self._fixed += sign * demand.guarantee
        elif demand.cap:
            self._weights += sign * demand.weight


def _within_cap(demand: WeightedDemand) -> WeightedDemand:
    if demand.guarantee <= demand.cap:
        return demand
    return demand._replace(guarantee=demand.cap)


def _points(name: str, demand: WeightedDemand) -> list[_Point]:
    """None where nothing rises: the guarantee is the cap, or both are nothing. Without a guarantee
    it rises from the bottom.
    """
    weight, cap, guarantee = demand
    if guarantee >= cap:
        return []
    stop = ((cap << _SHIFT) // weight, name, True)
    if not guarantee:
        return [stop]
    return [((guarantee << _SHIFT) // weight, name, False), stop]
