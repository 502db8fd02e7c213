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
    """Whether some card is allowed to all of its pods. Else no room makes it one."""


def mixture_in(pods: Iterable[tuple[PodRecord, Charge]]) -> Mixture | None:
    """The first of these tasks whose pods start on more than one card. Pods without cards do not
    matter.
    """
    found: dict[str, dict[str, int]] = {}
    allowed: dict[str, set[str]] = {}
    for record, charge in pods:
        task = record.facts.task
        for dimension, amount in charge:
            if amount and is_card(dimension):
                cards = found.setdefault(task, {})
                cards[dimension] = cards.get(dimension, 0) + 1
        if record.request is not None and record.request.amount:
            shared = allowed.setdefault(task, set(record.request.cards))
            shared.intersection_update(record.request.cards)
    for task, cards in found.items():
        if len(cards) > 1:
            return Mixture(task, tuple(cards.items()), bool(allowed.get(task)))
    return None
