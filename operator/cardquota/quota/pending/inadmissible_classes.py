"""What waits for room, by how much room: a decision looks only at classes with enough room.

Candidates that ask for the same form an inadmissible class. It notes, by dimension, how much must
be free before its first could fit. One of these must be met; that may still not suffice.
"""

from collections.abc import Callable, Hashable, Iterator

from ..vocabulary import Reason
from .candidate import ANYTHING, Candidate, InadmissibleClass, Needs, Room
from .demand import Demand
from .fifo_index import Cards, FifoIndex
from .long_waits import LongWaits
from .release_key import ReleaseKey


class InadmissibleClasses:
    """All inadmissible classes of a queue, indexed by what they need.

    Adding or removing a candidate costs by the dimensions that its class waits for.
    """

    __slots__ = (
        "_by_signature",
        "_holding_up",
        "_passed_over",
        "_without_cards",
        "behind",
        "fifo_index",
        "long_waits",
        "with_choice",
    )

    def __init__(self) -> None:
        self._by_signature: dict[Hashable, InadmissibleClass] = {}
        self._without_cards = _ByNeed()
        self._holding_up = _ByNeed()
        """Classes that ask for cards and, in a fifo queue, hold up the classes behind them."""
        self._passed_over = _ByNeed()
        """Classes that ask for cards and hold up no other: tried only if they have room."""
        self.fifo_index = FifoIndex()
        """All classes that ask for cards, except those in `_passed_over`."""
        self.long_waits = LongWaits()
        self.behind: dict[str, dict[InadmissibleClass, None]] = {}
        """By uid of one who has waited too long: the classes that are told to wait behind him."""
        self.with_choice: set[str] = set()
        """The uids of those for whom something is set aside with a choice of cards. As long as
        there is one, needs that were found before him do not hold behind him."""

    def __iter__(self) -> Iterator[InadmissibleClass]:
        return iter(list(self._by_signature.values()))

    def __len__(self) -> int:
        return len(self._by_signature)

    def put(
        self,
        candidate: Candidate,
        signature: Hashable,
        needs: Needs,
        reason: Reason | None,
        cards: Cards,
        *,
        behind: str = "",
    ) -> None:
        """A candidate was tried and waits for room, for this reason.

        `cards`: those that it asks for. `behind`: the uid of the one behind whom it waits, who has
        waited too long. Both are the same for all candidates with this signature.
        """
        inadmissible = self._by_signature.get(signature)
        if inadmissible is None:
            inadmissible = self._by_signature[signature] = InadmissibleClass(
                signature, cards, behind
            )
            if behind:
                self.behind.setdefault(behind, {})[inadmissible] = None
        self._unlist(inadmissible)
        inadmissible.put(candidate)
        inadmissible.needs, inadmissible.reason = needs, reason
        self._list(inadmissible)

    def take(self, candidate: Candidate) -> None:
        """A candidate no longer waits for room. Does nothing for one that did not."""
        inadmissible = candidate.inadmissible
        if inadmissible is not None:
            self.long_waits.discard(candidate)
            self._unlist(inadmissible)
            if self.with_choice and candidate is inadmissible.first:
                inadmissible.needs = ANYTHING
            inadmissible.take(candidate)
            if inadmissible:
                self._list(inadmissible)
            else:
                self._forget(inadmissible)

    def _forget(self, inadmissible: InadmissibleClass) -> None:
        del self._by_signature[inadmissible.signature]
        those = self.behind.get(inadmissible.behind)
        if those is not None:
            those.pop(inadmissible, None)
            if not those:
                del self.behind[inadmissible.behind]

    def move(self, candidate: Candidate) -> None:
        """A candidate has another place now. Does nothing for one that does not wait for room.

        What it needs and whether it is blocked stay: a pass that has begun still finds it.
        """
        inadmissible = candidate.inadmissible
        if inadmissible is None:
            return
        ordered, cards = self._in_fifo_order(inadmissible), inadmissible.cards
        blocker = self.fifo_index.blocker_of(cards) if ordered else ""
        self._unlist(inadmissible)
        inadmissible.take(candidate)
        inadmissible.put(candidate)
        self._list(inadmissible)
        self.long_waits.reindex(candidate)
        if ordered:
            self.fifo_index.set_blocker(cards, blocker)

    def set_needs(self, inadmissible: InadmissibleClass, needs: Needs) -> None:
        """Set how much must be free before the first of a class is tried again."""
        self._unlist(inadmissible)
        inadmissible.needs = needs
        self._list(inadmissible)

    def set_holds_up(
        self, inadmissible: InadmissibleClass, *, holds_up: bool, aside: bool = False
    ) -> None:
        """Set whether the classes behind this one have to wait in a fifo queue. `aside`: they need
        not, but this class has to wait for one before it, so it stays in the fifo order.
        """
        if (inadmissible.holds_up, inadmissible.aside) != (holds_up, aside):
            self._unlist(inadmissible)
            inadmissible.holds_up, inadmissible.aside = holds_up, aside
            self._list(inadmissible)

    def next_with_room(
        self, free: Callable[[Room], int], after: ReleaseKey | None, *, of_cards: bool = True
    ) -> InadmissibleClass | None:
        """The first class after a place with enough room in some dimension.

        Without `of_cards`, only classes that ask for no card or hold up no other. Costs by the
        number of dimensions that classes wait for, whatever amounts they need.
        """
        found: tuple[ReleaseKey, InadmissibleClass] | None = None
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
    """Inadmissible classes by dimension and by how much of it they need."""

    __slots__ = ("_demands",)

    def __init__(self) -> None:
        self._demands: dict[Room, Demand] = {}

    def add(self, inadmissible: InadmissibleClass) -> None:
        """A class waits for what it needs. Does nothing for a class without needs."""
        for dimension, need in inadmissible.needs.items():
            demand = self._demands.get(dimension)
            if demand is None:
                demand = self._demands[dimension] = Demand()
            demand.put(inadmissible.release_key, need, inadmissible)

    def discard(self, inadmissible: InadmissibleClass) -> None:
        """The inverse of `add`. Call it with the class unchanged since then."""
        for dimension in inadmissible.needs:
            demand = self._demands[dimension]
            demand.take(inadmissible.release_key)
            if not demand:
                del self._demands[dimension]

    def next(
        self, free: Callable[[Room], int], after: ReleaseKey | None
    ) -> tuple[ReleaseKey, InadmissibleClass] | None:
        """The first class after a place with enough room in some dimension."""
        found: tuple[ReleaseKey, InadmissibleClass] | None = None
        for dimension, demand in self._demands.items():
            other = demand.first(free(dimension), after)
            if other is not None and (found is None or other[0] < found[0]):
                found = other
        return found
