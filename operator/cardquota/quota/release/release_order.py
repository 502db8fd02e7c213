"""Which queue is looked at first (E6)."""

import heapq
from collections.abc import Iterable
from typing import Final

from ..ledger.account_reader import AccountReader
from ..ledger.ledger_reader import LedgerReader

_Place = tuple[int, int, str]
_SLACK: Final = 64
"""Entries that may be out of date, beyond twice as many as there are good ones."""


class QueueOrder:
    """Queues that are to be looked at, one after the other; some may come while others go.

    They go in rounds: one that comes back, for all of it could not be looked at or there is news
    of it, has its next turn when all others that wait have had theirs. In a round each stands where
    it belonged when it was added last. Bounded by the queues that exist.
    """

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._unplaced: set[str] = set()
        self._places: dict[str, tuple[int, _Place]] = {}
        self._heap: list[tuple[int, _Place]] = []
        """Entries of queues that have another place now, or none, are passed over."""
        self._round = 0
        self._had_turn: set[str] = set()
        """In this round."""

    def __len__(self) -> int:
        return len(self._unplaced) + len(self._places)

    def add(self, queues: Iterable[str]) -> None:
        """These are to be looked at; one that was already gets its place anew."""
        self._unplaced.update(queues)

    def place_one(self) -> bool:
        """Work out the place of one of those added; whether there was one.

        Costs by the cards of its quota, so for many queues it is done bit by bit.
        """
        if not self._unplaced:
            return False
        queue = self._unplaced.pop()
        place = self._round + (queue in self._had_turn), _place(self._ledger, queue)
        if self._places.get(queue) != place:
            self._places[queue] = place
            heapq.heappush(self._heap, place)
            if len(self._heap) > 2 * len(self._places) + _SLACK:
                self._heap = sorted(self._places.values())
        return True

    def take(self) -> str | None:
        """The first of those that have their place; it is not to be looked at any more."""
        while self._heap:
            round_, place = heapq.heappop(self._heap)
            queue = place[-1]
            if self._places.get(queue) == (round_, place):
                del self._places[queue]
                if round_ > self._round:
                    self._round = round_
                    self._had_turn.clear()
                self._had_turn.add(queue)
                return queue
        self._had_turn.clear()
        return None


def queue_order(ledger: LedgerReader, queues: Iterable[str]) -> list[str]:
    """Queues by priority, then by how little of what they deserve they hold, then by name."""
    return sorted(queues, key=lambda queue: _place(ledger, queue))


def _place(ledger: LedgerReader, queue: str) -> _Place:
    account = ledger.account(queue)
    if account is None or account.facts is None:
        return (0, 0, queue)
    return (-account.facts.priority, share(ledger, account), queue)


def share(ledger: LedgerReader, account: AccountReader) -> int:
    """The largest part of what it deserves that a queue holds of any card, in millionths.

    Where the cluster has less of a card than all quotas together, a queue deserves as much less.
    Not rounded to whole cards before it is compared: a small quota may then deserve none.
    """
    return max((_share(ledger, account, card) for card in account.cards), default=0)


def _share(ledger: LedgerReader, account: AccountReader, card: str) -> int:
    allocated, quota = account.row(card).allocated, account.quota[card]
    quotas = ledger.cluster_quota(card)
    there = min(quotas, ledger.nodes.total(card) or quotas)
    return 1_000_000 * allocated * quotas // (quota * there) if quota else 0
