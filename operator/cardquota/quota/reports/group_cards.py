"""The cards that a pod group asks for, as `kubectl get podgroups` prints them."""

from collections import Counter
from itertools import islice
from typing import Final

from ..amounts import is_card
from ..ledger.groups.pod_group_state import PodGroupState
from ..words import show

MOST_SHOWN: Final = 3
"""Rows on the line; the others are counted."""
_MOST_OF_CHOICE: Final = 2
"""Cards of a choice that are named."""
_MOST_KINDS: Final = 256
"""Different requests of waiting members that are added up."""


def group_cards(group: PodGroupState) -> str:
    """`NVIDIA-H200 4`, the row with the most cards first: what `card.request` says, else what the
    unfinished members ask for. Empty if they ask for none. Never a sum over models.

    Of a group whose members wait with very many different requests only some are added up.
    """
    asked: Counter[tuple[str, ...]] = Counter()
    if group.facts is not None and group.facts.request.cards:
        for cards, number in group.facts.request.cards:
            asked[cards] += number
    else:
        for (_, dimension), amount in group.holds.items():
            if is_card(dimension):
                asked[(dimension,)] += amount
        for (cards, amount), members in islice(group.waiting.items(), _MOST_KINDS):
            asked[cards] += amount * members
    rows = sorted(asked.items(), key=lambda row: (-row[1], row[0]))
    shown = [f"{_choice(cards)} {number}" for cards, number in rows[:MOST_SHOWN]]
    if len(rows) > MOST_SHOWN:
        shown.append(f"+{len(rows) - MOST_SHOWN} more")
    return ", ".join(shown)


def _choice(cards: tuple[str, ...]) -> str:
    named = "|".join(show(card) for card in cards[:_MOST_OF_CHOICE])
    more = len(cards) - _MOST_OF_CHOICE
    return f"{named}|+{more}" if more > 0 else named
