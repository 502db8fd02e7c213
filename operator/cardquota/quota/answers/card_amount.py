"""So many of one card, or of one of several cards."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from ..amounts import Amount, is_card
from ..words import show
from .answer_forms import CardAmount

LONGEST_NAME: Final = 160
"""Characters of a card's name that are told. Those of nodes have at most 130."""
LONGEST_MOMENT: Final = 40
"""Characters of a time."""
MOST_AMOUNTS: Final = 5
"""Cards, or choices of cards, that one holder or waiter is told with. The rest are left out."""


def card_amounts(amounts: Iterable[Amount]) -> tuple[CardAmount, ...]:
    """Of the cards among these amounts, those with the most first, then by name."""
    return choice_amounts(((name,), amount) for name, amount in amounts if is_card(name))


def choice_amounts(asked: Iterable[tuple[Sequence[str], int]]) -> tuple[CardAmount, ...]:
    """The same of choices of cards; what is asked of the same is added up."""
    total = Counter[str]()
    for cards, amount in asked:
        if cards and amount:
            total["|".join(map(told_name, cards))] += amount
    largest = sorted(total.items(), key=lambda one: (-one[1], one[0]))[:MOST_AMOUNTS]
    return tuple(CardAmount(name=name, amount=amount) for name, amount in largest)


def told_name(name: str) -> str:
    """The name of a card, safe to show. Users may write any text."""
    return show(name, most=LONGEST_NAME)


def told_moment(text: str) -> str:
    """A time as the API server writes it; empty for what is too long to be one."""
    return text if len(text) <= LONGEST_MOMENT else ""
