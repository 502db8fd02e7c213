"""An assignment of claims to cards within the room of each, kept up to date claim by claim (T3).

Guarantees
- A claim is taken in only if there is an assignment of it and of all others: never "some card of
  the set has room" alone, never "the set has room in sum". What was taken in may move to another
  of its cards later, as long as nobody decided where it is.
- A no is exact as well, with one limit: whether claims of *unequal* amounts fit is a packing
  problem (NP-hard already for amounts of one and two), and its search ends after `MOST_STEPS`.
  What was not found by then does not fit: a pod waits that might have gone, never the reverse.

Costs: claims that can use the same are counted, not listed. Whether one more fits is a walk over
the cards that can be reached by moving claims, so it does not depend on how many claims there are
or how unlike. Only unequal amounts that fill those cards to the last few are searched.

Where claims do not fit all (a quota was lowered, a pod came past the gate), those that do not are
set aside, and the cards they could use take nothing more; other cards are not concerned (Q7).
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from math import gcd
from typing import Final

from .claim import Claim
from .packing import pack

_NONE: Final = frozenset[str]()


class Assignment:
    """Of the claims of one queue.

    `room_of` says how many cards of a name claims may hold together. It may change between two
    calls, and may be negative.
    """

    __slots__ = ("_aside", "_held", "_placed", "_room_of", "_ways")

    def __init__(self, room_of: Callable[[str], int]) -> None:
        self._room_of = room_of
        self._placed: dict[str, dict[Claim, int]] = {}
        """By card: which claims it serves, and how many of each."""
        self._held: dict[str, int] = {}
        self._ways: dict[str, dict[tuple[str, int], dict[Claim, None]]] = {}
        """By card, then by another card and an amount: claims that could move there."""
        self._aside: dict[Claim, int] = {}
        """Claims without a card: new ones, and those for which there is no room."""

    def add(self, claim: Claim) -> None:
        """Take a claim in, whether or not there is room."""
        self._aside[claim] = self._aside.get(claim, 0) + 1

    def remove(self, claim: Claim, number: int = 1) -> None:
        """The inverse of `add`, and of what `place` and `place_many` found room for."""
        while number and claim in self._aside:
            self._drop_aside(claim)
            number -= 1
        for card in claim.cards if number else ():
            here = min(number, self._placed.get(card, {}).get(claim, 0))
            if here:
                self._lift(claim, card, here)
                number -= here

    def place(self, claim: Claim) -> bool:
        """Take a claim in if it fits beside all others; else nothing is changed."""
        self.settle()
        return self._put(claim, self._barred())

    def place_many(self, claim: Claim, most: int) -> int:
        """Take in as many equal claims as fit, at most `most`; their number."""
        self.settle()
        barred, taken = self._barred(), 0
        for card in claim.cards:
            if card not in barred and claim.amount:
                number = max(0, min(most - taken, self.free(card) // claim.amount))
                self._lay(claim, card, number)
                taken += number
        while taken < most and self._put(claim, barred):
            taken += 1
        return taken

    def settle(self) -> None:
        """Follow what changed since the last call: room, and claims."""
        for card in list(self._held):
            while self.free(card) < 0 and card in self._placed:
                claim = next(reversed(self._placed[card]))
                self._lift(claim, card)
                self.add(claim)
        for claim in sorted(self._aside, key=lambda claim: -claim.amount):
            while claim in self._aside and self._put(claim, _NONE):
                self._drop_aside(claim)

    def free(self, card: str) -> int:
        """What claims leave of the room of a card."""
        return self._room_of(card) - self._held.get(card, 0)

    def held(self, card: str) -> int:
        """What the claims that have a card hold of this one."""
        return self._held.get(card, 0)

    def aside(self) -> Iterator[tuple[Claim, int]]:
        """Claims for which there is no room, after `settle`, and how many of each."""
        return iter(self._aside.items())

    def reach(self, cards: Collection[str]) -> set[str]:
        """Cards whose room can matter to who wants one of `cards`: by moving claims."""
        return self._reach(list(cards), _NONE)

    # --- finding a place ----------------------------------------------------------------------

    def _put(self, claim: Claim, barred: Collection[str]) -> bool:
        starts = [card for card in claim.cards if card not in barred]
        for card in starts:
            if self.free(card) >= claim.amount:
                self._lay(claim, card)
                return True
        moved, unequal = self._move_along(claim, starts, barred)
        return moved or (unequal and self._repack(claim, starts, barred))

    def _move_along(
        self, claim: Claim, starts: list[str], barred: Collection[str]
    ) -> tuple[bool, bool]:
        """Make room by moving one claim from each card on a path to the next: whether it did, and
        whether it met claims of other amounts.

        Where all claims are equal this finds a way whenever there is one: an augmenting path.
        """
        unequal = False
        wanted = dict.fromkeys(starts, claim.amount)
        """By card that was reached: how much is to come there."""
        came_from: dict[str, tuple[str, Claim]] = {}
        to_see = deque(starts)
        while to_see:
            card = to_see.popleft()
            lacking = wanted[card] - self.free(card)
            for (other, amount), claims in self._ways.get(card, {}).items():
                unequal = unequal or amount != claim.amount
                if amount < lacking or other in wanted or other in barred:
                    continue
                came_from[other] = (card, next(iter(claims)))
                if self.free(other) >= amount:
                    self._lay(claim, self._shift(other, came_from))
                    return True, unequal
                wanted[other] = amount
                to_see.append(other)
        return False, unequal

    def _shift(self, card: str, came_from: dict[str, tuple[str, Claim]]) -> str:
        """Move the claims of a path, the last one first; the card where it begins."""
        while card in came_from:
            before, moved = came_from[card]
            self._lift(moved, before)
            self._lay(moved, card)
            card = before
        return card

    def _repack(self, claim: Claim, starts: list[str], barred: Collection[str]) -> bool:
        """Place all claims anew that could make room: for unequal amounts."""
        reached = self._reach(starts, barred)
        amounts = {amount for card in reached for _, amount in self._ways.get(card, ())}
        step = gcd(claim.amount, *amounts)
        if sum(max(0, self.free(card)) // step * step for card in reached) < claim.amount:
            return False  # those who want these cards want no others, and more than there is
        movable = [
            (other, card, number)
            for card in reached
            for other, number in self._placed.get(card, {}).items()
            if len(other.cards) > 1
        ]
        counts, room = {claim: 1}, {card: self.free(card) for card in sorted(reached)}
        for other, card, number in movable:
            counts[other] = counts.get(other, 0) + number
            room[card] += other.amount * number
        found = pack(counts, room)
        if found is None:
            return False
        for other, card, number in movable:
            self._lift(other, card, number)
        for (other, card), number in found.items():
            self._lay(other, card, number)
        return True

    def _reach(self, starts: list[str], barred: Collection[str]) -> set[str]:
        reached, to_see = set(starts), deque(starts)
        while to_see:
            for other, _ in self._ways.get(to_see.popleft(), ()):
                if other not in reached and other not in barred:
                    reached.add(other)
                    to_see.append(other)
        return reached

    def _barred(self) -> Collection[str]:
        """Cards that somebody is short of already."""
        return {card for claim in self._aside for card in claim.cards} if self._aside else _NONE

    # --- books ----------------------------------------------------------------------------------

    def _lay(self, claim: Claim, card: str, number: int = 1) -> None:
        if not number:
            return
        placed = self._placed.setdefault(card, {})
        if claim not in placed:
            ways = self._ways.setdefault(card, {})
            for other in claim.cards:
                if other != card:
                    ways.setdefault((other, claim.amount), {})[claim] = None
        placed[claim] = placed.get(claim, 0) + number
        self._held[card] = self._held.get(card, 0) + claim.amount * number

    def _lift(self, claim: Claim, card: str, number: int = 1) -> None:
        placed = self._placed[card]
        placed[claim] -= number
        self._held[card] -= claim.amount * number
        if placed[claim]:
            return
        del placed[claim]
        ways = self._ways[card]
        for other in claim.cards:
            if other != card:
                claims = ways[other, claim.amount]
                del claims[claim]
                if not claims:
                    del ways[other, claim.amount]
        if not placed:
            del self._placed[card], self._held[card], self._ways[card]

    def _drop_aside(self, claim: Claim) -> None:
        self._aside[claim] -= 1
        if not self._aside[claim]:
            del self._aside[claim]
