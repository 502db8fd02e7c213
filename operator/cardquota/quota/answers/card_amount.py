"""So many of one card, or of one of several cards."""

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Final

from ..amounts import Amount, is_card
from ..words import MOST_LISTED, show
from .answer_forms import CardAmount

LONGEST_NAME: Final = 160
"""Characters of a card's name that are told. Those of nodes have at most 130."""
LONGEST_MOMENT: Final = 40
"""Characters of a time."""
MOST_AMOUNTS: Final = 5
"""Cards, or choices of cards, that one holder or waiter is told with. The rest are left out."""


def card_amounts(amounts: Iterable[Amount]) -> tuple[CardAmount, ...]:
    """Of the cards among these amounts, those with the most first, then by name."""
    cards = [(told_name(name), amount) for name, amount in amounts if amount and is_card(name)]
    return _sorted(cards)


def choice_amounts(asked: Iterable[tuple[Sequence[str], int]]) -> tuple[CardAmount, ...]:
    """The same of choices; what is asked of choices that are told alike is added up. Costs by the
    choices, not by the cards of each.
    """
    total = Counter[tuple[tuple[str, ...], int]]()
    for cards, amount in asked:
        if cards and amount:
            total[tuple(cards[:MOST_LISTED]), len(cards)] += amount
    # Only what is told is made safe to show: that costs by its characters.
    first = nsmallest(MOST_AMOUNTS, total.items(), key=lambda one: (-one[1], one[0]))
    return tuple(
        CardAmount(name=_choice_text(names, number), amount=amount)
        for (names, number), amount in first
    )


def _choice_text(names: Sequence[str], number: int) -> str:
    """`names`: the first of so many."""
    shown = "|".join(map(told_name, names))
    return f"{shown} and {number - len(names)} more" if number > len(names) else shown


def told_name(name: str) -> str:
    """The name of a card, safe to show. Users may write any text."""
    return show(name, most=LONGEST_NAME)


def told_moment(text: str) -> str:
    """A time as the API server writes it; empty for what is too long to be one."""
    return text if len(text) <= LONGEST_MOMENT else ""


def _sorted(amounts: list[Amount]) -> tuple[CardAmount, ...]:
    amounts.sort(key=lambda one: (-one[1], one[0]))
    return tuple(CardAmount(name=name, amount=n) for name, n in amounts[:MOST_AMOUNTS])
