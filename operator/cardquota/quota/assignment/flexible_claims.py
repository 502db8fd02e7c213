"""What a queue's pods hold with a choice of cards, and what room that leaves (T3).

The totals count a pod without a stamp that may use several cards with the first of them that has a
quota, and what a group reserves with a choice with its first card. Whether there is room for one
more is another question: each may end up on any of its cards, so all such claims are assigned
together. A pod whose gate we opened has one card (E10).

Nothing bounds how many kinds of such pods pass no gate of ours. Beyond `FLEXIBLE_KINDS`, a claim
counts with the card that the totals show, until other claims are gone. So there is never more room
than if all were assigned. Where claims do not fit like that, neither the other cards that they
could use take anything more, nor the cards to which claims may have to move from there.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from ..amounts import NO_AMOUNTS, Amounts, MutableAmounts, is_card
from ..limits import FLEXIBLE_CARDS, FLEXIBLE_KINDS
from .assignment import Assignment
from .claim import Claim
from .fixed_claims import FixedClaims
from .on_the_way import Spare

_NONE: Final = frozenset[str]()


class FlexibleClaims:
    """The claims of one queue that count for one kind of question.

    `counted` is what the queue's totals hold of a card for that question, these claims included.
    `quota_of` is the queue's quota. Both stay the same while `version` is equal.
    """

    __slots__ = (
        "_assignment",
        "_closed",
        "_closed_at",
        "_counted",
        "_fixed",
        "_kinds",
        "_kinds_cards",
        "_number",
        "_quota_of",
        "_shown",
        "_spare",
        "_version",
    )

    def __init__(
        self,
        counted: Callable[[str], int],
        quota_of: Callable[[str], int],
        version: Callable[[], object],
    ) -> None:
        self._counted = counted
        self._quota_of = quota_of
        self._version = version
        self._shown: MutableAmounts = {}
        """By card: what the totals hold there for the assigned claims."""
        self._spare: Spare = NO_AMOUNTS
        self._number = 0
        self._kinds: dict[Claim, int] = {}
        """The assigned claims, and how many of each."""
        self._kinds_cards = 0
        """The number of alternatives of these kinds, added up."""
        self._fixed = FixedClaims()
        """All other claims. Equal claims are all here or all assigned."""
        self._closed: Collection[str] = _NONE
        """Cards that take nothing more because of the fixed claims."""
        self._closed_at: object = None
        """The version at which `_closed` was found; None if it must be found again."""
        self._assignment = Assignment(self._room, closed=self._is_closed, version=version)

    def __bool__(self) -> bool:
        return self._number > 0

    @property
    def kinds(self) -> int:
        """How many different claims are assigned."""
        return len(self._kinds)

    def add(self, claim: Claim, shown: str, number: int = 1) -> None:
        """Add equal claims: of pods that may use several cards, or of a group that reserves some.
        The totals count them with `shown`.
        """
        self._number, self._closed_at = self._number + number, None
        if claim in self._fixed or not (claim in self._kinds or self._has_room_for(claim)):
            self._fixed.add(claim, shown, number)
        else:
            self._assign(claim, shown, number)

    def remove(self, claim: Claim, shown: str, number: int = 1) -> None:
        """The inverse of `add`."""
        self._number, self._closed_at = self._number - number, None
        if claim in self._fixed:
            self._fixed.remove(claim, shown, number)
            return
        self._assignment.remove(claim, number)
        self._shown[shown] -= claim.amount * number
        if not self._shown[shown]:
            del self._shown[shown]
        self._kinds[claim] -= number
        if not self._kinds[claim]:
            del self._kinds[claim]
            self._kinds_cards -= len(claim.cards)
            self._assign_more()

    def _has_room_for(self, claim: Claim) -> bool:
        """Whether one more kind may be assigned."""
        cards = self._kinds_cards + len(claim.cards)
        return len(self._kinds) < FLEXIBLE_KINDS.most and cards <= FLEXIBLE_CARDS.most

    def _assign(self, claim: Claim, shown: str, number: int) -> None:
        if claim not in self._kinds:
            self._kinds_cards += len(claim.cards)
        self._kinds[claim] = self._kinds.get(claim, 0) + number
        self._shown[shown] = self._shown.get(shown, 0) + claim.amount * number
        self._assignment.add(claim, number)

    def _assign_more(self) -> None:
        """A kind is gone: assign the fixed claims that have been here longest, if they fit."""
        while (claim := self._fixed.first) is not None and self._has_room_for(claim):
            for shown, number in self._fixed.of(claim).items():
                self._fixed.remove(claim, shown, number)
                self._assign(claim, shown, number)

    @contextmanager
    def beside(
        self,
        amounts: Amounts = NO_AMOUNTS,
        claims: Iterable[tuple[Claim, int]] = (),
        spare: Spare = NO_AMOUNTS,
    ) -> Iterator["Others"]:
        """These claims while `amounts` are taken by others, with further `claims` beside them as
        far as those fit. All that is asked within the context is one question.

        `spare`: room for the further claims alone.
        """
        taken, without = [], MutableAmounts()
        assignment, before = self._assignment, self._spare
        self._spare = spare or before
        try:
            with assignment.one_question():
                for dimension, amount in amounts.items():
                    if amount and is_card(dimension):
                        one = Claim((dimension,), 1)
                        number = assignment.place_many(one, amount)
                        taken.append((one, number))
                        if number < amount:
                            without[dimension] = amount - number
                for claim, number in claims:
                    taken.append((claim, assignment.place_many(claim, number)))
                yield Others(self, assignment, without)
        finally:
            for claim, number in taken:
                assignment.give_back(claim, number)
            self._spare = before

    @contextmanager
    def one_question(self) -> Iterator[Callable[[], int]]:
        """All questions within this context share one bound of search steps. Yields a function
        that returns how many are left.
        """
        with self._assignment.one_question():
            yield lambda: self._assignment.steps_left

    def shown(self, card: str) -> int:
        """What the totals hold of a card for these claims."""
        return self._shown.get(card, 0)

    def held(self, card: str) -> int:
        """What is held of a card, at least, as these claims were assigned for the last question.

        Claims without room count with every card they could use.
        """
        assignment = self._assignment
        return self._inflexible(card) + assignment.held(card) + assignment.short(card)

    def fits(self, card: str, limit: int) -> bool:
        """Whether these claims fit into what a limit leaves of a card."""
        if self._inflexible(card) > limit:
            return False
        self._assignment.settle()
        return self.held(card) <= limit

    def reach(self, cards: tuple[str, ...]) -> set[str]:
        """Cards whose room can matter to a claim for one of `cards`."""
        self._assignment.settle()
        reached = self._assignment.reach(cards)
        closed = self._closed_cards()
        return reached if reached.isdisjoint(closed) else reached.union(closed)

    def _is_closed(self, card: str) -> bool:
        return card in self._closed_cards()

    def _closed_cards(self) -> Collection[str]:
        """Cards that a claim counted with another card may have to use, or cards that claims may
        have to move to if it did.

        The same as long as nothing changes: no claim moves out of them, nor in.
        """
        if not self._fixed.shown:
            return _NONE
        version = self._version()
        if version == self._closed_at:
            return self._closed
        # No pod gets a card without quota: a claim with other cards beside it counts with those.
        quota = self._quota_of
        starts = [card for card in self._fixed.shown if quota(card) and self._room(card) < 0]
        starts += (c for claim, _ in self._assignment.aside() for c in claim.cards if quota(c))
        closed, fresh = set[str](), set(starts)
        while fresh:
            found = self._assignment.moving_from(fresh, closed)
            closed |= found
            others = {other for card in found for other in self._fixed.others(card)} - closed
            fresh = {card for card in others if quota(card)}
        self._closed, self._closed_at = closed, version
        return closed

    def _room(self, card: str) -> int:
        return self._quota_of(card) + self._spare.get(card, 0) - self._inflexible(card)

    def _inflexible(self, card: str) -> int:
        return self._counted(card) - self._shown.get(card, 0)


class Others:
    """All claims with a choice of cards, while something is judged beside them."""

    __slots__ = ("_flexible_claims", "_without", "assignment")

    def __init__(
        self, flexible_claims: FlexibleClaims, assignment: Assignment, without: Amounts
    ) -> None:
        """`without`: by card, what was to be taken beside them and found no place."""
        self._flexible_claims = flexible_claims
        self._without = without
        self.assignment = assignment

    def leave_room(self, card: str, amount: int) -> bool:
        """Whether all can be assigned beside `amount` more of a card. Ask with 0 too: they may
        already be short of it.
        """
        more = amount + self._without.get(card, 0)
        return self.leave_room_for(Claim((card,), max(0, more)))

    def leave_room_for(self, claim: Claim) -> bool:
        """Whether all can be assigned beside one more claim."""
        placed = self.assignment.place(claim)
        if placed:
            self.assignment.give_back(claim)
        return placed

    def held(self, card: str) -> int:
        """What is held of a card, at least, including what is taken beside them."""
        return self._flexible_claims.held(card) + self._without.get(card, 0)
