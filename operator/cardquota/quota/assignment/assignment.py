"""An assignment of claims to cards within the room of each, kept up to date claim by claim (T3).

Guarantees
- A claim is taken in only if there is an assignment of it and of all others. "Some card of the set
  has room" or "the set has room in sum" is never enough. A claim that was taken in may later move
  to another of its cards, as long as its card is not fixed.
- A no is exact as well, with one limit. Whether claims of *unequal* amounts fit is a packing
  problem (NP-hard already for amounts of one and two), and its search ends after `MOST_STEPS`.
  What was not found by then does not fit: a pod may wait although it fits, never the reverse.

Costs: equal claims are counted, not listed. A question looks at the room of every card that some
claim could use, then walks over the cards that can be reached by moving claims. Its cost does not
depend on the number of claims, nor, for claims with few alternatives, on the number of their kinds.
Claims with many alternatives are walked over kind by kind. Only unequal amounts that nearly fill
their cards are searched, with one bound for the whole question.

If not all claims fit (a quota was lowered, a pod came past the gate), those that do not are set
aside, and the cards they could use take nothing more. Other cards are not affected (Q7).
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager
from math import gcd
from typing import Final, TypeVar

from ..amounts import MutableAmounts
from .claim import Claim
from .packing import MOST_STEPS, Steps, pack
from .placements import Placements

K = TypeVar("K", bound=Hashable)
MOST_EXCHANGES: Final = 64
"""Attempts, for one answer, to give claims a certain card by moving others. One takes some tenths
of a millisecond."""
_ANY: Final = 2**62
"""Any number of claims with amount 0 fit."""


def _nowhere(card: str) -> bool:
    return False


class Assignment:
    """The assignment of the claims of one queue.

    `room_of` says how many cards of a name all claims together may hold. It may change between two
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
        """`steps`: bound on the searches for one answer, `MOST_STEPS` by default. `closed`: cards
        that take nothing more for now. `version`: room is unchanged while this is equal.
        """
        self._room_of = room_of
        self._closed = closed
        self._version = version
        self._seen: object = None
        """The version at which room was last read."""
        self._looked = False
        """Whether room was read for this question."""
        self._placements = Placements()
        self._aside: dict[Claim, int] = {}
        """Claims without a card: new claims, and those that do not fit."""
        self._short: Counter[str] = Counter()
        """By card: the amount that the claims set aside ask for and that could use it."""
        self._cards: Counter[str] = Counter()
        """By card: how many of the added claims could use it."""
        self._amounts: Counter[int] = Counter()
        """By amount: how many of the added claims have it."""
        self._changed = False
        """Whether claims were added or removed since `settle`."""
        self._rooms: MutableAmounts = {}
        """The room of each card when it was last read."""
        self._steps = Steps(MOST_STEPS if steps is None else steps)
        self._exchanges = MOST_EXCHANGES
        self._sharing = False

    def add(self, claim: Claim, number: int = 1) -> None:
        """Add equal claims, whether or not there is room."""
        self._set_aside(claim, number)
        for card in claim.cards:
            self._cards[card] += number
        self._amounts[claim.amount] += number
        self._changed = True

    def remove(self, claim: Claim, number: int = 1) -> None:
        """The inverse of `add`."""
        for card in claim.cards:
            _take(self._cards, card, number)
        _take(self._amounts, claim.amount, number)
        self._changed = True
        aside = min(number, self._aside.get(claim, 0))
        self._drop_aside(claim, aside)
        if number > aside:
            self.give_back(claim, number - aside)

    def place(self, claim: Claim) -> bool:
        """Take a claim in for a while if it fits beside all others. Else nothing changes."""
        return self.place_many(claim, 1) > 0

    def place_many(self, claim: Claim, most: int, *, search: bool = True) -> int:
        """Take in for a while as many equal claims as fit, at most `most`. Returns their number.

        Without `search` more might fit, if amounts are unequal.
        """
        self.settle()
        return self._take_in(claim, most, self._barred, search=search)

    @contextmanager
    def one_question(self) -> Iterator[None]:
        """All questions within this context share one bound of search steps."""
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
        """Whether a search for this answer was cut short: claims without a place may still fit."""
        return self._steps.cut

    @property
    def steps_left(self) -> int:
        """Steps left for the searches of this answer."""
        return self._steps.left

    def give_back(self, claim: Claim, number: int = 1) -> None:
        """The inverse of `place` and `place_many`. All other claims stay in, though maybe moved."""
        # Claims on a card that others are short of were there before: none was taken in there.
        for card in sorted(claim.cards, key=self._short.__contains__):
            here = min(number, self._placements.at(card).get(claim, 0))
            if here:
                self._placements.take(claim, card, here)
                number -= here

    def fix(self, claim: Claim, card: str, most: int) -> int:
        """Give this card alone to as many as possible, at most `most`, of equal claims that were
        taken in for a while. All other claims keep one of their cards. Returns how many.

        Returns 0 for a card that others are short of. Give the fixed claims back as claims for that
        card alone. Only the first `MOST_EXCHANGES` attempts of a question move others. After that,
        only claims that already have this card are fixed.
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

    def unfix(self, claim: Claim, card: str, number: int) -> None:
        """The inverse of `fix`, while nothing else was given this card's room."""
        self._placements.take(Claim((card,), claim.amount), card, number)
        self._placements.put(claim, card, number)

    def fixable(self, claim: Claim, card: str) -> int:
        """To how many of equal claims, at most, `fix` could give this card now. Once that is 0 it
        stays so for this question: nobody is moved there any more.
        """
        self.settle()
        if self._barred(card):
            return 0
        here = self._placements.at(card).get(claim, 0)
        return _ANY if self._exchanges > 0 else here

    def settle(self) -> None:
        """Take over what changed since the last call: room, and claims."""
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
        """The room of a card that claims leave."""
        return self._room_of(card) - self._placements.held(card)

    def held(self, card: str) -> int:
        """What claims that are placed on this card hold of it."""
        return self._placements.held(card)

    def short(self, card: str) -> int:
        """What claims without room ask for that could use this card. Call `settle` before."""
        return self._short.get(card, 0)

    def aside(self) -> Iterator[tuple[Claim, int]]:
        """Claims without room, and how many of each. Call `settle` before."""
        return iter(self._aside.items())

    def moving_from(self, cards: Iterable[str], met: Collection[str] = ()) -> set[str]:
        """Cards that claims on these cards could move to, and on from there. Includes these cards,
        but no card in `met`.
        """
        return self._placements.reached(cards, met.__contains__)

    def reach(self, cards: Collection[str]) -> set[str]:
        """Cards whose room can matter to a claim for one of `cards`: because claims could move
        there, or because a claim that is short of one of them could use another.
        """
        reached = self._placements.reached(cards)
        while True:
            short = [c for claim in self._aside if reached & {*claim.cards} for c in claim.cards]
            if reached.issuperset(short):
                return reached
            reached = self._placements.reached([*reached, *short])

    def _begin(self) -> None:
        """Begin another question."""
        self._looked = False
        self._steps.begin()
        self._exchanges = MOST_EXCHANGES

    def _exchange(self, claim: Claim, other: Claim, number: int) -> bool:
        """Replace claims by others if all of these fit. Else every claim that had a card still has
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
            # Others have moved, and only a search would find the former placement again.
            self._placements.restore(before)
        return False

    # --- finding a place ----------------------------------------------------------------------

    def _refill(self, *, search: bool) -> None:
        """Find places for claims that are set aside, the largest first.

        Claims that cannot reach any free room are skipped. Where many are short, that is most of
        them. It is computed once: each claim that finds a place leaves less room to reach.
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
        """Cards and claims from which free room can be reached by moving claims."""
        step = gcd(*self._amounts)
        return self._placements.leading_to(c for c in self._cards if self.free(c) >= step)

    def _take_in(
        self, claim: Claim, most: int, barred: Callable[[str], bool], *, search: bool
    ) -> int:
        """Find places for equal claims, at most `most`. Returns how many got one.

        Each round places some claims, or ends. A round costs the same for one claim and for many.
        """
        starts = [card for card in claim.cards if not barred(card)]
        taken, batch, grows = 0, 1, True
        while taken < most:
            for card in starts:
                number = min(most - taken, self._room_for(claim, card))
                if number:
                    self._placements.put(claim, card, number)
                    taken += number
                    if taken == most:
                        return taken
            moved, unequal = self._move_along(claim, starts, barred, most - taken)
            if not moved and search and unequal:
                # Start with the number that the last search placed, and double it.
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
        """How many of these claims a card has room for as it is.

        Any number of amount 0, unless the card is overfull.
        """
        free = self.free(card)
        if free < 0:
            return 0
        return free // claim.amount if claim.amount else _ANY

    def _move_along(
        self, claim: Claim, starts: list[str], barred: Callable[[str], bool], most: int
    ) -> tuple[int, bool]:
        """Make room by moving claims from each card on a path to the next. Returns for how many, at
        most `most`, and whether claims of other amounts were met.

        If all claims are equal, this finds a way whenever there is one: an augmenting path.
        """
        unequal = False
        wanted = dict.fromkeys(starts, claim.amount)
        """By card that was reached: the amount that must come there."""
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
        """Move claims along a path for as many as it carries; at least for one, as it was found.

        Moves no more of each than needed, so that free room beyond the path stays free.
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
        """How many claims must move from each card of a path to the next if `number` claims come.
        None if there are too few to move, or no room at the end.
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
        """Place `number` claims by replacing all that could make room: for unequal amounts."""
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
            return False  # claims on these cards want no others, and ask for more than there is
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
        """Whether claims are short of this card, or it is closed."""
        return card in self._short or self._closed(card)

    def _set_aside(self, claim: Claim, number: int) -> None:
        self._aside[claim] = self._aside.get(claim, 0) + number
        for card in claim.cards:
            self._short[card] += claim.amount * number

    def _drop_aside(self, claim: Claim, number: int) -> None:
        if not number:
            return
        _take(self._aside, claim, number)
        for card in claim.cards:
            _take(self._short, card, claim.amount * number)


def _take(counts: dict[K, int], key: K, number: int = 1) -> None:
    counts[key] -= number
    if not counts[key]:
        del counts[key]
