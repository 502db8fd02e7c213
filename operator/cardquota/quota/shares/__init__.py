"""What queues deserve of a card that is oversold, by weight (W1).

In: totals, and of each queue its weight, quota, guarantee and what it asks for. Out: `Shares`, that
is, what each queue deserves, as shown and by what is asked now; and the arithmetic alone, as
`deserved_by_weight` and `ProgressiveFilling`. Refuses nobody.
"""

from .progressive_filling import ProgressiveFilling, WeightedDemand

__all__ = [
    "ProgressiveFilling",
    "WeightedDemand",
]
