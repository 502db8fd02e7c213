"""Who has yet to be told why he waits: told bit by bit, for thousands may wait for one reason."""

from typing import Final, NamedTuple

from ..pods.pod_facts import PodFacts
from ..verdict import Verdict
from .candidate import Candidate, PodClass
from .gang import Gang

_MOST_KEPT: Final = 32
"""Classes of which it is kept what their pods are to be told; others are judged once more."""


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
    """Classes of one queue of which some pod has not been told why it waits; the first is next.

    Whoever is about to be tried is to be discarded: it may not have to wait any more.
    """

    __slots__ = ("_classes",)

    def __init__(self) -> None:
        self._classes: dict[PodClass, Words | Behind | None] = {}

    def __len__(self) -> int:
        return len(self._classes)

    def add(self, candidate: Candidate, words: Words) -> None:
        """Those of a candidate wait for this reason; who has not heard it has to be told."""
        if words.verdict.reason is None:
            return
        for pod_class in candidate.classes:
            pod_class.to_hear(words.verdict.reason)
            if pod_class.untold:
                self._classes[pod_class] = words if len(self._classes) < _MOST_KEPT else None

    def add_newcomers(self, candidate: Candidate, words: Behind) -> None:
        """The same for those alone who have not heard anything yet. These words are kept."""
        for pod_class in candidate.classes:
            if pod_class.untold:
                self._classes[pod_class] = words

    def discard(self, pod_class: PodClass) -> None:
        """No pod of a class is to be told anything now; may repeat."""
        self._classes.pop(pod_class, None)

    def next(self) -> Words | Behind | Candidate | None:
        """What the next are to be told, or who has to be asked for it again; None: all know."""
        for pod_class, words in self._classes.items():
            return words or pod_class.candidate
        return None

    def keep(self, candidate: Candidate, words: Words) -> None:
        """What a candidate said that had to be asked again."""
        for pod_class in candidate.classes:
            if pod_class in self._classes:
                self._classes[pod_class] = words

    def take(self, words: Words | Behind, most: int) -> list[str]:
        """Uids of some who are to be told these words; they count as told from now on.

        Classes take turns; those that are told the same go together.
        """
        uids = list[str]()
        while self._classes and len(uids) < most:
            pod_class, of_class = next(iter(self._classes.items()))
            if of_class is not words:
                break
            del self._classes[pod_class]
            uids += pod_class.take_untold(most - len(uids))
            if pod_class.untold:
                self._classes[pod_class] = words
        return uids
