"""Whether pods of several kinds fit a queue together, whichever cards they get (E2, T3)."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ..accounts.account_reader import AccountReader
from ..assignment.assignment import Assignment
from ..assignment.claim import Claim, claim_of
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_record import PodRecord
from .judgement import judge


class RoomTogether:
    """The room of a queue beside the pods that were taken in. Made by `room_together`."""

    def __init__(
        self, ledger: LedgerReader, account: AccountReader, assignment: Assignment
    ) -> None:
        self._ledger = ledger
        self._account = account
        self._assignment = assignment
        self._held = Counter[str]()
        """Cpu and memory of the pods that were taken in."""
        self._placed: list[tuple[Claim, int]] = []
        self.short: set[str] = set()
        """Cpu or memory that pods did not fit for."""

    def take(self, record: PodRecord, most: int) -> int:
        """Take in as many equal pods as fit beside those before, at most `most`. Returns how many.

        Costs one judgement. Not for pods of a group with a reservation in this queue.
        """
        request = record.request
        if request is None or not most:
            return 0
        if not judge(self._ledger, record.facts, record.queue).fits:
            return 0
        number = most
        for dimension, amount in request.cpu_memory:
            limit = self._account.limit(dimension)
            if limit is not None:
                free = limit - self._account.row(dimension).charged - self._held[dimension]
                if amount * number > free:
                    number = max(0, free // amount)
                    self.short.add(dimension)
        if not number:
            return 0
        if request.amount:
            claim = claim_of(request.cards, request.amount)
            number = self._assignment.place_many(claim, number)
            self._placed.append((claim, number))
        for dimension, amount in request.cpu_memory:
            self._held[dimension] += amount * number
        return number

    def give_back(self) -> None:
        """Give back all pods that were taken in."""
        for claim, number in self._placed:
            self._assignment.give_back(claim, number)
        self._placed.clear()


@contextmanager
def room_together(ledger: LedgerReader, account: AccountReader) -> Iterator[RoomTogether]:
    """The room of a queue as it is now. Nothing is charged, and nothing stays assigned."""
    with (account.flexible_claims or account.no_flexible_claims()).beside() as others:
        room = RoomTogether(ledger, account, others.assignment)
        try:
            yield room
        finally:
            room.give_back()
