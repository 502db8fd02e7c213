"""The quotas of all queues together, per card (Q3)."""

from collections import Counter
from collections.abc import Mapping


class QuotaTotals:
    """Kept as quotas change; costs in proportion to the rows of the quota that changes."""

    def __init__(self) -> None:
        self._rows: Counter[str] = Counter()
        self._cards: Counter[str] = Counter()
        self.version = 0
        """Goes up whenever a card has a row that had none, or none any more."""

    def replace(self, old: Mapping[str, int], new: Mapping[str, int]) -> bool:
        """One queue's quota is another now; whether a card has a row that had none, or none now."""
        changed = old.keys() ^ new.keys()
        had = {card for card in changed if self.has(card)}
        for quota, sign in ((old, -1), (new, 1)):
            for card, amount in quota.items():
                self._rows[card] += sign
                self._cards[card] += sign * amount
        for card in old:
            if not self._rows[card]:
                del self._rows[card], self._cards[card]
        moved = had != {card for card in changed if self.has(card)}
        self.version += moved
        return moved

    def has(self, card: str) -> bool:
        """Whether some queue has a row for this card."""
        return self._rows[card] > 0

    def of(self, card: str) -> int:
        """All quotas of this card together, cards."""
        return self._cards[card]
