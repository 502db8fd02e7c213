"""Cards that are used outside every queue: the figures, wherever they come from (V5).

Needs nothing of what it takes to count them, so that a program that shows them starts fast.
"""

from typing import Final, NamedTuple

from ..amounts import Amounts

MOST_PODS: Final = 3
"""Pods that are named."""


class OutsideUse(NamedTuple):
    """Pods that hold cards and are charged to no queue."""

    pods: int
    cards: Amounts
    """By card, those that are used most first."""
    first: tuple[str, ...] = ()
    """`namespace/name` of the first by name; or of the workloads that have made the most."""
    others: int | None = None
    """How many more there are besides the first; None: as many as pods."""
