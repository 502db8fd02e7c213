"""Who waits in a fifo queue by the choice of cards he asks for, in the order of release.

A pass looks at the first of every choice that nobody before it holds up. There may be very many
choices, so those that were held up for a card are kept in a file under it: as long as somebody
before the first of a file waits for its card, the file is passed over as a whole.
"""

from bisect import bisect_left, bisect_right, insort

from .candidate import InadmissibleClass, SortKey

Cards = frozenset[str]
Row = list[tuple[SortKey, InadmissibleClass]]
"""Sorted."""

_OPEN = ""
"""The file of those that were not held up when they were looked at last."""


class Kinds:
    """Shelves by their choice of cards, and the choices in files by their first turns.

    What is added, discarded and filed costs by the logarithm of their number.
    """

    __slots__ = ("_filed", "_files", "_rows")

    def __init__(self) -> None:
        self._rows: dict[Cards, Row] = {}
        self._filed: dict[Cards, str] = {}
        self._files: dict[str, list[tuple[SortKey, Cards]]] = {}

    def add(self, shelf: InadmissibleClass) -> None:
        """A shelf waits for its cards."""
        row = self._rows.setdefault(shelf.cards, [])
        before = row[0][0] if row else None
        insort(row, (shelf.turn, shelf))
        self._moved(shelf.cards, before, row[0][0])

    def discard(self, shelf: InadmissibleClass) -> None:
        """The inverse of `add`, called with the shelf as it was then."""
        row = self._rows[shelf.cards]
        before = row[0][0]
        del row[bisect_left(row, (shelf.turn,))]
        self._moved(shelf.cards, before, row[0][0] if row else None)
        if not row:
            del self._rows[shelf.cards], self._filed[shelf.cards]

    def first_of(self, cards: Cards, after: SortKey | None) -> InadmissibleClass | None:
        """The first shelf after a turn of those that wait for just these cards."""
        row = self._rows.get(cards, [])
        place = bisect_right(row, after, key=_turn) if after else 0
        return row[place][1] if place < len(row) else None

    def fronts(self) -> list[tuple[SortKey, str]]:
        """All files, each with the turn of its first."""
        return [(file[0][0], name) for name, file in self._files.items()]

    def first_in(
        self, name: str, turn: SortKey, *, beyond: bool = False
    ) -> tuple[SortKey, Cards] | None:
        """The first choice in a file that has this turn or a later one; `beyond`: a later one."""
        file = self._files.get(name, [])
        place = bisect_left(file, (turn,)) + beyond
        return file[place] if place < len(file) else None

    def file(self, cards: Cards, card: str = _OPEN) -> None:
        """Somebody before the first of these waits for this card of theirs; or nobody does."""
        first = self._rows[cards][0][0]
        self._moved(cards, first, None)
        self._filed[cards] = card
        self._moved(cards, None, first)

    def _moved(self, cards: Cards, before: SortKey | None, now: SortKey | None) -> None:
        """The first of a choice has another turn; None: there is none."""
        if before == now:
            return
        name = self._filed.setdefault(cards, _OPEN)
        if before is not None:
            file = self._files[name]
            del file[bisect_left(file, (before,))]
            if not file:
                del self._files[name]
        if now is not None:
            insort(self._files.setdefault(name, []), (now, cards))


def _turn(entry: tuple[SortKey, InadmissibleClass]) -> SortKey:
    return entry[0]
