"""Which queue is looked at first (E6)."""

import heapq
from collections.abc import Iterable

from .account import Account
from .ledger import Ledger

_Place = tuple[int, int, str]


class QueueOrder:
    """Queues that are to be looked at, one after the other; some may come while others go.

    Each stands where it belonged when it was added last. Bounded by the queues that exist.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._unplaced: set[str] = set()
        self._places: dict[str, _Place] = {}
        self._heap: list[_Place] = []
        """Entries of queues that have another place now, or none, are passed over."""

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
        place = _place(self._ledger, queue)
        if self._places.get(queue) != place:
            self._places[queue] = place
            heapq.heappush(self._heap, place)
        return True

    def take(self) -> str | None:
        """The first of those that have their place; it is not to be looked at any more."""
        while self._heap:
            place = heapq.heappop(self._heap)
            if self._places.get(place[-1]) == place:
                del self._places[place[-1]]
                return place[-1]
        return None


def queue_order(ledger: Ledger, queues: Iterable[str]) -> list[str]:
    """Queues by priority, then by how little of what they deserve they hold, then by name."""
    return sorted(queues, key=lambda queue: _place(ledger, queue))


def _place(ledger: Ledger, queue: str) -> _Place:
    account = ledger.account(queue)
    if account is None or account.facts is None:
        return (0, 0, queue)
    return (-account.facts.priority, share(ledger, account), queue)


def share(ledger: Ledger, account: Account) -> int:
    """The largest part of what it deserves that a queue holds of any card, in millionths.

    Where the cluster has less of a card than all quotas together, a queue deserves as much less.
    Not rounded to whole cards before it is compared: a small quota may then deserve none.
    """
    return max((_share(ledger, account, card) for card in account.cards), default=0)


def _share(ledger: Ledger, account: Account, card: str) -> int:
    allocated, quota = account.row(card).allocated, account.quota[card]
    quotas = ledger.cluster_quota(card)
    there = min(quotas, ledger.nodes.total(card) or quotas)
    return 1_000_000 * allocated * quotas // (quota * there) if quota else 0
