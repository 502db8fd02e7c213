"""Who waits at a queue's gate, so that a decision costs by what can be released.

Pods stand in lanes; a lane, or the lanes of a gang that starts whole, is a candidate. One that is
*active* is to be tried: something about it changed. One that was tried and lacks room is on a
shelf until there is as much as it needs. One that waits for anything else is *blocked* until that
changes, which wakes it.
"""

import heapq
from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Final

from ..pods.charge_state import ChargeState
from ..pods.pod_record import PodRecord
from ..vocabulary import Reason
from .candidate import Candidate, InadmissibleClass, Needs, PodClass, SortKey
from .gang import Gang
from .inadmissible_classes import InadmissibleClasses
from .kinds import Cards
from .untold import Untold

_DENY: Final = ChargeState.GATED_DENY
_ANYTHING: Final[Needs] = {"": -(2**62)}
"""Room that there always is."""
_SLACK: Final = 64
"""Entries that may be out of date, beyond as many as there are good ones."""
_AT_A_TIME: Final = 64
"""Candidates that are woken in one step."""
_OF_KNOWLEDGE: Final = (Reason.INVALID_CARD, Reason.CARD_NOT_IN_QUOTA, Reason.NODE_WITHOUT_CARD)
"""Why somebody waits who may stand otherwise when another card is known."""


class _Members:
    """Those of one gang that wait in a line."""

    __slots__ = ("changed", "lanes", "one_by_one")

    def __init__(self) -> None:
        self.lanes: dict[Hashable, PodClass] = {}
        self.changed: dict[PodClass, None] = {}
        """Whom somebody joined or left since candidates were made of them."""
        self.one_by_one: Hashable = None
        """What the gang said of itself then."""


class PendingQueue:
    """The line of one queue."""

    __slots__ = (
        "_active",
        "_blocked",
        "_by_gang",
        "_count",
        "_entries",
        "_epoch",
        "_noted_in_vain",
        "_order",
        "_puzzled",
        "_refreshing",
        "_roused",
        "_stale",
        "_unordered",
        "_waking",
        "deny_lanes",
        "lanes",
        "queue",
        "shelves",
        "untold",
    )

    def __init__(self, queue: str = "") -> None:
        self.queue = queue
        self.lanes: dict[Hashable, PodClass] = {}
        self.deny_lanes: dict[Hashable, int] = {}
        """Keys of the lanes in which pods with policy Deny wait, and how many do."""
        self.shelves = InadmissibleClasses()
        self._count = 0
        self._active: dict[Candidate, int] = {}
        """Whom to try whatever room there is, with the number of the entry in `_order`."""
        self._unordered: dict[Candidate, None] = {}
        """Those of them that have no entry yet: where nobody decides, nobody is put in order."""
        self._order: list[tuple[SortKey, int, Candidate]] = []
        """A heap; entries of those that are not active any more, or again, are passed over."""
        self._entries = 0
        self._blocked: dict[Candidate, None] = {}
        self._puzzled: dict[Candidate, None] = {}
        """Those that are to be tried when another card is known."""
        self._roused: dict[Candidate, None] = {}
        """Those of whom one was, and who are still to be woken."""
        self._waking: dict[InadmissibleClass, None] = {}
        """Shelves whose candidates are to be woken."""
        self._by_gang: dict[Gang, _Members] = {}
        self._stale: dict[Gang, None] = {}
        """Gangs that changed: their members may go together now, or one by one."""
        self._epoch = 0
        self._noted_in_vain = False
        self._refreshing: Iterator[None] | None = None
        self.untold = Untold()
        """Of those who are on a shelf, or blocked."""

    def __len__(self) -> int:
        return self._count

    @property
    def blocked(self) -> bool:
        """Whether somebody waits for something else than room."""
        return bool(self._blocked) or self.puzzled

    @property
    def puzzled(self) -> bool:
        """Whether somebody waits until another card is known."""
        return bool(self._puzzled or self._roused)

    def turns_of(self, gang: Gang) -> Iterator[SortKey]:
        """Of the members of a gang that wait here, in the order of release."""
        members = self._by_gang.get(gang)
        lanes = members.lanes.values() if members else ()
        return heapq.merge(*(lane.turns for lane in lanes))

    def number_of(self, gang: Gang) -> int:
        """How many members of a gang wait here. Costs a step for each kind of them."""
        members = self._by_gang.get(gang)
        return sum(len(lane.turns) for lane in members.lanes.values()) if members else 0

    def uids(self) -> Iterator[str]:
        """All that wait."""
        return (turn[-1] for lane in self.lanes.values() for turn in lane.turns)

    def join(self, record: PodRecord, key: Hashable, gang: Gang | None = None) -> None:
        """A pod begins to wait in a lane; the pods of a lane have the same gang, or none."""
        lane = self.lanes.get(key)
        if lane is None:
            lane = self.lanes[key] = PodClass(gang, key)
        record.lane = lane.key
        lane.join(record.turn)
        self._count += 1
        if record.charge_state is _DENY:
            self.deny_lanes[key] = self.deny_lanes.get(key, 0) + 1
        if gang is None:
            self._wake(lane.candidate or Candidate([lane]))
            return
        members = self._by_gang.get(gang)
        if members is None:
            members = self._by_gang[gang] = _Members()
        members.lanes[key] = lane
        members.changed[lane] = None
        gang.lines[self] = None
        self._stale[gang] = None

    def leave(self, record: PodRecord) -> None:
        """A pod waits no longer; called with the facts it joined with."""
        key, record.lane = record.lane, None
        if key is None:
            return
        lane = self.lanes[key]
        lane.leave(record.turn)
        self._count -= 1
        if record.charge_state is _DENY:
            self.deny_lanes[key] -= 1
            if not self.deny_lanes[key]:
                del self.deny_lanes[key]
        if not lane.turns:
            del self.lanes[key]
            self.untold.discard(lane)
        if lane.gang is not None:
            self._leave_gang(lane.gang, key, lane)
        elif lane.candidate is not None:
            self._drop(lane.candidate)
            if lane.turns:
                self._wake(lane.candidate)
            else:
                lane.candidate = None  # no circle is left for the collector to find

    def regroup(self, gang: Gang) -> None:
        """A gang's minimum, reservation or members changed."""
        self._stale[gang] = None

    # --- who is to be tried -------------------------------------------------------------------

    def refresh(self, epoch: int) -> bool:
        """Wake those that may stand otherwise now, and put in order whom to try; some in each call.

        Whether there are more: then nobody is to be tried yet, for one of them may come before the
        first who is active. `epoch` differs from the last one if what is known of cards changed.
        """
        if epoch != self._epoch:
            self._epoch = epoch
            if self._roused:
                self._roused.update(self._puzzled)
            else:
                self._roused = self._puzzled
            self._puzzled = {}
        if self._refreshing is None:
            self._refreshing = self._refresh()
        if sum(1 for _ in islice(self._refreshing, _AT_A_TIME)) == _AT_A_TIME:
            return True
        self._refreshing = None
        # An event between two steps may have brought what a loop that was over would have taken.
        return bool(
            self._stale or self._noted_in_vain or self._waking or self._roused or self._unordered
        )

    def _refresh(self) -> Iterator[None]:
        """One candidate after the other. Whatever happens between two steps may bring more."""
        while self._stale:
            yield from self._regroup(self._stale.popitem()[0])
        if self._noted_in_vain:
            self._noted_in_vain = False
            for shelf in self.shelves:
                if shelf:
                    self.shelves.note(shelf, _ANYTHING)
                yield
        while self._waking:
            shelf = next(iter(self._waking))
            while shelf:
                self._wake(shelf.last)
                yield
            del self._waking[shelf]
        while self._roused:
            self._wake(self._roused.popitem()[0])
            yield
        while self._unordered:
            self._put_in_order(self._unordered.popitem()[0])
            yield

    def _regroup(self, gang: Gang) -> Iterator[None]:
        """Make candidates of a gang's lanes anew: of all of them together, or of each.

        Where members go one by one, and nothing that concerns all of them changed, only of those
        lanes that did: else every one that goes would have all others tried again.
        """
        members, started = self._by_gang[gang], gang.started
        before, members.one_by_one = members.one_by_one, gang.one_by_one
        alike = before is not None and before == members.one_by_one
        lanes = list(members.changed if alike else members.lanes.values())
        members.changed = {}
        for lane in lanes:
            if lane.candidate is not None:
                self._dissolve(lane.candidate)
            if started and lane.turns:
                self._wake(Candidate([lane]))
            yield
        left = [] if started else [lane for lane in lanes if lane.turns]
        if left:
            self._wake(Candidate(left, gang))

    def next_active(self) -> Candidate | None:
        """The first of those to be tried whatever room there is."""
        while self._order:
            _, number, candidate = self._order[0]
            if self._active.get(candidate) == number:
                return candidate
            heapq.heappop(self._order)
        return None

    def shelve(
        self,
        candidate: Candidate,
        signature: Hashable,
        needs: Needs,
        reason: Reason | None,
        cards: Cards,
    ) -> None:
        """It was tried, and lacks room."""
        self._drop(candidate)
        self.shelves.put(candidate, signature, needs, reason, cards)
        if reason in _OF_KNOWLEDGE:
            self._puzzled[candidate] = None  # another card that is known may be room as well

    def block(self, candidate: Candidate, reason: Reason | None) -> None:
        """It was tried, and waits for something else than room."""
        self._drop(candidate)
        (self._puzzled if reason in _OF_KNOWLEDGE else self._blocked)[candidate] = None

    def try_again(self, candidate: Candidate) -> None:
        """It may not have to wait any more, or for another reason."""
        self._wake(candidate)

    def wake(self, shelf: InadmissibleClass) -> None:
        """Have all of a shelf tried: they wait for another reason now."""
        self._waking[shelf] = None

    def look_again(self) -> None:
        """Have the first of every shelf tried whatever room there is: what was noted of the room
        that each needs does not hold any more.
        """
        self._noted_in_vain = True

    def look_at_blocked(self) -> None:
        """Have those tried that wait for something else than room, or may do so."""
        for book in (self._blocked, self._puzzled):
            self._roused.update(book)
            book.clear()

    # --- books --------------------------------------------------------------------------------

    def _leave_gang(self, gang: Gang, key: Hashable, lane: PodClass) -> None:
        self._stale[gang] = None
        members = self._by_gang[gang]
        if lane.turns:
            members.changed[lane] = None
            return
        if lane.candidate is not None:
            # A candidate of several lanes can be asked nothing more once one of them is empty.
            self._dissolve(lane.candidate)
        del members.lanes[key]
        members.changed.pop(lane, None)
        if not members.lanes:
            del self._by_gang[gang]
            self._stale.pop(gang)
            del gang.lines[self]

    def _dissolve(self, candidate: Candidate) -> None:
        """Its lanes go otherwise from now on; until that is known they are told nothing."""
        self._drop(candidate)
        for lane in candidate.lanes:
            self.untold.discard(lane)
            lane.candidate = None

    def _wake(self, candidate: Candidate) -> None:
        self._drop(candidate)
        for lane in candidate.lanes:
            self.untold.discard(lane)
        self._active[candidate] = 0
        self._unordered[candidate] = None

    def _put_in_order(self, candidate: Candidate) -> None:
        self._entries += 1
        candidate.place = candidate.turn
        self._active[candidate] = self._entries
        heapq.heappush(self._order, (candidate.place, self._entries, candidate))
        if len(self._order) > 2 * len(self._active) + _SLACK:
            # Too few passes come to their end, so too few of the old entries are taken away.
            self._order, self._unordered = [], dict.fromkeys(self._active)

    def _drop(self, candidate: Candidate) -> None:
        self.shelves.take(candidate)
        if self._active.pop(candidate, None) is not None:
            self._unordered.pop(candidate, None)
        else:
            for book in (self._blocked, self._puzzled, self._roused):
                book.pop(candidate, None)
