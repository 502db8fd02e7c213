"""What is held of one card or another: a number of cards of one of several alternatives (T3)."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class Claim(NamedTuple):
    """`amount` cards, all of one of `cards`. Equal for all that can use the same."""

    cards: tuple[str, ...]
    """Sorted, each once: the order in which a user prefers them is no matter of room."""
    amount: int


@lru_cache(maxsize=4096)
def claim_of(cards: Iterable[str], amount: int) -> Claim:
    """The claim of a request with these alternatives; `cards` must be hashable."""
    return Claim(tuple(sorted(set(cards))), amount)
