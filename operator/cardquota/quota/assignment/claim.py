"""A claim: a number of cards of one of several alternatives (T3)."""

from sys import getsizeof
from typing import Final, NamedTuple

from ..sized_cache import SizedCache


class Claim(NamedTuple):
    """`amount` cards, all of one of `cards`. Claims with the same cards and amount are equal."""

    cards: tuple[str, ...]
    """Sorted, without duplicates: the user's order of preference does not matter for room."""
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
