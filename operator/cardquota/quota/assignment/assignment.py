"""An assignment of claims to cards within the room of each, kept up to date claim by claim (T3).

Guarantees
- A claim is taken in only if there is an assignment of it and of all others: never "some card of
  the set has room" alone, never "the set has room in sum". What was taken in may move to another
  of its cards later, as long as nobody decided where it is.
- A no is exact as well, with one limit: whether claims of *unequal* amounts fit is a packing
  problem (NP-hard already for amounts of one and two), and its search ends after `MOST_STEPS`.
  What was not found by then does not fit: a pod waits that might have gone, never the reverse.

Costs: claims that can use the same are counted, not listed. A question looks at the room of every
card that some claim could use, and then walks over those that can be reached by moving claims: it
does not depend on how many claims there are, and of claims with few alternatives not on how unlike
they are. Those with many alternatives are walked over kind by kind. Only unequal amounts that fill
their cards to the last few are searched, with one bound for the whole question.

Where claims do not fit all (a quota was lowered, a pod came past the gate), those that do not are
set aside, and the cards they could use take nothing more; other cards are not concerned (Q7).
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager
from math import gcd
from typing import Final, TypeVar

from .claim import Claim
from .packing import MOST_STEPS, Steps, pack
from .placements import Placements

K = TypeVar("K", bound=Hashable)
MOST_EXCHANGES: Final = 64
"""Tries for one answer to give claims a certain card by moving others; some tenths of a
millisecond each."""
_ANY: Final = 2**62
"""Claims to nothing: there is room for any number."""


def _nowhere(card: str) -> bool:
    return False


class Assignment:
    """Of the claims of one queue.

    `room_of` says how many cards of a name claims may hold together. It may change between two
    questions, and may be negative.
    """

    __slots__ = (
        "_amounts",
        "_aside",
        "_cards",
        "_changed",
        "_closed",
        "_exchanges",
        "_looked",
        "_placements",
        "_room_of",
        "_rooms",
        "_seen",
        "_sharing",
        "_short",
        "_steps",
        "_version",
    )

    def __init__(
        self,
        room_of: Callable[[str], int],
        steps: int | None = None,
        *,
        closed: Callable[[str], bool] = _nowhere,
        version: Callable[[], object] | None = None,
    ) -> None:
        """`steps`: of searches for one answer; as many as are usual, unless said. `closed`: cards
        that take nothing more for a while. `version`: room is the same while this is equal.
        """
        self._room_of = room_of
        self._closed = closed
        self._version = version
        self._seen: object = None
        """The version when it last looked for room."""
        self._looked = False
        """Whether it has, for this question."""
        self._placements = Placements()
        self._aside: dict[Claim, int] = {}
        """Claims without a card: new ones, and those for which there is no room."""
        self._short: Counter[str] = Counter()
        """By card: what they ask for that could use it."""
        self._cards: Counter[str] = Counter()
        """How many claims that were added could use a card."""
        self._amounts: Counter[int] = Counter()
        """How many of them are of which amount."""
        self._changed = False
        """Whether claims were added or removed since `settle`."""
        self._rooms: dict[str, int] = {}
        """What there was room for when it last looked."""
        self._steps = Steps(MOST_STEPS if steps is None else steps)
        self._exchanges = MOST_EXCHANGES
        self._sharing = False

    def add(self, claim: Claim, number: int = 1) -> None:
        """Take equal claims in, whether or not there is room."""
        self._set_aside(claim, number)
        for card in claim.cards:
            self._cards[card] += number
        self._amounts[claim.amount] += number
        self._changed = True

    def remove(self, claim: Claim) -> None:
        """The inverse of `add`."""
        for card in claim.cards:
            _take(self._cards, card)
        _take(self._amounts, claim.amount)
        self._changed = True
        if claim in self._aside:
            self._drop_aside(claim)
        else:
            self.give_back(claim)

    def place(self, claim: Claim) -> bool:
        """Take a claim in for a while if it fits beside all others; else nothing is changed."""
        return self.place_many(claim, 1) > 0

    def place_many(self, claim: Claim, most: int, *, search: bool = True) -> int:
        """Take in for a while as many equal claims as fit, at most `most`; their number.

        Without `search` there may be more, where amounts are unequal.
        """
        self.settle()
        return self._take_in(claim, most, self._barred, search=search)

    @contextmanager
    def one_question(self) -> Iterator[None]:
        """What is asked meanwhile shares one bound of steps, of all searches together."""
        if self._sharing:
            yield
            return
        self._begin()
        self._sharing = True
        try:
            yield
        finally:
            self._sharing = False

    @property
    def cut(self) -> bool:
        """Whether a search for this answer was cut short: what found no place may have one."""
        return self._steps.cut

    @property
    def steps_left(self) -> int:
        """Of the searches for this answer."""
        return self._steps.left

    def give_back(self, claim: Claim, number: int = 1) -> None:
        """The inverse of `place` and `place_many`. All others are as they were, perhaps moved."""
        # Those on a card that somebody is short of were there before: none was taken in there.
        for card in sorted(claim.cards, key=self._short.__contains__):
            here = min(number, self._placements.at(card).get(claim, 0))
            if here:
                self._placements.take(claim, card, here)
                number -= here

    def fix(self, claim: Claim, card: str, most: int) -> int:
        """Have as many as possible of equal claims that were taken in for a while, at most `most`,
        use this card and no other, while all others keep one of theirs; how many.

        None, of a card that somebody is short of. They are to be given back as claims for that card
        alone. Of a question only the first `MOST_EXCHANGES` tries move others; beyond them those
        alone are found who have this card.
        """
        self.settle()
        if self._barred(card):
            return 0
        one = Claim((card,), claim.amount)
        fixed = min(most, self._placements.at(card).get(claim, 0))
        self._placements.put(one, card, fixed)
        if fixed:
            self._placements.take(claim, card, fixed)
        step = most - fixed
        while step and fixed < most and self._exchanges > 0:
            number = min(step, most - fixed)
            if self._exchange(claim, one, number):
                fixed += number
            else:
                step //= 2
        return fixed

    def settle(self) -> None:
        """Follow what changed since the last call: room, and claims."""
        if not self._sharing:
            self._begin()
        if self._looked and not self._changed:
            return
        self._looked, before = True, self._seen
        self._seen = self._version() if self._version is not None else None
        if not self._changed and self._seen is not None and self._seen == before:
            return
        rooms = {card: self._room_of(card) for card in self._cards}
        if not self._changed and rooms == self._rooms:
            return
        self._changed, self._rooms = False, rooms
        for card in self._placements:
            while self.free(card) < 0 and (claims := self._placements.at(card)):
                claim = self._placements.last(card)
                number = min(claims[claim], -(self.free(card) // claim.amount))
                self._placements.take(claim, card, number)
                self._set_aside(claim, number)
        self._refill(search=False)
        self._refill(search=True)

    def free(self, card: str) -> int:
        """What claims leave of the room of a card."""
        return self._room_of(card) - self._placements.held(card)

    def held(self, card: str) -> int:
        """What the claims that have a card hold of this one."""
        return self._placements.held(card)

    def short(self, card: str) -> int:
        """What claims without room ask for that could use this card, after `settle`."""
        return self._short.get(card, 0)

    def aside(self) -> Iterator[tuple[Claim, int]]:
        """Claims for which there is no room, after `settle`, and how many of each."""
        return iter(self._aside.items())

    def moving_from(self, cards: Iterable[str], met: Collection[str] = ()) -> set[str]:
        """Cards that those who have a card could move to from some of these, and from there; these
        included, and without those that were `met`.
        """
        return self._placements.reached(cards, met.__contains__)

    def reach(self, cards: Collection[str]) -> set[str]:
        """Cards whose room can matter to who wants one of `cards`: by moving claims, or because
        who is short of one of them could use another.
        """
        reached = self._placements.reached(cards)
        while True:
            short = [c for claim in self._aside if reached & {*claim.cards} for c in claim.cards]
            if reached.issuperset(short):
                return reached
            reached = self._placements.reached([*reached, *short])

    def _begin(self) -> None:
        """Another question."""
        self._looked = False
        self._steps.begin()
        self._exchanges = MOST_EXCHANGES

    def _exchange(self, claim: Claim, other: Claim, number: int) -> bool:
        """Take in claims in the place of others if all of them fit; else all that had a card have
        one, perhaps another.
        """
        self._exchanges -= 1
        before = self._placements.copy()
        self.give_back(claim, number)
        taken = self.place_many(other, number, search=False)
        if taken == number:
            return True
        self.give_back(other, taken)
        if self.place_many(claim, number, search=False) < number:
            # Others have moved, and how all fitted is not found again without a search.
            self._placements.restore(before)
        return False

    # --- finding a place ----------------------------------------------------------------------

    def _refill(self, *, search: bool) -> None:
        """Find places for claims that are aside, the largest first.

        Who cannot reach any free room is not looked for: where many are short, most of them. That
        is looked at once: whoever finds a place leaves no more to be reached.
        """
        hopeful: set[str | Claim] | None = None
        for claim in sorted(self._aside, key=lambda claim: -claim.amount):
            if hopeful is not None and hopeful.isdisjoint(claim.cards):
                continue
            self._drop_aside(
                claim, self._take_in(claim, self._aside[claim], _nowhere, search=search)
            )
            if hopeful is None and claim in self._aside:
                hopeful = self._hopeful()
            if search and not self._steps.left:
                self._steps.cut = True
                return

    def _hopeful(self) -> set[str | Claim]:
        """Cards from which free room can be reached by moving claims."""
        step = gcd(*self._amounts)
        return self._placements.leading_to(c for c in self._cards if self.free(c) >= step)

    def _take_in(
        self, claim: Claim, most: int, barred: Callable[[str], bool], *, search: bool
    ) -> int:
        """Find places for as many equal claims, at most `most`; how many have theirs.

        Each round gives a place to some, or ends; it costs the same for one and for many.
        """
        starts = [card for card in claim.cards if not barred(card)]
        taken, batch, grows = 0, 1, True
        while taken < most:
            for card in starts:
                number = min(most - taken, self._room_for(claim, card))
                self._placements.put(claim, card, number)
                taken += number
            if taken == most:
                break
            moved, unequal = self._move_along(claim, starts, barred, most - taken)
            if not moved and search and unequal:
                # As many as were found a place at once the last time, and as many again.
                batch = min(batch, most - taken)
                moved = batch * self._repack(claim, batch, starts, barred)
                if not moved and batch > 1:
                    batch, grows = batch // 2, False
                    continue
                batch *= 1 + grows
            if not moved:
                break
            taken += moved
        return taken

    def _room_for(self, claim: Claim, card: str) -> int:
        """How many of them a card has room for as it is. Of nothing, where not too much is held."""
        free = self.free(card)
        if free < 0:
            return 0
        return free // claim.amount if claim.amount else _ANY

    def _move_along(
        self, claim: Claim, starts: list[str], barred: Callable[[str], bool], most: int
    ) -> tuple[int, bool]:
        """Make room by moving claims from each card on a path to the next: for how many, at most
        `most`, and whether it met claims of other amounts.

        Where all claims are equal this finds a way whenever there is one: an augmenting path.
        """
        unequal = False
        wanted = dict.fromkeys(starts, claim.amount)
        """By card that was reached: how much is to come there."""
        came_from: dict[str, tuple[str, Claim]] = {}
        seen: set[Claim] = set()
        to_see = deque(starts)
        while to_see:
            card = to_see.popleft()
            lacking = wanted[card] - self.free(card)
            for other, moved in self._placements.moves(card, seen):
                amount = moved.amount
                unequal = unequal or amount != claim.amount
                if amount < lacking or other in wanted or barred(other):
                    continue
                came_from[other] = (card, moved)
                if self.free(other) >= amount:
                    return self._shift(claim, other, came_from, most), unequal
                wanted[other] = amount
                to_see.append(other)
        return 0, unequal

    def _shift(
        self, claim: Claim, card: str, came_from: dict[str, tuple[str, Claim]], most: int
    ) -> int:
        """Move claims along a path for as many as it bears: for one at the least, as it was found.

        Of each no more than must, so that what is free beyond the path stays free.
        """
        cards, path = [card], list[Claim]()
        while card in came_from:
            card, moved = came_from[card]
            cards.insert(0, card)
            path.insert(0, moved)
        enough, too_many, number = 1, most + 1, most
        while enough + 1 < too_many:
            if self._moving(claim, number, cards, path) is None:
                too_many = number
            else:
                enough = number
            number = (enough + too_many) // 2
        moving = self._moving(claim, enough, cards, path) or ()
        for moved, before, after, number in zip(path, cards, cards[1:], moving, strict=False):
            self._placements.take(moved, before, number)
            self._placements.put(moved, after, number)
        self._placements.put(claim, cards[0], enough)
        return enough

    def _moving(
        self, claim: Claim, number: int, cards: list[str], path: list[Claim]
    ) -> list[int] | None:
        """How many must move from each card of a path to the next, for so many claims that come;
        None if those are not there, or have no room at its end.
        """
        coming, moving = claim.amount * number, list[int]()
        for card, moved in zip(cards, path, strict=False):
            must = max(0, -((self.free(card) - coming) // moved.amount))
            if must > self._placements.at(card)[moved]:
                return None
            moving.append(must)
            coming = must * moved.amount
        return moving if coming <= self.free(cards[-1]) else None

    def _repack(
        self, claim: Claim, number: int, starts: list[str], barred: Callable[[str], bool]
    ) -> bool:
        """Place so many, and anew all claims that could make room: for unequal amounts."""
        if not self._steps.left:
            self._steps.cut = True
            return False
        reached = self._placements.reached(starts, barred)
        movable = [
            (other, card, many)
            for card in reached
            for other, many in self._placements.at(card).items()
            if len(other.cards) > 1
        ]
        if not self._steps.take(len(reached) + len(movable)):
            return False
        step = gcd(claim.amount, *{other.amount for other, _, _ in movable})
        free = sum(max(0, self.free(card)) // step * step for card in reached)
        if free < claim.amount * number:
            return False  # those who want these cards want no others, and more than there is
        counts, room = {claim: number}, {card: self.free(card) for card in sorted(reached)}
        for other, card, many in movable:
            counts[other] = counts.get(other, 0) + many
            room[card] += other.amount * many
        found = pack(counts, room, self._steps)
        if found is None:
            return False
        for other, card, many in movable:
            self._placements.take(other, card, many)
        for (other, card), many in found.items():
            self._placements.put(other, card, many)
        return True

    def _barred(self, card: str) -> bool:
        """Whether somebody is short of a card already."""
        return card in self._short or self._closed(card)

    def _set_aside(self, claim: Claim, number: int) -> None:
        self._aside[claim] = self._aside.get(claim, 0) + number
        for card in claim.cards:
            self._short[card] += claim.amount * number

    def _drop_aside(self, claim: Claim, number: int = 1) -> None:
        if not number:
            return
        _take(self._aside, claim, number)
        for card in claim.cards:
            _take(self._short, card, claim.amount * number)


def _take(counts: dict[K, int], key: K, number: int = 1) -> None:
    counts[key] -= number
    if not counts[key]:
        del counts[key]
