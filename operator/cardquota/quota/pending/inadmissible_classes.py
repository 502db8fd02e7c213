"""Who waits for room, by how much room: a decision looks at those alone for whom there is enough.

Candidates that ask for the same share a shelf. A shelf notes, per dimension, how much must be free
before its first could fit: more in one of them is necessary, though perhaps not sufficient.
"""

from collections.abc import Callable, Hashable, Iterator

from ..vocabulary import Reason
from .candidate import Candidate, InadmissibleClass, Needs, SortKey
from .demand import Demand
from .kinds import Cards, Kinds


class InadmissibleClasses:
    """All shelves of a line, and which of them has how much to wait for.

    What is put and taken costs by the dimensions that its shelf waits for.
    """

    __slots__ = ("_by_signature", "_holding_up", "_passed_over", "_without_cards", "kinds")

    def __init__(self) -> None:
        self._by_signature: dict[Hashable, InadmissibleClass] = {}
        self._without_cards = _ByNeed()
        self._holding_up = _ByNeed()
        """Those that ask for cards and, in a fifo queue, hold up those behind them."""
        self._passed_over = _ByNeed()
        """Those that ask for cards and hold up nobody: of interest only if they have room."""
        self.kinds = Kinds()
        """Of all that ask for cards, but those that are passed over."""

    def __iter__(self) -> Iterator[InadmissibleClass]:
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
            shelf = self._by_signature[signature] = InadmissibleClass(signature, cards)
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

    def note(self, shelf: InadmissibleClass, needs: Needs) -> None:
        """How much must be free before the first of a shelf is tried again."""
        self._unlist(shelf)
        shelf.needs = needs
        self._list(shelf)

    def hold(self, shelf: InadmissibleClass, *, holds_up: bool, aside: bool = False) -> None:
        """Whether those behind a shelf have to wait in a fifo queue. `aside`: though they have not,
        it stands among those that do, for somebody before it holds it up itself.
        """
        if (shelf.holds_up, shelf.aside) != (holds_up, aside):
            self._unlist(shelf)
            shelf.holds_up, shelf.aside = holds_up, aside
            self._list(shelf)

    def next_with_room(
        self, free: Callable[[str], int], after: SortKey | None, *, of_cards: bool = True
    ) -> InadmissibleClass | None:
        """The first shelf after a turn for which there is room enough in some dimension.

        Without `of_cards` only among those that ask for no card, or hold up nobody. Costs by the
        dimensions that somebody waits for, whatever amounts they need of each.
        """
        found: tuple[SortKey, InadmissibleClass] | None = None
        for some in (self._without_cards, self._passed_over, self._holding_up):
            if of_cards or some is not self._holding_up:
                other = some.next(free, after)
                found = min(found, other) if found and other else found or other
        return found[1] if found else None

    def _list(self, shelf: InadmissibleClass) -> None:
        self._of(shelf).add(shelf)
        if self._in_line(shelf):
            self.kinds.add(shelf)

    def _unlist(self, shelf: InadmissibleClass) -> None:
        if not shelf:
            return
        self._of(shelf).discard(shelf)
        if self._in_line(shelf):
            self.kinds.discard(shelf)

    def _of(self, shelf: InadmissibleClass) -> "_ByNeed":
        if not shelf.cards:
            return self._without_cards
        return self._holding_up if self._in_line(shelf) else self._passed_over

    def _in_line(self, shelf: InadmissibleClass) -> bool:
        return bool(shelf.cards) and (shelf.holds_up or shelf.aside)


class _ByNeed:
    """Shelves by dimension and by how much of it must be free."""

    __slots__ = ("_demands",)

    def __init__(self) -> None:
        self._demands: dict[str, Demand] = {}

    def add(self, shelf: InadmissibleClass) -> None:
        """A shelf waits for what it needs; for one without needs nothing is done."""
        for dimension, need in shelf.needs.items():
            demand = self._demands.get(dimension)
            if demand is None:
                demand = self._demands[dimension] = Demand()
            demand.put(shelf.turn, need, shelf)

    def discard(self, shelf: InadmissibleClass) -> None:
        """The inverse of `add`, called with the shelf as it was then."""
        for dimension in shelf.needs:
            demand = self._demands[dimension]
            demand.take(shelf.turn)
            if not demand:
                del self._demands[dimension]

    def next(
        self, free: Callable[[str], int], after: SortKey | None
    ) -> tuple[SortKey, InadmissibleClass] | None:
        """The first after a turn for which there is room enough in some dimension."""
        found: tuple[SortKey, InadmissibleClass] | None = None
        for dimension, demand in self._demands.items():
            other = demand.first(free(dimension), after)
            if other is not None and (found is None or other[0] < found[0]):
                found = other
        return found
