"""Who waits for room, by how long: those who have waited too long hold up those behind (E6).

Of all that want the same cards and differ in nothing but their age and name, only the oldest
counts, and what it asks for is kept with it.
"""

from bisect import bisect_left, bisect_right, insort
from typing import Final, NamedTuple

from ..amounts import Charge
from ..pods.pod_request import CardChoice
from .candidate import Candidate
from .fifo_index import Cards
from .readiness import Readiness
from .release_key import ReleaseKey

Asked = tuple[Charge, tuple[tuple[CardChoice, int], ...]]
"""Amounts of what there is no choice of, and choices with their number."""

LAST_KEPT: Final = 256
"""Those of whom it is kept what they last asked for: more than something is set aside for at once.
"""

GROWN_AT_A_TIME: Final = 256
"""Rows of which the first is found to have waited too long in one step."""


class _Row(NamedTuple):
    """Within it the order of release is that of creation, of jobs where pods belong to one."""

    cards: Cards
    readiness: Readiness
    negated_priority: int
    share: int


class LongWaits:
    """The candidates of one queue that lack room, by creation time.

    Adding, discarding or finding one costs by the logarithm of their number.
    """

    __slots__ = ("_asked", "_asked_last", "_epochs", "_long", "_places", "_rows", "_uids", "_young")

    def __init__(self) -> None:
        self._places: dict[Candidate, tuple[_Row, ReleaseKey]] = {}
        self._uids: set[str] = set()
        self._rows: dict[_Row, list[tuple[ReleaseKey, Candidate]]] = {}
        """Each in the order of release."""
        self._young: list[tuple[str, ReleaseKey, Candidate]] = []
        """The first of each row that has not waited too long, by creation time."""
        self._long: list[tuple[ReleaseKey, Candidate]] = []
        """The first of each other row, in the order of release."""
        self._epochs: dict[Candidate, int] = {}
        self._asked: dict[Candidate, Asked] = {}
        self._asked_last: dict[str, Asked] = {}
        """By uid of the first pod, or of the group: also of those that were discarded since."""

    def __contains__(self, candidate: Candidate) -> bool:
        """Whether a candidate lacks room."""
        return candidate in self._places

    def has(self, uid: str) -> bool:
        """Whether a candidate whose first pod, or whose group, has this uid lacks room."""
        return uid in self._uids

    def add(self, candidate: Candidate, cards: Cards, epoch: int) -> None:
        """A candidate was judged, and lacks room for these cards. `epoch`: of the known cards."""
        self._epochs[candidate] = epoch
        if candidate in self._places:
            return
        key = candidate.indexed_key
        name = _Row(cards, key.readiness, key.negated_priority, key.share)
        self._places[candidate] = name, key
        self._uids.add(key.uid)
        row = self._rows.setdefault(name, [])
        before = row[0] if row else None
        insort(row, (key, candidate))
        self._first_changed(before, row[0])

    def discard(self, candidate: Candidate) -> None:
        """A candidate is to be tried, or gone. Does nothing for one that was not added."""
        place = self._places.pop(candidate, None)
        if place is None:
            return
        name, key = place
        self._uids.discard(key.uid)
        self._asked.pop(candidate, None)
        del self._epochs[candidate]
        row = self._rows[name]
        before = row[0]
        del row[bisect_left(row, (key,))]
        self._first_changed(before, row[0] if row else None)
        if not row:
            del self._rows[name]

    def reindex(self, candidate: Candidate) -> None:
        """A candidate has another place now. Does nothing for one that was not added."""
        found = self._places.get(candidate)
        if found is not None:
            row, _ = found
            epoch = self._epochs[candidate]
            self.discard(candidate)
            self.add(candidate, row.cards, epoch)

    def epoch_of(self, candidate: Candidate) -> int:
        """When it was judged: what it waits for may be unknown by now, and never come."""
        return self._epochs[candidate]

    def grow_old(self, cutoff: str) -> bool:
        """Who was created at this time or before has waited too long. Who has lost its place (E8)
        never has: its creation time is written as later than any.

        One call finds a bounded number of them. Returns whether all are found.
        """
        number = bisect_right(self._young, cutoff, key=_created)
        found = self._young[: min(number, GROWN_AT_A_TIME)]
        del self._young[: len(found)]
        for _, key, candidate in found:
            insort(self._long, (key, candidate))
        return len(found) == number

    def first_after(self, key: ReleaseKey | None) -> tuple[ReleaseKey, Candidate] | None:
        """The first after a place that has waited too long."""
        place = bisect_right(self._long, key, key=_release_key) if key else 0
        return self._long[place] if place < len(self._long) else None

    def asked(self, candidate: Candidate) -> Asked | None:
        """What was kept for a candidate."""
        return self._asked.get(candidate)

    def keep(self, candidate: Candidate, asked: Asked) -> bool:
        """Keep what it asks for until it is discarded. Returns whether it asked for something else
        the last time, as a gang that had other members.
        """
        self._asked[candidate] = asked
        uid = candidate.indexed_key.uid
        before = self._asked_last.pop(uid, None)
        self._asked_last[uid] = asked
        if len(self._asked_last) > LAST_KEPT:
            del self._asked_last[next(iter(self._asked_last))]
        return before is not None and before != asked

    def _first_changed(
        self, before: tuple[ReleaseKey, Candidate] | None, now: tuple[ReleaseKey, Candidate] | None
    ) -> None:
        if before is now:
            return
        if before is not None:
            key, _ = before
            place = bisect_left(self._long, (key,))
            if place < len(self._long) and self._long[place][0] == key:
                del self._long[place]
            else:
                del self._young[bisect_left(self._young, (key.made, key))]
        if now is not None:
            key, candidate = now
            if key.readiness is Readiness.INCOMPLETE:
                # What its gang holds meanwhile is of no use: it has waited too long at once.
                insort(self._long, (key, candidate))
            else:
                insort(self._young, (key.made, key, candidate))


def _created(entry: tuple[str, ReleaseKey, Candidate]) -> str:
    return entry[0]


def _release_key(entry: tuple[ReleaseKey, Candidate]) -> ReleaseKey:
    return entry[0]
