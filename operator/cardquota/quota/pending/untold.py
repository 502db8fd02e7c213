"""Who has yet to be told why he waits: told bit by bit, for thousands may wait for one reason."""

from typing import Final, NamedTuple

from ..pods.pod_facts import PodFacts
from ..verdict import Verdict
from .candidate import Candidate, PodClass
from .gang import Gang

_MOST_KEPT: Final = 32
"""Lanes of which it is kept what their pods are to be told; of the others it is asked again."""


class Words(NamedTuple):
    """What pods that wait are to be told."""

    verdict: Verdict
    gang: Gang | None


class Behind(NamedTuple):
    """What those are to be told who are behind somebody in a fifo queue: to each in words of its
    own, for not everybody may know who that is.
    """

    card: str
    """For which both wait."""
    first: PodFacts


class Untold:
    """Lanes of one queue of which somebody has not heard why it waits; the first is next.

    Whoever is about to be tried is to be discarded: it may not have to wait any more.
    """

    __slots__ = ("_lanes",)

    def __init__(self) -> None:
        self._lanes: dict[PodClass, Words | Behind | None] = {}

    def __len__(self) -> int:
        return len(self._lanes)

    def add(self, candidate: Candidate, words: Words) -> None:
        """Those of a candidate wait for this reason; who has not heard it has to be told."""
        if words.verdict.reason is None:
            return
        for lane in candidate.lanes:
            lane.to_hear(words.verdict.reason)
            if lane.untold:
                self._lanes[lane] = words if len(self._lanes) < _MOST_KEPT else None

    def add_newcomers(self, candidate: Candidate, words: Behind) -> None:
        """The same for those alone who have not heard anything yet. These words are kept."""
        for lane in candidate.lanes:
            if lane.untold:
                self._lanes[lane] = words

    def discard(self, lane: PodClass) -> None:
        """Nobody of a lane is to be told anything now; may repeat."""
        self._lanes.pop(lane, None)

    def next(self) -> Words | Behind | Candidate | None:
        """What the next are to be told, or who has to be asked for it again; None: all know."""
        for lane, words in self._lanes.items():
            return words or lane.candidate
        return None

    def keep(self, candidate: Candidate, words: Words) -> None:
        """What a candidate said that had to be asked again."""
        for lane in candidate.lanes:
            if lane in self._lanes:
                self._lanes[lane] = words

    def take(self, words: Words | Behind, most: int) -> list[str]:
        """Uids of some who are to be told these words; they count as told from now on.

        Lanes take turns; those that are told the same go together.
        """
        uids = list[str]()
        while self._lanes and len(uids) < most:
            lane, of_lane = next(iter(self._lanes.items()))
            if of_lane is not words:
                break
            del self._lanes[lane]
            uids += lane.take_untold(most - len(uids))
            if lane.untold:
                self._lanes[lane] = words
        return uids
