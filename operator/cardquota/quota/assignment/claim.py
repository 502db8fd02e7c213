"""What is held of one card or another: a number of cards of one of several alternatives (T3)."""

from sys import getsizeof
from typing import Final, NamedTuple

from ..sized_cache import SizedCache


class Claim(NamedTuple):
    """`amount` cards, all of one of `cards`. Equal for all that can use the same."""

    cards: tuple[str, ...]
    """Sorted, each once: the order in which a user prefers them is no matter of room."""
    amount: int


_CLAIMS: Final = SizedCache[tuple[tuple[str, ...], int], Claim]()


def claim_of(cards: tuple[str, ...], amount: int) -> Claim:
    """The claim of a request with these alternatives."""
    key = cards, amount
    found = _CLAIMS.get(key)
    if found is None:
        claim = Claim(tuple(sorted(set(cards))), amount)
        found = _CLAIMS.put(key, claim, 2 * getsizeof(cards) + sum(map(getsizeof, cards)))
    return found
