"""For how long a queue has held each of its cards (T5)."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Final

from ..vocabulary import COMPUTE_RESOURCES

MOST_SECONDS: Final = 2**53 - 1
"""Card-seconds that are counted: a million cards for 285 years. A metric shows no more exactly."""


class CardSeconds:
    """The card-seconds of one queue, while this replica leads.

    What is held now, times the time now, less each change times the time of that change: so a
    change costs one addition, and nobody has to remember since when an amount stands. Inside, whole
    card-milliseconds.
    """

    __slots__ = ("_moments", "_now", "complete")

    def __init__(self, now: Callable[[], int]) -> None:
        """`now`: milliseconds, monotonic."""
        self._now = now
        self._moments: dict[str, int] = {}
        """By card: the sum of each change times its time, less what was counted before."""
        self.complete = True
        """Whether all of before was added: not for a moment while a term begins."""

    def __len__(self) -> int:
        """Cards that are remembered."""
        return len(self._moments)

    def change(self, dimension: str, amount: int) -> None:
        """So much more of a dimension is allocated from now on; less, if it is negative."""
        if dimension not in COMPUTE_RESOURCES:
            self._moments[dimension] = self._moments.get(dimension, 0) + amount * self._now()

    def add(self, card: str, milliseconds: int) -> None:
        """Card-milliseconds of before."""
        self._moments[card] = self._moments.get(card, 0) - milliseconds

    def seconds(self, card: str, allocated: int) -> int:
        """Whole card-seconds by now. `allocated`: how many of the card are."""
        counted = allocated * self._now() - self._moments.get(card, 0)
        return min(max(0, counted // 1000), MOST_SECONDS)

    def keep(self, cards: AbstractSet[str]) -> None:
        """Forget all other cards. A row that comes back counts from zero."""
        for card in self._moments.keys() - cards:
            del self._moments[card]
