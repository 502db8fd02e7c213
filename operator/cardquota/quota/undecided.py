"""What a queue's pods hold of one card or another, and what room that leaves (T3).

A pod without a stamp that may use several cards is counted in the totals with the first of them
that has a quota. Whether there is room for one more is another question: it may end up on any of
its cards, so all such claims are assigned together. Whose gate we opened has one card (E10).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from .assignment import Assignment
from .claim import Claim
from .vocabulary import CPU, MEMORY

Amounts = Mapping[str, int]
"""By dimension."""
_NOTHING: Final[Amounts] = {}


class Undecided:
    """The claims of one queue that count when one kind of question is asked.

    `counted` is what the queue's totals hold of a card for that question, these claims included;
    `quota_of` the queue's quota.
    """

    __slots__ = ("_assignment", "_counted", "_number", "_quota_of", "_shown", "_spare")

    def __init__(self, counted: Callable[[str], int], quota_of: Callable[[str], int]) -> None:
        self._counted = counted
        self._quota_of = quota_of
        self._shown: dict[str, int] = {}
        """By card: what the totals hold there for these claims."""
        self._spare: Amounts = _NOTHING
        self._number = 0
        self._assignment = Assignment(self._room)

    def __bool__(self) -> bool:
        return self._number > 0

    def add(self, claim: Claim, shown: str) -> None:
        """A pod without a decided card; the totals count it with `shown`."""
        self._number += 1
        self._assignment.add(claim)
        self._shown[shown] = self._shown.get(shown, 0) + claim.amount

    def remove(self, claim: Claim, shown: str) -> None:
        """The inverse of `add`."""
        self._number -= 1
        self._assignment.remove(claim)
        self._shown[shown] -= claim.amount
        if not self._shown[shown]:
            del self._shown[shown]

    @contextmanager
    def beside(
        self,
        amounts: Amounts = _NOTHING,
        claims: Iterable[tuple[Claim, int]] = (),
        spare: Amounts = _NOTHING,
    ) -> Iterator["Others"]:
        """These claims, with so many cards taken by somebody else, and further claims beside them,
        as far as there is room for those. What is asked meanwhile is one question.

        `spare`: room for these further claims alone, by names that are no card's.
        """
        taken, without = [], dict[str, int]()
        assignment, before = self._assignment, self._spare
        self._spare = spare or before
        try:
            with assignment.one_question():
                for dimension, amount in amounts.items():
                    if amount and dimension not in (CPU, MEMORY):
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
        """What is asked meanwhile shares one bound of steps, of all searches together. To be asked
        how many are left.
        """
        with self._assignment.one_question():
            yield lambda: self._assignment.steps_left

    def shown(self, card: str) -> int:
        """What the totals hold of a card for these claims."""
        return self._shown.get(card, 0)

    def held(self, card: str) -> int:
        """What is held of a card as these claims were assigned for the last question, at least.

        Claims without room count with every card they could use.
        """
        assignment = self._assignment
        short = sum(c.amount * n for c, n in assignment.aside() if card in c.cards)
        return self._decided(card) + assignment.held(card) + short

    def fits(self, card: str, limit: int) -> bool:
        """Whether these claims can do with what a limit leaves of a card."""
        self._assignment.settle()
        return self.held(card) <= limit

    def reach(self, cards: tuple[str, ...]) -> set[str]:
        """Cards whose room can matter to who wants one of `cards`."""
        self._assignment.settle()
        return self._assignment.reach(cards)

    def _room(self, card: str) -> int:
        return self._quota_of(card) + self._spare.get(card, 0) - self._decided(card)

    def _decided(self, card: str) -> int:
        return self._counted(card) - self._shown.get(card, 0)


class Others:
    """Everybody with a choice of cards, while something is asked beside them."""

    __slots__ = ("_undecided", "_without", "assignment")

    def __init__(
        self, undecided: Undecided, assignment: Assignment, without: Mapping[str, int]
    ) -> None:
        """`without`: what is taken beside them and found no place, by card."""
        self._undecided = undecided
        self._without = without
        self.assignment = assignment

    def leave_room(self, card: str, amount: int) -> bool:
        """Whether they can all be assigned beside so much more of a card; also of no more at all:
        they may be short of it already.
        """
        more = amount + self._without.get(card, 0)
        return self.leave_room_for(Claim((card,), max(0, more)))

    def leave_room_for(self, claim: Claim) -> bool:
        """Whether they can all be assigned beside one more claim."""
        placed = self.assignment.place(claim)
        if placed:
            self.assignment.give_back(claim)
        return placed

    def held(self, card: str) -> int:
        """What is held of a card, at least, with what is taken beside them."""
        return self._undecided.held(card) + self._without.get(card, 0)
