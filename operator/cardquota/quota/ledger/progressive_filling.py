"""Weighted max-min fairness: one amount is shared by weight, in rounds, until it is used up (W1).

The rounds have one result, whatever their number: a *level*, at which everybody has its weight
times the level, but at least its guarantee and at most its cap. In each round those who reach their
cap leave, and the level rises; it stops where nothing remains. A guarantee above the level is taken
out first, and the others share what is left.

Amounts and weights are integers, and so is all arithmetic: nothing is rounded but by `whole`.
"""

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


class ProgressiveFilling:
    """`total`, shared among named demands. Costs O(n log n) to make.

    Guarantees, of what each gets: never above its cap, and never below its guarantee; together
    never above the total, unless the guarantees alone are; nothing is left while anybody is below
    its cap; with equal caps and guarantees a larger weight never gets less. None of it depends on
    the order of the demands.
    """

    __slots__ = ("_all_full", "_demands", "_remaining", "_total", "_weights")

    def __init__(self, total: int, demands: Mapping[str, WeightedDemand]) -> None:
        self._total = total
        self._demands = {
            name: one if one.guarantee <= one.cap else one._replace(guarantee=one.cap)
            for name, one in demands.items()
        }
        weights = 0
        fixed = 0
        points: list[tuple[int, str, bool]] = []
        """Levels at which somebody's amount begins (False) or ends (True) to rise."""
        for name, (weight, cap, guarantee) in self._demands.items():
            fixed += guarantee
            if guarantee < cap:
                points.append(((cap << _SHIFT) // weight, name, True))
                if guarantee:
                    points.append(((guarantee << _SHIFT) // weight, name, False))
                else:
                    weights += weight
        points.sort()
        passed = 0
        for _, name, stops in points:
            weight, cap, guarantee = self._demands[name]
            if (total - fixed) * weight < weights * (cap if stops else guarantee):
                break
            weights += -weight if stops else weight
            fixed += cap if stops else -guarantee
            passed += 1
        self._weights = weights
        """Of those who rise with the level, together."""
        self._remaining = total - fixed
        """What these have, together: the others have their guarantee or their cap."""
        self._all_full = passed == len(points)

    def of(self, name: str) -> Quotient:
        """What this one gets."""
        weight, cap, guarantee = self._demands[name]
        if not self._weights:
            # Nobody rises: all have their cap, or the guarantees alone are above the total.
            return (cap if self._all_full else guarantee), 1
        least, most = guarantee * self._weights, cap * self._weights
        return min(max(weight * self._remaining, least), most), self._weights

    def whole(self) -> dict[str, int]:
        """What each gets in whole numbers: by largest remainder, of equal ones by name."""
        found: dict[str, int] = {}
        remainders: list[tuple[int, str]] = []
        for name in self._demands:
            numerator, denominator = self.of(name)
            found[name], rest = divmod(numerator, denominator)
            if rest:
                remainders.append((-rest, name))
        # The exact amounts that have a remainder make up the total with all others.
        left = self._total - sum(found.values()) if remainders else 0
        for _, name in sorted(remainders)[:left]:
            found[name] += 1
        return found
