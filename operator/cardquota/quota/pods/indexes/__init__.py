"""Pods by what is asked of them: by controller, by queue, by who holds which cards."""

from .card_holders import CardHolders
from .held_cards import HeldCards
from .workload_usage import WorkloadUsage

__all__ = [
    "CardHolders",
    "HeldCards",
    "WorkloadUsage",
]
