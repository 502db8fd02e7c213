"""Whether claims of unequal amounts fit into the room of their cards, by search (T3).

Splitting a claim over two cards is not allowed, so this is a packing problem: NP-hard already
for amounts of one and two. Large amounts and claims with little choice are placed first, equal
claims are placed together, and no state is looked at twice.
"""

from collections.abc import Mapping
from typing import Final

from .claim import Claim

MOST_STEPS: Final = 2_000
"""Of all searches for one answer. Beyond it the answer is that nothing was found."""
MOST_BRANCHES: Final = 400
"""Claims times cards that are searched at all: the search goes as deep."""

Places = dict[tuple[Claim, str], int]
"""How many claims of a kind go to a card."""


class Steps:
    """How many steps are left for an answer."""

    __slots__ = ("_left", "_most", "cut")

    def __init__(self, most: int) -> None:
        self._most = self._left = most
        self.cut = False
        """Whether something was not looked for to its end: what was not found may fit."""

    def begin(self) -> None:
        """Another answer."""
        self._left, self.cut = self._most, False

    def take(self) -> bool:
        """One more, if there is one; else the search is cut short."""
        self._left -= 1
        self.cut = self.cut or self._left < 0
        return self._left >= 0

    @property
    def left(self) -> int:
        """How many there are."""
        return max(0, self._left)


def pack(claims: Mapping[Claim, int], room: Mapping[str, int], steps: Steps) -> Places | None:
    """Where each goes, within the room of every card; None if no way was found. There is none,
    unless the search was `cut` short.

    `claims`: how many there are of each kind. Cards that are not in `room` take nothing.
    """
    kinds = [
        (claim, number, [card for card in claim.cards if card in room])
        for claim, number in claims.items()
    ]
    branches = sum(len(cards) for _, _, cards in kinds)
    if not all(cards for _, _, cards in kinds):
        return None
    if branches > MOST_BRANCHES:
        steps.cut = True
        return None
    kinds.sort(key=lambda kind: (-kind[0].amount, len(kind[2]), kind[0]))
    return _Search(kinds, room, steps).run()


class _Search:
    def __init__(
        self, kinds: list[tuple[Claim, int, list[str]]], room: Mapping[str, int], steps: Steps
    ) -> None:
        self._room = dict(room)
        self._branches = [
            (claim, card, -1 if place else number, cards[place:])
            for claim, number, cards in kinds
            for place, card in enumerate(cards)
        ]
        """One for each kind and card; the first of a kind has the number that is to be placed."""
        self._found: Places = {}
        self._failed: set[tuple[int, int, tuple[int, ...]]] = set()
        self._steps = steps
        self._over = False

    def run(self) -> Places | None:
        return self._found if self._fill(0, 0) else None

    def _fill(self, place: int, left: int) -> bool:
        """Whether the rest fits, from a branch on; `left` claims of its kind are to be placed."""
        self._over = self._over or not self._steps.take()
        if place == len(self._branches):
            return not left
        claim, card, number, onward = self._branches[place]
        if number >= 0:
            if left:
                return False
            left = number
        state = (place, left, tuple(self._room.values()))
        if state in self._failed:
            return False
        amount, room = claim.amount, self._room
        if sum(max(0, room[other]) // amount for other in onward) >= left:
            most = min(left, max(0, room[card]) // amount)
            for here in range(most, -1, -1):
                if self._over:
                    return False
                room[card] -= here * amount
                if self._fill(place + 1, left - here):
                    if here:
                        self._found[claim, card] = here
                    return True
                room[card] += here * amount
        self._failed.add(state)
        return False
