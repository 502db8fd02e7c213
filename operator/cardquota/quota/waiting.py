"""Who waits at a queue's gate, in lanes, so that a decision costs by what can be released.

Pods of one lane stand under the same verdict: they are alike in all that is judged. If the first
of a lane does not fit, none of it does. The lanes of a gang know that they belong together.
"""

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable

from .pod_record import PodRecord
from .vocabulary import Reason

Turn = tuple[int, str, str, str]


class Lane:
    """Waiting pods in the order of release, and what they were last told."""

    __slots__ = ("_newcomers", "_told", "gang", "turns")

    def __init__(self, gang: str = "") -> None:
        self.gang = gang
        """Key of the group that its pods start with, or the empty string."""
        self.turns: list[Turn] = []
        """Sorted; the last part of each is the pod's uid."""
        self._told: Reason | None = None
        self._newcomers: dict[str, None] = {}

    def join(self, turn: Turn) -> None:
        """A pod begins to wait."""
        insort(self.turns, turn)
        self._newcomers[turn[-1]] = None

    def leave(self, turn: Turn) -> None:
        """A pod waits no longer."""
        del self.turns[bisect_left(self.turns, turn)]
        self._newcomers.pop(turn[-1], None)

    def to_tell(self, reason: Reason | None) -> list[str]:
        """Uids that have not heard this reason yet; they count as told from now on (section 9).

        Costs in proportion to those, not to who waits.
        """
        uids = list(self._newcomers) if reason is self._told else [t[-1] for t in self.turns]
        self._told, self._newcomers = reason, {}
        return uids


class WaitingLine:
    """The lanes of one queue."""

    __slots__ = ("lanes",)

    def __init__(self) -> None:
        self.lanes: dict[Hashable, Lane] = {}

    def __len__(self) -> int:
        return sum(len(lane.turns) for lane in self.lanes.values())

    def join(self, record: PodRecord, key: Hashable, gang: str = "") -> None:
        """A pod begins to wait in a lane; the pods of a lane name the same gang, or none."""
        lane = self.lanes.get(key)
        if lane is None:
            lane = self.lanes[key] = Lane(gang)
        record.lane = key
        lane.join(record.turn)

    def leave(self, record: PodRecord) -> None:
        """A pod waits no longer; called with the facts it joined with."""
        if record.lane is None:
            return
        lane = self.lanes[record.lane]
        lane.leave(record.turn)
        if not lane.turns:
            del self.lanes[record.lane]
        record.lane = None

    def uids(self) -> Iterable[str]:
        """All that wait."""
        for lane in self.lanes.values():
            for turn in lane.turns:
                yield turn[-1]
