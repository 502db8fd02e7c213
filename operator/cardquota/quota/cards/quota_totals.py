"""The quotas of all queues together, per card (Q3)."""

from collections import Counter
from collections.abc import Collection

from ..amounts import Amounts


class QuotaTotals:
    """Kept up to date as quotas change. A change costs in proportion to the rows of that quota."""

    def __init__(self) -> None:
        self._queues: dict[str, set[str]] = {}
        """By card: the queues that have a row for it."""
        self._cards: Counter[str] = Counter()
        self.version = 0
        """Goes up whenever a card gets its first row or loses its last one."""

    def replace(self, queue: str, old: Amounts, new: Amounts) -> bool:
        """Set a queue's new quota. Returns whether a card got its first row or lost its last."""
        changed = old.keys() ^ new.keys()
        had = {card for card in changed if self.has(card)}
        for card, amount in old.items():
            self._cards[card] -= amount
            self._queues[card].discard(queue)
        for card, amount in new.items():
            self._cards[card] += amount
            self._queues.setdefault(card, set()).add(queue)
        for card in old:
            if not self._queues[card]:
                del self._queues[card], self._cards[card]
        moved = had != {card for card in changed if self.has(card)}
        self.version += moved
        return moved

    def has(self, card: str) -> bool:
        """Whether some queue has a row for this card."""
        return card in self._queues

    def of(self, card: str) -> int:
        """All quotas of this card together, cards."""
        return self._cards[card]

    def queues(self, card: str) -> Collection[str]:
        """The names of the queues that have a row for this card."""
        return self._queues.get(card, ())
