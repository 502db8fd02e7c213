"""What is used outside every queue, and free on nodes: all that `top` shows beyond queues."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...quota.reports.cards_outside import OutsideUse

MOST_PODS: Final = 1_000
"""Pods with cards that are read for an answer at once: one page."""


@dataclass(frozen=True, slots=True)
class CardUse:
    """Of one moment: as the operator knows it, or as far as pods have the label of those that are
    managed.
    """

    outside: OutsideUse | str
    """Or why that is not known."""
    free: Mapping[str, int]
    """By card: on nodes that take pods, less what pods will take that are let through already."""
