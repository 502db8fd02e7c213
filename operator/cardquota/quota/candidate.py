"""What is released at once: the next pod of a lane, or a gang that has not started."""

from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Protocol

from .vocabulary import Reason

if TYPE_CHECKING:
    from .shelf import Shelf

Turn = tuple[int, str, str, str]


class Line(Protocol):
    """A waiting line in which members of a gang stand."""

    def regroup(self, gang: "Gang") -> None:
        """The gang's minimum, reservation or members changed."""


class Gang(Protocol):
    """What a waiting line needs of a gang's books."""

    key: str
    lines: dict[Line, None]
    """Where members of it wait."""

    @property
    def started(self) -> bool:
        """Whether its minimum is reserved or held: what comes now comes one by one."""


class Lane:
    """Waiting pods that are alike in all that is judged, in the order of release.

    If the first does not fit, none does.
    """

    __slots__ = ("_newcomers", "_told", "candidate", "gang", "turns")

    def __init__(self, gang: Gang | None = None) -> None:
        self.gang = gang
        """The gang of its pods, if they have one."""
        self.turns: list[Turn] = []
        """Sorted; the last part of each is the pod's uid."""
        self.candidate: Candidate | None = None
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

    def newcomers(self) -> list[str]:
        """Uids that have not heard anything yet; they count as told from now on."""
        uids, self._newcomers = list(self._newcomers), {}
        return uids


class Candidate:
    """One lane, or all lanes of a gang that starts whole."""

    __slots__ = ("lanes", "place", "shelf", "whole")

    def __init__(self, lanes: list[Lane], whole: Gang | None = None) -> None:
        self.lanes = lanes
        self.whole = whole
        """The gang that starts with these lanes; None: the first pod goes alone."""
        self.shelf: Shelf | None = None
        """Where it waits for room; None: it is to be tried, or waits for something else."""
        self.place: Turn = lanes[0].turns[0]
        """Its turn when it was put on its shelf."""
        for lane in lanes:
            lane.candidate = self

    @property
    def turn(self) -> Turn:
        """Whose place in the order is its own: the first of its pods."""
        return min(lane.turns[0] for lane in self.lanes)

    def to_tell(self, reason: Reason | None) -> list[str]:
        """As of its lanes."""
        return [uid for lane in self.lanes for uid in lane.to_tell(reason)]

    def newcomers(self) -> list[str]:
        """As of its lanes."""
        return [uid for lane in self.lanes for uid in lane.newcomers()]
