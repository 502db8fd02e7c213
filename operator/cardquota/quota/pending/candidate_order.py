"""The candidates of a queue in order: those to be tried, and what waits for room, by how much.

A decision looks only at classes with enough room. Candidates that ask for the same form an
inadmissible class. It notes, by dimension, how much must be free before its first could fit. One of
these must be met; that may still not suffice.
"""

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

from ..limits import BORROWERS
from .candidate import Candidate, InadmissibleClass, ReleaseKey, Room, Shortage

_Place = tuple[ReleaseKey, InadmissibleClass]
"""No two classes have the same key."""
_What = TypeVar("_What")
_SLACK: Final = 64
"""Outdated entries that are allowed beyond twice the number of valid ones."""


class ActiveCandidates:
    """Those to be tried whatever room there is: a heap, filled bit by bit, as only a replica that
    decides puts them in order.
    """

    def __init__(self) -> None:
        self._candidates: dict[Candidate, int] = {}
        """With the number of its entry in `_order`; 0: it has none yet."""
        self.unordered: dict[Candidate, None] = {}
        """Those without an entry yet. While there are any, `first` may be wrong."""
        self._order: list[tuple[ReleaseKey, int, Candidate]] = []
        """A heap of place, entry number and candidate. Entries of candidates that are no longer
        active, or active anew, are skipped."""
        self._entries = 0

    def __len__(self) -> int:
        return len(self._candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._candidates)

    def __contains__(self, candidate: object) -> bool:
        return candidate in self._candidates

    def add(self, candidate: Candidate) -> None:
        """It is to be tried, at its place as it is when it is put in order."""
        self._candidates[candidate] = 0
        self.unordered[candidate] = None

    def discard(self, candidate: Candidate) -> bool:
        """It is not to be tried any more. Returns whether it was."""
        self.unordered.pop(candidate, None)
        return self._candidates.pop(candidate, None) is not None

    def put_one_in_order(self) -> bool:
        """Returns whether there was any."""
        if not self.unordered:
            return False
        candidate = self.unordered.popitem()[0]
        self._entries += 1
        candidate.indexed_key = candidate.release_key
        self._candidates[candidate] = self._entries
        heapq.heappush(self._order, (candidate.indexed_key, self._entries, candidate))
        if len(self._order) > 2 * len(self._candidates) + _SLACK:
            # Too few cycles run to their end, so outdated entries have piled up.
            self._order, self.unordered = [], dict.fromkeys(self._candidates)
        return True

    def first(self) -> Candidate | None:
        """The first of those that are in order."""
        while self._order:
            _, number, candidate = self._order[0]
            if self._candidates.get(candidate) == number:
                return candidate
            heapq.heappop(self._order)
        return None


class InadmissibleClasses:
    """All inadmissible classes of a queue, indexed by what they need.

    Adding or removing a candidate costs by the dimensions that its class waits for.
    """

    def __init__(self) -> None:
        self._by_signature: dict[Hashable, InadmissibleClass] = {}
        self._by_need: dict[Room, dict[int, list[_Place]]] = {}
        """Those that wait for a dimension, by how much of it they need, in the order of release."""
        self._closing: dict[frozenset[str], list[_Place]] = {}
        """Those that may close cards to others, by what they ask for, in the order of release."""

    def __iter__(self) -> Iterator[InadmissibleClass]:
        return iter(list(self._by_signature.values()))

    def __len__(self) -> int:
        return len(self._by_signature)

    def put(
        self, candidate: Candidate, signature: Hashable, asked: frozenset[str], shortage: Shortage
    ) -> None:
        """A candidate was tried and waits for room. `asked`: what it asks for, the same for all
        candidates with this signature.
        """
        inadmissible = self._by_signature.get(signature)
        if inadmissible is None:
            inadmissible = InadmissibleClass(signature, asked, shortage)
            self._by_signature[signature] = inadmissible
        self._unlist(inadmissible)
        inadmissible.put(candidate)
        inadmissible.shortage = shortage
        self._list(inadmissible)

    def take(self, candidate: Candidate) -> None:
        """A candidate no longer waits for room. Does nothing for one that did not."""
        inadmissible = candidate.inadmissible
        if inadmissible is not None:
            self._unlist(inadmissible)
            inadmissible.take(candidate)
            self._list(inadmissible)
            if not inadmissible:
                del self._by_signature[inadmissible.signature]

    def move(self, candidate: Candidate) -> None:
        """A candidate has another place now. Does nothing for one that does not wait for room."""
        inadmissible = candidate.inadmissible
        if inadmissible is not None:
            self._unlist(inadmissible)
            inadmissible.take(candidate)
            inadmissible.put(candidate)
            self._list(inadmissible)

    def set_shortage(self, inadmissible: InadmissibleClass, shortage: Shortage) -> None:
        """Set what a class lacks, and so when its first is tried again."""
        self._unlist(inadmissible)
        inadmissible.shortage = shortage
        self._list(inadmissible)

    def with_room(
        self, free: Callable[[Room], int], after: ReleaseKey | None
    ) -> list[tuple[Room, InadmissibleClass]]:
        """Of each dimension the first class after a place with enough room; the last of them first.

        Costs a step for each different amount that is needed: few of a card, 20,000 of cpu or
        memory at worst, which is about 10 ms.
        """
        found = list[tuple[Room, InadmissibleClass]]()
        for room, rows in self._by_need.items():
            enough = free(room)
            fit = (_first_after(row, after) for need, row in rows.items() if need <= enough)
            first = min((place for place in fit if place is not None), key=_key, default=None)
            if first is not None:
                found.append((room, first[1]))
        return sorted(found, key=lambda one: one[1].release_key, reverse=True)

    @property
    def closing(self) -> Collection[frozenset[str]]:
        """What those ask for that may close cards to others; each set once."""
        return self._closing

    def first_closing(
        self,
        asked: frozenset[str],
        after: ReleaseKey | None,
        may_close: Callable[[ReleaseKey], bool],
    ) -> InadmissibleClass | None:
        """The first class after a place that asks for exactly this and closes cards."""
        row = self._closing.get(asked, ())
        begin = bisect_right(row, after, key=_key) if after is not None else 0
        for index in range(begin, len(row)):
            key, inadmissible = row[index]
            if may_close(key):
                return inadmissible
        return None

    def _list(self, inadmissible: InadmissibleClass) -> None:
        if not inadmissible:
            return
        key, shortage = inadmissible.release_key, inadmissible.shortage
        for room, need in shortage.needs.items():
            rows = self._by_need.setdefault(room, {})
            insort(rows.setdefault(need, []), (key, inadmissible))
        if shortage.closes:
            insort(self._closing.setdefault(inadmissible.asked, []), (key, inadmissible))

    def _unlist(self, inadmissible: InadmissibleClass) -> None:
        """The inverse. Call it with the class unchanged since then."""
        if not inadmissible:
            return
        key, shortage = inadmissible.release_key, inadmissible.shortage
        for room, need in shortage.needs.items():
            _take_out(self._by_need[room], need, key)
            if not self._by_need[room]:
                del self._by_need[room]
        if shortage.closes:
            _take_out(self._closing, inadmissible.asked, key)


def _take_out(rows: dict[_What, list[_Place]], what: _What, key: ReleaseKey) -> None:
    row = rows[what]
    # A shorter tuple sorts first: this is the place of the only entry with that key.
    del row[bisect_left(row, (key,))]
    if not row:
        del rows[what]


def _first_after(row: list[_Place], after: ReleaseKey | None) -> _Place | None:
    index = bisect_right(row, after, key=_key) if after is not None else 0
    return row[index] if index < len(row) else None


def _key(place: _Place) -> ReleaseKey:
    return place[0]


class Borrowers:
    """By what makes them: of the pods of one maker the first is looked at. Adding costs a step or
    two.
    """

    __slots__ = ("_found", "_seen", "to_look_at")

    def __init__(self) -> None:
        self._found: dict[Hashable, dict[str, None]] = {}
        """By maker: uids."""
        self._seen: object = None
        self.to_look_at: dict[Hashable, None] = {}
        """Makers whose pods were not looked at since something has changed."""

    def __len__(self) -> int:
        return len(self._found)

    def add(self, maker: Hashable, uid: str) -> None:
        """A pod waits. Does nothing where there are too many to keep it (P8)."""
        if maker in self._found or len(self._found) < BORROWERS.most:
            self._found.setdefault(maker, {})[uid] = None
            self.to_look_at[maker] = None

    def discard(self, maker: Hashable, uid: str) -> None:
        """It waits no longer. Does nothing for one that was not kept."""
        uids = self._found.get(maker)
        if uids is None:
            return
        uids.pop(uid, None)
        if not uids:
            del self._found[maker]
            self.to_look_at.pop(maker, None)

    def look_again(self, makers: Iterable[Hashable]) -> bool:
        """Something has changed for pods of these makers. Returns whether any of them waits."""
        some = [maker for maker in makers if maker in self._found]
        self.to_look_at.update(dict.fromkeys(some))
        return bool(some)

    def begin(self, state: object) -> None:
        """Look at all of them if `state` differs from the last one."""
        if self._found and state != self._seen:
            self._seen = state
            self.to_look_at.update(dict.fromkeys(self._found))

    def take(self, most: int) -> list[str]:
        """The first pods of at most so many makers that are to be looked at. They count as looked
        at, also if the caller looks at some of them only: what comes first may change the state.
        """
        makers = list(islice(self.to_look_at, most))
        for maker in makers:
            del self.to_look_at[maker]
        return [next(iter(self._found[maker])) for maker in makers]
