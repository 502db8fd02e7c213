"""What queues deserve of one card, in whole cards (W1)."""

from collections.abc import Mapping

from .progressive_filling import ProgressiveFilling, WeightedDemand


def deserved_by_weight(total: int, demands: Mapping[str, WeightedDemand]) -> dict[str, int]:
    """The part of each queue, by name. Costs O(n log n).

    In rounds each queue that still asks gets what remains, times its weight / the weights of all
    that still ask, capped at what it may get, and at least its guarantee. Whole cards by largest
    remainder, of equal ones by name. For what holds of them see `ProgressiveFilling`.
    """
    return ProgressiveFilling(total, demands).whole()
