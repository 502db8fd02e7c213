"""The inadmissible classes of a fifo queue, by the set of cards that they ask for.

A pass looks at the first class of every card set that is not blocked. There may be very many card
sets. So blocked sets are listed by their blocker: a card that a class before them waits for. As
long as it blocks, a pass skips the whole list.
"""

from bisect import bisect_left, bisect_right, insort

from .candidate import InadmissibleClass
from .release_key import ReleaseKey

Cards = frozenset[str]
Row = list[tuple[ReleaseKey, InadmissibleClass]]
"""Sorted."""

_NO_BLOCKER = ""
"""For card sets that were not blocked when a pass last looked at them. No card has this name. It is
a text since a pass compares blockers in a heap."""


class FifoIndex:
    """Inadmissible classes by card set, and card sets by blocker, each list in order of release.

    Adding, discarding or setting a blocker costs by the logarithm of their number.
    """

    __slots__ = ("_blocker_of", "_by_blocker", "_rows")

    def __init__(self) -> None:
        self._rows: dict[Cards, Row] = {}
        self._blocker_of: dict[Cards, str] = {}
        self._by_blocker: dict[str, list[tuple[ReleaseKey, Cards]]] = {}
        """Card sets, each with the place of its first class."""

    def add(self, inadmissible: InadmissibleClass) -> None:
        """A class begins waiting for its cards."""
        row = self._rows.setdefault(inadmissible.cards, [])
        before = row[0][0] if row else None
        insort(row, (inadmissible.release_key, inadmissible))
        self._first_changed(inadmissible.cards, before, row[0][0])

    def discard(self, inadmissible: InadmissibleClass) -> None:
        """The inverse of `add`. Call it with the class unchanged since then."""
        row = self._rows[inadmissible.cards]
        before = row[0][0]
        del row[bisect_left(row, (inadmissible.release_key,))]
        self._first_changed(inadmissible.cards, before, row[0][0] if row else None)
        if not row:
            del self._rows[inadmissible.cards], self._blocker_of[inadmissible.cards]

    def first_of(self, cards: Cards, after: ReleaseKey | None) -> InadmissibleClass | None:
        """The first class after a place that asks for exactly these cards."""
        row = self._rows.get(cards, [])
        place = bisect_right(row, after, key=_place) if after else 0
        return row[place][1] if place < len(row) else None

    def firsts(self) -> list[tuple[ReleaseKey, str]]:
        """All blockers, each with the place of the first card set that it blocks."""
        return [(listed[0][0], blocker) for blocker, listed in self._by_blocker.items()]

    def first_in(
        self, blocker: str, key: ReleaseKey, *, beyond: bool = False
    ) -> tuple[ReleaseKey, Cards] | None:
        """The first card set of a blocker with this place or a later one. With `beyond`, only
        with a later one.
        """
        listed = self._by_blocker.get(blocker, [])
        place = bisect_left(listed, (key,)) + beyond
        return listed[place] if place < len(listed) else None

    def blocker_of(self, cards: Cards) -> str:
        """Which of these cards a class before them waits for, as it was last set."""
        return self._blocker_of[cards]

    def set_blocker(self, cards: Cards, blocker: str = _NO_BLOCKER) -> None:
        """Set which of these cards a class before them waits for; by default, none."""
        first = self._rows[cards][0][0]
        self._first_changed(cards, first, None)
        self._blocker_of[cards] = blocker
        self._first_changed(cards, None, first)

    def _first_changed(
        self, cards: Cards, before: ReleaseKey | None, now: ReleaseKey | None
    ) -> None:
        """The first class of a card set has another place. None: there is no class."""
        if before == now:
            return
        blocker = self._blocker_of.setdefault(cards, _NO_BLOCKER)
        if before is not None:
            listed = self._by_blocker[blocker]
            del listed[bisect_left(listed, (before,))]
            if not listed:
                del self._by_blocker[blocker]
        if now is not None:
            insort(self._by_blocker.setdefault(blocker, []), (now, cards))


def _place(entry: tuple[ReleaseKey, InadmissibleClass]) -> ReleaseKey:
    return entry[0]
