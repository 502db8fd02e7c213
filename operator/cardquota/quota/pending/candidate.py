"""What is released at once, the next pod of a lane or a gang that has not started, and its shelf.

Pods stand in lanes, lanes make a candidate, and candidates that ask for the same wait on a shelf.
The three know each other, so they stand together.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Hashable, Mapping
from itertools import islice
from typing import Final

from ..vocabulary import Reason
from .gang import Gang

SortKey = tuple[int, str, str, str]

_LAST: Final = "~"
"""Before a time of creation: later than any of them."""

Needs = Mapping[str, int]
"""Per dimension: how much must be free. Empty: not known, to be tried."""


class PodClass:
    """Waiting pods that are alike in all that is judged, in the order of release.

    If the first does not fit, none does.
    """

    __slots__ = ("_newcomers", "_told", "_told_up_to", "candidate", "gang", "key", "turns")

    def __init__(self, gang: Gang | None = None, key: Hashable = None) -> None:
        self.key = key
        """One object for all its pods, so that they are told apart from others by identity."""
        self.gang = gang
        """The gang of its pods, if they have one."""
        self.turns: list[SortKey] = []
        """Sorted; the last part of each is the pod's uid."""
        self.candidate: Candidate | None = None
        self._told: Reason | None = None
        """The reason that its pods are told."""
        self._told_up_to: tuple[()] | SortKey | None = None
        """Whose turn comes after this one has not heard it yet; None: all have but newcomers."""
        self._newcomers: dict[str, None] = {}
        """Uids."""

    def join(self, turn: SortKey) -> None:
        """A pod begins to wait."""
        insort(self.turns, turn)
        if self._told_up_to is None or turn < self._told_up_to:
            self._newcomers[turn[-1]] = None

    def leave(self, turn: SortKey) -> None:
        """A pod waits no longer."""
        del self.turns[bisect_left(self.turns, turn)]
        self._newcomers.pop(turn[-1], None)

    @property
    def reason(self) -> Reason | None:
        """What its pods are told."""
        return self._told

    @property
    def untold(self) -> bool:
        """Whether a pod has not heard the reason yet (section 9)."""
        reached = self._told_up_to
        if self._newcomers:
            return True
        return reached is not None and bool(self.turns) and reached < self.turns[-1]

    def to_hear(self, reason: Reason) -> None:
        """Its pods wait for this reason; all are untold if it is not the one they know."""
        if reason is not self._told:
            self._told, self._told_up_to, self._newcomers = reason, (), {}

    def take_untold(self, most: int) -> list[str]:
        """Uids of pods that have not heard the reason; they count as told from now on.

        Newcomers first, then in the order of release. Costs in proportion to those taken.
        """
        uids = list(islice(self._newcomers, most))
        for uid in uids:
            del self._newcomers[uid]
        left = most - len(uids)
        if left and self._told_up_to is not None:
            place = bisect_right(self.turns, self._told_up_to)
            found = self.turns[place : place + left]
            uids += [turn[-1] for turn in found]
            self._told_up_to = found[-1] if place + left < len(self.turns) else None
        return uids


class Candidate:
    """One lane, or all lanes of a gang that starts whole."""

    __slots__ = ("lanes", "place", "shelf", "whole")

    def __init__(self, lanes: list[PodClass], whole: Gang | None = None) -> None:
        self.lanes = lanes
        self.whole = whole
        """The gang that starts with these lanes; None: the first pod goes alone."""
        self.shelf: InadmissibleClass | None = None
        """Where it waits for room; None: it is to be tried, or waits for something else."""
        self.place: SortKey = lanes[0].turns[0]
        """Its turn when it was put on its shelf."""
        for lane in lanes:
            lane.candidate = self

    @property
    def turn(self) -> SortKey:
        """Whose place in the order is its own: the first of its pods. A gang that did not use its
        reservation in time comes after all others of its priority (E8).
        """
        first = min(lane.turns[0] for lane in self.lanes)
        if self.whole is not None and self.whole.lost_place:
            return (first[0], _LAST + first[1], *first[2:])
        return first


class InadmissibleClass:
    """Candidates that ask for the same: if the first does not fit, none does."""

    __slots__ = ("_row", "aside", "cards", "holds_up", "needs", "reason", "signature")

    def __init__(self, signature: Hashable, cards: frozenset[str]) -> None:
        self.signature = signature
        self.cards = cards
        """Which they ask for, one or the other."""
        self.needs: Needs = {}
        self.reason: Reason | None = None
        """What all of them have been told."""
        self.holds_up = True
        """In a fifo queue: whether those behind have to wait."""
        self.aside = False
        """Whether it holds up nobody, and has room, but is itself behind somebody."""
        self._row: list[tuple[SortKey, Candidate]] = []

    def __bool__(self) -> bool:
        return bool(self._row)

    @property
    def first(self) -> Candidate:
        """Whose turn it is."""
        return self._row[0][1]

    @property
    def last(self) -> Candidate:
        """Whose turn comes after those of all others."""
        return self._row[-1][1]

    @property
    def turn(self) -> SortKey:
        """Of the first."""
        return self._row[0][0]

    def put(self, candidate: Candidate) -> None:
        """A candidate begins to wait here. Its turn stays as it is until it is taken off."""
        candidate.shelf, candidate.place = self, candidate.turn
        insort(self._row, (candidate.place, candidate))

    def take(self, candidate: Candidate) -> None:
        """The inverse of `put`."""
        candidate.shelf = None
        # A tuple that ends earlier sorts first: this is the place of the only one of that turn.
        del self._row[bisect_left(self._row, (candidate.place,))]

    def may_fit(self, free: Callable[[str], int]) -> bool:
        """Whether there is room enough in one dimension for its first to be tried."""
        return not self.needs or any(free(d) >= need for d, need in self.needs.items())
