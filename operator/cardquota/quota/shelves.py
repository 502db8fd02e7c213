"""Who waits for room, by how much room: a decision looks at those alone for whom there is enough.

Candidates that ask for the same share a shelf. A shelf notes, per dimension, how much must be free
before its first could fit: more in one of them is necessary, though perhaps not sufficient.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Hashable, Iterator

from .candidate import Candidate, Needs, Shelf, Turn
from .vocabulary import Reason


class Shelves:
    """All shelves of a line, and which of them has how much to wait for."""

    __slots__ = ("_by_signature", "_rows")

    def __init__(self) -> None:
        self._by_signature: dict[Hashable, Shelf] = {}
        self._rows: dict[str, dict[int, list[tuple[Turn, Shelf]]]] = {}
        """By dimension and by how much must be free: shelves, by their turns."""

    def __iter__(self) -> Iterator[Shelf]:
        return iter(list(self._by_signature.values()))

    def put(
        self, candidate: Candidate, signature: Hashable, needs: Needs, reason: Reason | None
    ) -> None:
        """A candidate was tried, told why it waits, and waits for room."""
        shelf = self._by_signature.get(signature)
        if shelf is None:
            shelf = self._by_signature[signature] = Shelf(signature)
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

    def next_with_room(self, free: Callable[[str], int], after: Turn | None) -> Shelf | None:
        """The first shelf after a turn for which there is room enough in some dimension.

        Costs by the dimensions that somebody waits for and the different amounts in each, not by
        who waits.
        """
        found: tuple[Turn, Shelf] | None = None
        for dimension, rows in self._rows.items():
            room = free(dimension)
            for need, row in rows.items():
                if need > room:
                    continue
                place = bisect_right(row, after, key=_turn) if after else 0
                if place < len(row) and (found is None or row[place][0] < found[0]):
                    found = row[place]
        return found[1] if found else None

    def _list(self, shelf: Shelf) -> None:
        for dimension, need in shelf.needs.items():
            row = self._rows.setdefault(dimension, {}).setdefault(need, [])
            insort(row, (shelf.turn, shelf))

    def _unlist(self, shelf: Shelf) -> None:
        if not shelf:
            return
        for dimension, need in shelf.needs.items():
            rows = self._rows[dimension]
            row = rows[need]
            del row[bisect_left(row, (shelf.turn,))]
            if not row:
                del rows[need]
                if not rows:
                    del self._rows[dimension]


def _turn(entry: tuple[Turn, Shelf]) -> Turn:
    return entry[0]
