"""Amounts by dimension: what is counted, in which unit, and in which form it is kept (section 1).

A *dimension* is a card name, `cpu` or `memory`, and nothing else. It is no resource name: what
nodes and pods say by those is read into dimensions first (`Devices`).

Amounts are whole numbers: cards, milli-cores of `cpu`, bytes of `memory`. What is not named is
zero, unless a limit is meant: there it is not limited, if it is no card (Q1, Q2).
"""

from collections.abc import Iterable, Mapping
from typing import Final

from .vocabulary import COMPUTE_RESOURCES

Amounts = Mapping[str, int]
"""How much of each dimension, to be read: cards, milli-cores or bytes."""
MutableAmounts = dict[str, int]
"""The same, for who adds it up or keeps it. A zero may stand in it."""
NO_AMOUNTS: Final[Amounts] = {}

Amount = tuple[str, int]
"""One dimension, and how much of it."""
Charge = tuple[Amount, ...]
"""Amounts that do not change any more: what a pod or a reservation holds. Each dimension stands
there once. Small and hashable; two that `canonical` made are equal if their amounts are. Others
may have a zero (a stamp that somebody else wrote), or stand in another order.
"""

Devices = tuple[tuple[str, int], ...]
"""How many of each extended resource a pod asks for, by resource name; sorted, without zeros. These
are no amounts yet: which card `nvidia.com/gpu` counts, the pod or its node says.
"""


def is_card(dimension: str) -> bool:
    """Whether a dimension is a card; of any text whether it could be a card's name, as neither
    `cpu` nor `memory` is (Q2).

    Not to be asked of a resource name: `pods` would be a card.
    """
    return dimension not in COMPUTE_RESOURCES


def canonical(amounts: Amounts) -> Charge:
    """Amounts sorted by dimension, zeros left out."""
    return tuple(sorted((name, amount) for name, amount in amounts.items() if amount))


def add_amounts(amounts: MutableAmounts, more: Iterable[Amount]) -> None:
    """Add amounts to others."""
    for dimension, amount in more:
        amounts[dimension] = amounts.get(dimension, 0) + amount
