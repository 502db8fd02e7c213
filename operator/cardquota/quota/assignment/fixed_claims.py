"""Claims with a choice of cards that count with one certain card: those beyond a bound (T3, I5).

That is the card with which the totals show them.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Final, TypeVar

from .claim import Claim

K = TypeVar("K", bound=Hashable)
_NONE: Final = frozenset[str]()


class FixedClaims:
    """The fixed claims of one queue. Adding or removing one costs the number of its cards."""

    __slots__ = ("_numbers", "_others")

    def __init__(self) -> None:
        self._numbers: dict[Claim, dict[str, int]] = {}
        """By claim, then by the card with which it counts: how many."""
        self._others: dict[str, dict[str, int]] = {}
        """By the card with which claims count, then by a card that they could use: how many."""

    def __contains__(self, claim: Claim) -> bool:
        return claim in self._numbers

    def add(self, claim: Claim, shown: str, number: int = 1) -> None:
        """Add equal claims that count with `shown`."""
        _count(self._numbers, claim, (shown,), number)
        _count(self._others, shown, claim.cards, number)

    def remove(self, claim: Claim, shown: str, number: int = 1) -> None:
        """The inverse of `add`, for `number` equal claims."""
        _count(self._numbers, claim, (shown,), -number)
        _count(self._others, shown, claim.cards, -number)

    @property
    def first(self) -> Claim | None:
        """The claim that has been here longest."""
        return next(iter(self._numbers), None)

    @property
    def shown(self) -> Collection[str]:
        """The cards with which they count."""
        return self._others.keys()

    def of(self, claim: Claim) -> Mapping[str, int]:
        """How many of this claim there are, by the card with which they count."""
        return dict(self._numbers[claim])

    def others(self, shown: str) -> Collection[str]:
        """The cards that claims counted with this card could use; includes this card."""
        return self._others.get(shown, _NONE)


def _count(counts: dict[K, dict[str, int]], key: K, names: Iterable[str], number: int) -> None:
    found = counts.setdefault(key, {})
    for name in names:
        left = found.get(name, 0) + number
        if left:
            found[name] = left
        else:
            del found[name]
    if not found:
        del counts[key]
