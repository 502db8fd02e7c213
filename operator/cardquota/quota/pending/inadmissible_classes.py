"""Who waits for room, by how much room: a decision looks only at those for whom there is enough.

Candidates that ask for the same form an inadmissible class. It notes, per dimension, how much must
be free before its first could fit: that is necessary in one of them, though perhaps not sufficient.
"""

from collections.abc import Callable, Hashable, Iterator

from ..vocabulary import Reason
from .candidate import Candidate, InadmissibleClass, Needs, SortKey
from .demand import Demand
from .fifo_index import Cards, FifoIndex


class InadmissibleClasses:
    """All inadmissible classes of a queue, indexed by what they need.

    To put or take a candidate costs by the dimensions that its class waits for.
    """

    __slots__ = ("_by_signature", "_holding_up", "_passed_over", "_without_cards", "fifo_index")

    def __init__(self) -> None:
        self._by_signature: dict[Hashable, InadmissibleClass] = {}
        self._without_cards = _ByNeed()
        self._holding_up = _ByNeed()
        """Those that ask for cards and, in a fifo queue, hold up those behind them."""
        self._passed_over = _ByNeed()
        """Those that ask for cards and hold up nobody: looked at only if they have room."""
        self.fifo_index = FifoIndex()
        """Of all that ask for cards, but those that hold up nobody."""

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
        inadmissible = self._by_signature.get(signature)
        if inadmissible is None:
            inadmissible = self._by_signature[signature] = InadmissibleClass(signature, cards)
        self._unlist(inadmissible)
        inadmissible.put(candidate)
        inadmissible.needs, inadmissible.reason = needs, reason
        self._list(inadmissible)

    def take(self, candidate: Candidate) -> None:
        """A candidate waits for room no longer; does nothing for one that does not."""
        inadmissible = candidate.inadmissible
        if inadmissible is not None:
            self._unlist(inadmissible)
            inadmissible.take(candidate)
            if inadmissible:
                self._list(inadmissible)
            else:
                del self._by_signature[inadmissible.signature]

    def set_needs(self, inadmissible: InadmissibleClass, needs: Needs) -> None:
        """How much must be free before the first of a class is tried again."""
        self._unlist(inadmissible)
        inadmissible.needs = needs
        self._list(inadmissible)

    def set_holds_up(
        self, inadmissible: InadmissibleClass, *, holds_up: bool, aside: bool = False
    ) -> None:
        """Whether those behind a class have to wait in a fifo queue. `aside`: they have not, but
        the class itself has to wait for somebody before it, so it stays in the fifo order.
        """
        if (inadmissible.holds_up, inadmissible.aside) != (holds_up, aside):
            self._unlist(inadmissible)
            inadmissible.holds_up, inadmissible.aside = holds_up, aside
            self._list(inadmissible)

    def next_with_room(
        self, free: Callable[[str], int], after: SortKey | None, *, of_cards: bool = True
    ) -> InadmissibleClass | None:
        """The first class after a sort key for which there is room enough in some dimension.

        Without `of_cards` only among those that ask for no card, or hold up nobody. Costs by the
        dimensions that somebody waits for, whatever amounts they need of each.
        """
        found: tuple[SortKey, InadmissibleClass] | None = None
        for some in (self._without_cards, self._passed_over, self._holding_up):
            if of_cards or some is not self._holding_up:
                other = some.next(free, after)
                found = min(found, other) if found and other else found or other
        return found[1] if found else None

    def _list(self, inadmissible: InadmissibleClass) -> None:
        self._of(inadmissible).add(inadmissible)
        if self._in_fifo_order(inadmissible):
            self.fifo_index.add(inadmissible)

    def _unlist(self, inadmissible: InadmissibleClass) -> None:
        if not inadmissible:
            return
        self._of(inadmissible).discard(inadmissible)
        if self._in_fifo_order(inadmissible):
            self.fifo_index.discard(inadmissible)

    def _of(self, inadmissible: InadmissibleClass) -> "_ByNeed":
        if not inadmissible.cards:
            return self._without_cards
        return self._holding_up if self._in_fifo_order(inadmissible) else self._passed_over

    def _in_fifo_order(self, inadmissible: InadmissibleClass) -> bool:
        return bool(inadmissible.cards) and (inadmissible.holds_up or inadmissible.aside)


class _ByNeed:
    """Inadmissible classes by dimension and by how much of it must be free."""

    __slots__ = ("_demands",)

    def __init__(self) -> None:
        self._demands: dict[str, Demand] = {}

    def add(self, inadmissible: InadmissibleClass) -> None:
        """A class waits for what it needs; for one without needs nothing is done."""
        for dimension, need in inadmissible.needs.items():
            demand = self._demands.get(dimension)
            if demand is None:
                demand = self._demands[dimension] = Demand()
            demand.put(inadmissible.sort_key, need, inadmissible)

    def discard(self, inadmissible: InadmissibleClass) -> None:
        """The inverse of `add`, called with the class as it was then."""
        for dimension in inadmissible.needs:
            demand = self._demands[dimension]
            demand.take(inadmissible.sort_key)
            if not demand:
                del self._demands[dimension]

    def next(
        self, free: Callable[[str], int], after: SortKey | None
    ) -> tuple[SortKey, InadmissibleClass] | None:
        """The first after a sort key for which there is room enough in some dimension."""
        found: tuple[SortKey, InadmissibleClass] | None = None
        for dimension, demand in self._demands.items():
            other = demand.first(free(dimension), after)
            if other is not None and (found is None or other[0] < found[0]):
                found = other
        return found
