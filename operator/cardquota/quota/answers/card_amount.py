"""So many of one card, or of one of several cards."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from ..amounts import Amount, is_card
from ..words import listed
from .answer_forms import CardAmount

MOST_AMOUNTS: Final = 16
"""Cards, or choices of cards, that one holder or waiter is told with. The rest are left out."""


def card_amounts(amounts: Iterable[Amount]) -> tuple[CardAmount, ...]:
    """Of the cards among these amounts, those with the most first, then by name."""
    cards = [(name, amount) for name, amount in amounts if amount and is_card(name)]
    return _sorted(cards)


def choice_amounts(asked: Iterable[tuple[Sequence[str], int]]) -> tuple[CardAmount, ...]:
    """The same of choices; what is asked of the same choice is added up."""
    total = Counter[str]()
    for cards, amount in asked:
        if cards and amount:
            total[listed(cards, "|")] += amount
    return _sorted(list(total.items()))


def _sorted(amounts: list[Amount]) -> tuple[CardAmount, ...]:
    amounts.sort(key=lambda one: (-one[1], one[0]))
    return tuple(CardAmount(name=name, amount=n) for name, n in amounts[:MOST_AMOUNTS])
