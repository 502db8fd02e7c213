"""The quotas of all queues together, per card (Q3)."""

from collections import Counter
from collections.abc import Collection

from ..amounts import Amounts
from ..cards.card import is_memory


class QuotaTotals:
    """Kept up to date as quotas change. A change costs in proportion to the rows of that quota."""

    def __init__(self, *, memory_by_row: bool = False) -> None:
        """`memory_by_row`: whether the memory of cards counts without any row, too: then no queue
        may have some (B9).
        """
        self._memory_by_row = memory_by_row
        self._queues: dict[str, set[str]] = {}
        """By card: the queues that have a row for it."""
        self._cards: Counter[str] = Counter()
        self._memory_rows = 0
        """How many cards with a row are the memory of cards (B10)."""
        self.version = 0
        """Goes up whenever a card gets its first row or loses its last one."""

    def replace(self, queue: str, old: Amounts, new: Amounts) -> set[str]:
        """Set a queue's new quota. Returns the cards that got their first row, or lost the last."""
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
        has = {card for card in changed if self.has(card)}
        moved = had ^ has
        self._memory_rows += sum(map(is_memory, has)) - sum(map(is_memory, had))
        self.version += bool(moved)
        return moved

    def has(self, card: str) -> bool:
        """Whether some queue has a row for this card."""
        return card in self._queues

    @property
    def limits_memory(self) -> bool:
        """Whether the memory of cards is counted (B9, B10)."""
        return self._memory_by_row or self._memory_rows > 0

    def of(self, card: str) -> int:
        """All quotas of this card together, cards."""
        return self._cards[card]

    def queues(self, card: str) -> Collection[str]:
        """The names of the queues that have a row for this card."""
        return self._queues.get(card, ())
