"""Which card serves which claim, and to which other cards claims could move (T3).

Equal claims are counted, not listed. A claim with few alternatives is indexed by each other card it
could move to, so a walk over the cards does not depend on the number of kinds. A claim with many
alternatives would need too many index entries, and is walked over as it is.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from ..amounts import MutableAmounts
from .claim import Claim

K = TypeVar("K", bound=Hashable)
MANY: Final = 8
"""A claim with at most this many alternatives is indexed by each card it could move to."""
_NONE: Final[Mapping[Claim, int]] = {}


class Placements:
    """The claims that have a card, and which."""

    __slots__ = ("_held", "_large", "_placed", "_ways")

    def __init__(self) -> None:
        self._placed: dict[str, dict[Claim, int]] = {}
        """By card: the claims it serves, and how many of each."""
        self._held: MutableAmounts = {}
        self._ways: dict[str, dict[tuple[str, int], dict[Claim, None]]] = {}
        """By card, then by another card and an amount: claims that could move there."""
        self._large: dict[str, dict[Claim, None]] = {}
        """By card: claims there with too many alternatives for `_ways`."""

    def __iter__(self) -> Iterator[str]:
        """Cards that serve a claim."""
        return iter(list(self._placed))

    def at(self, card: str) -> Mapping[Claim, int]:
        """The claims that a card serves, and how many of each."""
        return self._placed.get(card, _NONE)

    def last(self, card: str) -> Claim:
        """The kind of claim that came last to a card."""
        return next(reversed(self._placed[card]))

    def held(self, card: str) -> int:
        """What the claims on a card hold of it."""
        return self._held.get(card, 0)

    def put(self, claim: Claim, card: str, number: int = 1) -> None:
        """Have a card serve `number` equal claims."""
        if not number:
            return
        placed = self._placed.setdefault(card, {})
        if claim not in placed:
            self._index(claim, card)
        placed[claim] = placed.get(claim, 0) + number
        self._held[card] = self._held.get(card, 0) + claim.amount * number

    def take(self, claim: Claim, card: str, number: int = 1) -> None:
        """The inverse of `put`."""
        placed = self._placed[card]
        placed[claim] -= number
        self._held[card] -= claim.amount * number
        if placed[claim]:
            return
        del placed[claim]
        self._unindex(claim, card)
        if not placed:
            del self._placed[card], self._held[card]

    def copy(self) -> dict[str, dict[Claim, int]]:
        """Which claims each card serves now, for `restore`."""
        return {card: dict(placed) for card, placed in self._placed.items()}

    def restore(self, before: Mapping[str, Mapping[Claim, int]]) -> None:
        """Restore the placements of a `copy`."""
        for card in self:
            for claim, number in list(self.at(card).items()):
                self.take(claim, card, number)
        for card, placed in before.items():
            for claim, number in placed.items():
                self.put(claim, card, number)

    def moves(self, card: str, seen: set[Claim]) -> Iterator[tuple[str, Claim]]:
        """The other cards that claims on this card could move to, and one such claim for each.

        A walk looks at claims with many alternatives once, for which it keeps `seen`: all that they
        reach is reached then.
        """
        for (other, _), claims in self._ways.get(card, {}).items():
            yield other, next(iter(claims))
        for claim in list(self._large.get(card, ())):
            if claim not in seen:
                seen.add(claim)
                for other in claim.cards:
                    if other != card:
                        yield other, claim

    def reached(
        self, starts: Iterable[str], barred: Callable[[str], bool] = lambda card: False
    ) -> set[str]:
        """Cards that moves lead to from `starts`, which are included."""
        to_see = deque(starts)
        reached, seen = set(to_see), set[Claim]()
        while to_see:
            for other, _ in self.moves(to_see.popleft(), seen):
                if other not in reached and not barred(other):
                    reached.add(other)
                    to_see.append(other)
        return reached

    def leading_to(self, ends: Iterable[str]) -> set[str | Claim]:
        """Cards from which moves lead to one of `ends`, which are included.

        Also the claims with many alternatives that make these moves.
        """
        before: dict[str | Claim, list[str | Claim]] = {}
        for card, ways in self._ways.items():
            for other, _ in ways:
                before.setdefault(other, []).append(card)
        for card, claims in self._large.items():
            for claim in claims:
                if claim not in before:
                    for other in claim.cards:
                        before.setdefault(other, []).append(claim)
                before.setdefault(claim, []).append(card)
        to_see: deque[str | Claim] = deque(ends)
        leading = set(to_see)
        while to_see:
            for one in before.get(to_see.popleft(), ()):
                if one not in leading:
                    leading.add(one)
                    to_see.append(one)
        return leading

    def _index(self, claim: Claim, card: str) -> None:
        if len(claim.cards) > MANY:
            self._large.setdefault(card, {})[claim] = None
            return
        for other in claim.cards:
            if other != card:
                ways = self._ways.setdefault(card, {})
                ways.setdefault((other, claim.amount), {})[claim] = None

    def _unindex(self, claim: Claim, card: str) -> None:
        if len(claim.cards) > MANY:
            _discard(self._large, card, claim)
            return
        for other in claim.cards:
            if other != card:
                ways = self._ways[card]
                _discard(ways, (other, claim.amount), claim)
                if not ways:
                    del self._ways[card]


def _discard(index: dict[K, dict[Claim, None]], key: K, claim: Claim) -> None:
    claims = index[key]
    del claims[claim]
    if not claims:
        del index[key]
