"""Who waits for room, by how much room: a decision looks at those alone for whom there is enough.

Candidates that ask for the same share a shelf. A shelf notes, per dimension, how much must be free
before its first could fit: more in one of them is necessary, though perhaps not sufficient.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Hashable, Iterator

from .candidate import Candidate, Needs, Shelf, Turn
from .vocabulary import Reason

Cards = frozenset[str]
_Row = list[tuple[Turn, Shelf]]
"""Sorted."""


class Shelves:
    """All shelves of a line, and which of them has how much to wait for.

    What is put and taken costs by the dimensions that its shelf waits for.
    """

    __slots__ = ("_by_cards", "_by_signature", "_with_cards", "_without_cards")

    def __init__(self) -> None:
        self._by_signature: dict[Hashable, Shelf] = {}
        self._with_cards = _ByNeed()
        self._without_cards = _ByNeed()
        self._by_cards: dict[Cards, _Row] = {}

    def __iter__(self) -> Iterator[Shelf]:
        return iter(list(self._by_signature.values()))

    def put(
        self,
        candidate: Candidate,
        signature: Hashable,
        needs: Needs,
        reason: Reason | None,
        cards: Cards,
    ) -> None:
        """A candidate was tried, is told why it waits, and waits for room.

        `cards`: which it asks for; the same for all with this signature.
        """
        shelf = self._by_signature.get(signature)
        if shelf is None:
            shelf = self._by_signature[signature] = Shelf(signature, cards)
        self._unlist(shelf)
        shelf.put(candidate)
        shelf.needs, shelf.reason = needs, reason
        self._list(shelf)

    def take(self, candidate: Candidate) -> None:
        """A candidate waits there no longer; does nothing for one that is on no shelf."""
        shelf = candidate.shelf
        if shelf is not None:
            self._unlist(shelf)
            shelf.take(candidate)
            if shelf:
                self._list(shelf)
            else:
                del self._by_signature[shelf.signature]

    def note(self, shelf: Shelf, needs: Needs) -> None:
        """How much must be free before the first of a shelf is tried again."""
        self._unlist(shelf)
        shelf.needs = needs
        self._list(shelf)

    def next_with_room(
        self, free: Callable[[str], int], after: Turn | None, *, of_cards: bool = True
    ) -> Shelf | None:
        """The first shelf after a turn for which there is room enough in some dimension.

        Without `of_cards` only among those that ask for no card. Costs by the dimensions that
        somebody waits for, and by the different amounts in each for which there is room; not by who
        waits.
        """
        found = self._without_cards.next(free, after)
        if of_cards:
            other = self._with_cards.next(free, after)
            found = min(found, other) if found and other else found or other
        return found[1] if found else None

    def kinds(self) -> Iterator[Cards]:
        """The different choices of cards that somebody waits for."""
        return iter(self._by_cards)

    def first_of(self, cards: Cards, after: Turn | None) -> Shelf | None:
        """The first shelf after a turn of those that wait for just these cards."""
        row = self._by_cards.get(cards, [])
        place = bisect_right(row, after, key=_turn) if after else 0
        return row[place][1] if place < len(row) else None

    def _list(self, shelf: Shelf) -> None:
        (self._with_cards if shelf.cards else self._without_cards).add(shelf)
        if shelf.cards:
            insort(self._by_cards.setdefault(shelf.cards, []), (shelf.turn, shelf))

    def _unlist(self, shelf: Shelf) -> None:
        if not shelf:
            return
        (self._with_cards if shelf.cards else self._without_cards).discard(shelf)
        if shelf.cards:
            row = self._by_cards[shelf.cards]
            del row[bisect_left(row, (shelf.turn,))]
            if not row:
                del self._by_cards[shelf.cards]


class _ByNeed:
    """Shelves by dimension and by how much of it must be free, in the order of their turns."""

    __slots__ = ("_amounts", "_rows")

    def __init__(self) -> None:
        self._rows: dict[str, dict[int, _Row]] = {}
        self._amounts: dict[str, list[int]] = {}
        """By dimension: the keys of `_rows`, sorted."""

    def add(self, shelf: Shelf) -> None:
        """A shelf waits for what it needs; for one without needs nothing is done."""
        for dimension, need in shelf.needs.items():
            rows = self._rows.setdefault(dimension, {})
            row = rows.get(need)
            if row is None:
                row = rows[need] = []
                insort(self._amounts.setdefault(dimension, []), need)
            insort(row, (shelf.turn, shelf))

    def discard(self, shelf: Shelf) -> None:
        """The inverse of `add`, called with the shelf as it was then."""
        for dimension, need in shelf.needs.items():
            rows, amounts = self._rows[dimension], self._amounts[dimension]
            row = rows[need]
            del row[bisect_left(row, (shelf.turn,))]
            if not row:
                del rows[need], amounts[bisect_left(amounts, need)]
                if not rows:
                    del self._rows[dimension], self._amounts[dimension]

    def next(self, free: Callable[[str], int], after: Turn | None) -> tuple[Turn, Shelf] | None:
        """The first after a turn for which there is room enough in some dimension."""
        found: tuple[Turn, Shelf] | None = None
        for dimension, amounts in self._amounts.items():
            rows = self._rows[dimension]
            for need in amounts[: bisect_right(amounts, free(dimension))]:
                row = rows[need]
                place = bisect_right(row, after, key=_turn) if after else 0
                if place < len(row) and (found is None or row[place][0] < found[0]):
                    found = row[place]
        return found


def _turn(entry: tuple[Turn, Shelf]) -> Turn:
    return entry[0]
