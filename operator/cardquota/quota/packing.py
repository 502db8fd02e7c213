"""Whether claims of unequal amounts fit into the room of their cards, by search (T3).

Splitting a claim over two cards is not allowed, so this is a packing problem: NP-hard already
for amounts of one and two. Large amounts and claims with little choice are placed first, equal
claims are placed together, and no state is looked at twice.
"""

from collections.abc import Mapping
from typing import Final

from .claim import Claim

MOST_STEPS: Final = 2_000
"""Of one search: some 10 ms. Beyond it the answer is that nothing was found."""
MOST_BRANCHES: Final = 400
"""Claims times cards that are searched at all: the search goes as deep."""

Places = dict[tuple[Claim, str], int]
"""How many claims of a kind go to a card."""


def pack(claims: Mapping[Claim, int], room: Mapping[str, int]) -> Places | None:
    """Where each goes, within the room of every card; None if no way was found.

    `claims`: how many there are of each kind. Cards that are not in `room` take nothing.
    """
    return _Search(claims, room).run()


class _Search:
    def __init__(self, claims: Mapping[Claim, int], room: Mapping[str, int]) -> None:
        self._room = dict(room)
        kinds = [
            (claim, number, [card for card in claim.cards if card in room])
            for claim, number in claims.items()
        ]
        kinds.sort(key=lambda kind: (-kind[0].amount, len(kind[2]), kind[0]))
        self._branches = [
            (claim, card, number if first else -1, cards[place:])
            for claim, number, cards in kinds
            for place, card in enumerate(cards)
            for first in (place == 0,)
        ]
        """One for each kind and card; the first of a kind has the number that is to be placed."""
        self._possible = all(cards for _, _, cards in kinds)
        self._found: Places = {}
        self._failed: set[tuple[int, int, tuple[int, ...]]] = set()
        self._steps = 0

    def run(self) -> Places | None:
        if not self._possible or len(self._branches) > MOST_BRANCHES:
            return None
        return self._found if self._fill(0, 0) else None

    def _fill(self, place: int, left: int) -> bool:
        """Whether the rest fits, from a branch on; `left` claims of its kind are to be placed."""
        if place == len(self._branches):
            return not left
        claim, card, number, onward = self._branches[place]
        if number >= 0:
            if left:
                return False
            left = number
        state = (place, left, tuple(self._room.values()))
        self._steps += 1
        if state in self._failed or self._steps > MOST_STEPS:
            return False
        amount, room = claim.amount, self._room
        if sum(max(0, room[other]) // amount for other in onward) >= left:
            most = min(left, max(0, room[card]) // amount)
            for here in range(most, -1, -1):
                room[card] -= here * amount
                if self._fill(place + 1, left - here):
                    if here:
                        self._found[claim, card] = here
                    return True
                room[card] += here * amount
        self._failed.add(state)
        return False
