"""The order in which queues are looked at (E6)."""

import heapq
from collections.abc import Iterable
from typing import Final, NamedTuple

from ..accounts.account_reader import AccountReader
from ..ledger.ledger_reader import LedgerReader

_SLACK: Final = 64
"""Outdated entries that are allowed beyond twice the number of valid ones."""


class _Place(NamedTuple):
    """Where a queue stands (E6): the smallest comes first."""

    negated_priority: int
    share: int
    """Of what it deserves, in millionths."""
    queue: str


class QueueOrder:
    """Queues that are to be looked at, one after the other. Some may be added meanwhile.

    They go in rounds. A queue that is added again, because it was not finished or has news, gets
    its next turn after all others that wait. Within a round each stands at the place that it had
    when it was last added. Bounded by the number of existing queues.
    """

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._unplaced: set[str] = set()
        self._places: dict[str, tuple[int, _Place]] = {}
        self._heap: list[tuple[int, _Place]] = []
        """Entries of queues that now have another place, or none, are skipped."""
        self._round = 0
        self._had_turn: set[str] = set()
        """Queues that had a turn in this round."""

    def __len__(self) -> int:
        return len(self._unplaced) + len(self._places)

    def add(self, queues: Iterable[str]) -> None:
        """Add queues to be looked at. A queue that was already added gets a new place."""
        self._unplaced.update(queues)

    def place_one(self) -> bool:
        """Compute the place of one added queue. Returns whether there was one.

        Costs by the cards of its quota, so many queues are placed in portions.
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
        """Remove and return the first queue that has a place; None if there is none."""
        while self._heap:
            round_, place = heapq.heappop(self._heap)
            queue = place.queue
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
    """Queues by priority, then by the share they hold of what they deserve, then by name."""
    return sorted(queues, key=lambda queue: _place(ledger, queue))


def _place(ledger: LedgerReader, queue: str) -> _Place:
    account = ledger.account(queue)
    if account is None or account.facts is None:
        return _Place(0, 0, queue)
    return _Place(-account.facts.priority, share(ledger, account), queue)


def share(ledger: LedgerReader, account: AccountReader) -> int:
    """The largest part of what it deserves that a queue holds of any card, in millionths.

    If the cluster has less of a card than all quotas together, a queue deserves as much less. That
    is not rounded to whole cards before comparing: a small quota might then deserve none.
    """
    return max((_share(ledger, account, card) for card in account.cards), default=0)


def _share(ledger: LedgerReader, account: AccountReader, card: str) -> int:
    allocated, quota = account.row(card).allocated, account.quota[card]
    quotas = ledger.cluster_quota(card)
    there = min(quotas, ledger.nodes.total(card) or quotas)
    return 1_000_000 * allocated * quotas // (quota * there) if quota else 0
