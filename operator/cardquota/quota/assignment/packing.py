"""Whether claims of unequal amounts fit into the room of their cards, by search (T3).

A claim must not be split over two cards, so this is a packing problem: NP-hard already for amounts
of one and two. Large amounts and claims with little choice are placed first, and equal claims
together. A kind that meets the same free room again is not searched twice.
"""

from collections.abc import Mapping
from operator import itemgetter
from typing import Final, NamedTuple

from ..amounts import Amounts
from .claim import Claim

MOST_STEPS: Final = 2_000
"""For all searches of one answer. Beyond it the answer is that nothing was found."""
CARDS_A_STEP: Final = 16
"""Looking at this many cards, or things on them, takes one step."""
MOST_BRANCHES: Final = 400
"""Pairs of claim and card that are searched at most: the search can go as deep."""

Places = dict[tuple[Claim, str], int]
"""By claim and card: how many claims go there."""


class Steps:
    """The steps that are left for an answer."""

    __slots__ = ("_left", "_most", "cut")

    def __init__(self, most: int) -> None:
        self._most = self._left = most
        self.cut = False
        """Whether a search ended early: what was not found may still fit."""

    def begin(self) -> None:
        """Begin another answer."""
        self._left, self.cut = self._most, False

    def take(self, cards: int = 0) -> bool:
        """Take one step, and the steps for looking at so many cards. False if too few are left:
        the search is then cut short.
        """
        self._left -= 1 + cards // CARDS_A_STEP
        self.cut = self.cut or self._left < 0
        return self._left >= 0

    @property
    def left(self) -> int:
        """How many there are."""
        return max(0, self._left)


def pack(claims: Mapping[Claim, int], room: Amounts, steps: Steps) -> Places | None:
    """Where each claim goes, within the room of every card. None if no way was found; then there is
    none, unless the search was `cut` short.

    `claims`: how many there are of each kind. Cards that are not in `room` take nothing.
    """
    kinds = [
        _Kind(claim, number, [card for card in claim.cards if card in room])
        for claim, number in claims.items()
    ]
    branches = sum(len(kind.cards) for kind in kinds)
    if not all(kind.cards for kind in kinds):
        return None
    if branches > MOST_BRANCHES:
        steps.cut = True
        return None
    kinds.sort(key=lambda kind: (-kind.claim.amount, len(kind.cards), kind.claim))
    return _Search(kinds, room, steps).run()


class _Kind(NamedTuple):
    """Claims that are alike."""

    claim: Claim
    number: int
    cards: list[str]
    """Those of its cards that there is room of."""


class _Search:
    def __init__(self, kinds: list[_Kind], room: Amounts, steps: Steps) -> None:
        self._room = dict(room)
        self._branches = [
            (claim, card, -1 if place else number, cards)
            for claim, number, cards in kinds
            for place, card in enumerate(cards)
        ]
        """One for each kind and card: claim, card, number, and all cards of the kind. The first of
        a kind has the number to be placed. Plain tuples: each step takes some apart."""
        self._onward: dict[int, list[str]] = {}
        """By the first branch of a kind: the cards that this kind or a later one could use."""
        place, onward = len(self._branches), dict[str, None]()
        for kind in reversed(kinds):
            place -= len(kind.cards)
            onward.update(dict.fromkeys(kind.cards))
            self._onward[place] = list(onward)
        self._found: Places = {}
        self._failed: set[tuple[int, object]] = set()
        """First branches of kinds, with the room that was free for this kind and later ones."""
        self._steps = steps
        self._over = False

    def run(self) -> Places | None:
        return self._found if self._fill_kind(0) else None

    def _fill_kind(self, place: int) -> bool:
        """Whether all kinds from this first branch on fit."""
        if place == len(self._branches):
            return True
        claim, _, number, cards = self._branches[place]
        onward = self._onward[place]
        self._over = self._over or not self._steps.take(len(onward) + len(cards))
        if self._over:
            return False
        state = place, itemgetter(*onward)(self._room)
        if state in self._failed:
            return False
        there = sum(max(0, self._room[card]) // claim.amount for card in cards)
        if number <= there and self._fill(place, number, there):
            return True
        self._failed.add(state)
        return False

    def _fill(self, place: int, left: int, there: int) -> bool:
        """Whether the rest fits from this branch on. `left` claims of its kind are to be placed;
        this card and the later ones of the kind have room for `there`.
        """
        self._over = self._over or not self._steps.take()
        claim, card, _, cards = self._branches[place]
        amount, room = claim.amount, self._room
        most = max(0, room[card]) // amount
        there -= most
        last = card == cards[-1]
        for here in range(min(left, most), max(0, left - there) - 1, -1):
            if self._over:
                return False
            room[card] -= here * amount
            if self._fill_kind(place + 1) if last else self._fill(place + 1, left - here, there):
                if here:
                    self._found[claim, card] = here
                return True
            room[card] += here * amount
        return False
