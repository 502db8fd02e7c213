"""Pods of one task that would start on several cards: Volcano may never bind them (V7)."""

from collections.abc import Iterable
from typing import NamedTuple

from ...amounts import Charge, is_card
from ...pods.pod_record import PodRecord


class Mixture(NamedTuple):
    """A task of a gang."""

    task: str
    """Its name; empty: that of pods which name none."""
    cards: tuple[tuple[str, int], ...]
    """Each card, and how many pods start on it."""
    choice: bool
    """Whether a pod may use another card than it would get. Else no room makes it one card."""


def mixture_in(pods: Iterable[tuple[PodRecord, Charge]]) -> Mixture | None:
    """The first of these tasks whose pods start on more than one card. Pods without cards do not
    matter.
    """
    found: dict[str, dict[str, int]] = {}
    choice: set[str] = set()
    for record, charge in pods:
        task = record.facts.task
        for dimension, amount in charge:
            if amount and is_card(dimension):
                cards = found.setdefault(task, {})
                cards[dimension] = cards.get(dimension, 0) + 1
        if record.request is not None and len(record.request.cards) > 1:
            choice.add(task)
    for task, cards in found.items():
        if len(cards) > 1:
            return Mixture(task, tuple(cards.items()), task in choice)
    return None
