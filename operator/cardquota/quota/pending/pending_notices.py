"""Since when the pods of one queue wait, how many for which reason (T7), and who is to be told.

They are told in portions, as thousands may have one reason.
"""

from bisect import bisect_left, insort
from typing import Final, NamedTuple

from ..amounts import add_to
from ..verdict import Verdict
from ..vocabulary import Reason
from .candidate import Candidate, PodClass

MOST_KEPT: Final = 32
"""Classes whose verdict is kept for their pods. The other classes are judged once more."""


class BehindHead(NamedTuple):
    """What those are to be told who wait behind one that has closed what they ask for (E6). Each
    namespace gets its own text, since not every user may know that one.
    """

    dimension: str
    namespace: str
    name: str
    group: bool
    """Whether the name is that of a group."""
    waited: float | None
    """Seconds for which that one has waited, which is too long; None: the queue is fifo."""
    room_made: bool = False
    """Whether pods end for that one (L5), in whatever queue it is."""


class WaitTimes:
    """The creation times of pods that wait, as the API server writes them.

    To add or discard one costs by the logarithm of their number; the questions cost nothing.
    """

    def __init__(self) -> None:
        self._created: list[str] = []
        """Sorted. One second each, so their order as text is their order in time."""

    def __len__(self) -> int:
        return len(self._created)

    def add(self, created: str) -> None:
        """A pod begins waiting."""
        insort(self._created, created)

    def discard(self, created: str) -> None:
        """A pod that was added with this time no longer waits."""
        del self._created[bisect_left(self._created, created)]

    @property
    def oldest(self) -> str | None:
        """When the first of them was created; None where nobody waits."""
        return self._created[0] if self._created else None

    @property
    def median(self) -> str | None:
        """When the one in the middle was created: at least half of them have waited for as
        long, or longer. None where nobody waits.
        """
        number = len(self._created)
        return self._created[(number - 1) // 2] if number else None


class PendingNotices:
    """Classes of one queue with pods that have not been told why they wait. The first is next.

    Discard a class before it is tried: it may not have to wait any more. All pods of a class wait
    for the same, so to count them by reason costs a step for each class that is judged.
    """

    def __init__(self) -> None:
        self._classes: dict[PodClass, Verdict | BehindHead | None] = {}
        self.by_reason: dict[Reason | None, int] = {}
        """How many pods wait for which reason, as they were last judged; None: they were not yet,
        as on a replica that does not lead. Only reasons for which somebody waits."""

    def __len__(self) -> int:
        return len(self._classes)

    @property
    def kept(self) -> int:
        """Classes of which it is kept what their pods are to be told."""
        return sum(words is not None for words in self._classes.values())

    def count(self, pod_class: PodClass, number: int) -> None:
        """So many pods join a class; leave it, if negative."""
        add_to(self.by_reason, pod_class.waits_for, number)

    def _judged(self, candidate: Candidate, reason: Reason | None) -> None:
        """None: it waits for no reason that has a name, as for a write of ours, and what was known
        before stays.
        """
        if reason is None or candidate.group_to_enqueue is not None:  # that has no pods
            return
        for pod_class in candidate.classes:
            if pod_class.waits_for is not reason:
                number = len(pod_class.sort_keys)
                add_to(self.by_reason, pod_class.waits_for, -number)
                add_to(self.by_reason, reason, number)
                pod_class.waits_for = reason

    def add(self, candidate: Candidate, verdict: Verdict) -> None:
        """A candidate's pods wait for this reason. Those that do not know it must be told."""
        self._judged(candidate, verdict.reason)
        if verdict.reason is None:
            return
        for pod_class in candidate.classes:
            pod_class.set_reason(verdict.reason)
            if pod_class.pending_notices:
                self._classes[pod_class] = verdict if len(self._classes) < MOST_KEPT else None

    def add_behind(self, candidate: Candidate, words: BehindHead) -> None:
        """A candidate waits behind another one. Pods that were told something before are told
        nothing new. These words are kept.
        """
        self._judged(candidate, Reason.BEHIND)
        for pod_class in candidate.classes:
            if pod_class.pending_notices:
                self._classes[pod_class] = words

    def ask(self, pod_class: PodClass) -> None:
        """Pods of a class are to be told once more, in the words of now: those are asked for. Only
        for a class that was tried and waits.
        """
        self._classes[pod_class] = None

    def discard(self, pod_class: PodClass) -> None:
        """No pod of a class is to be told anything now. May be called again."""
        self._classes.pop(pod_class, None)

    def next(self) -> tuple[Candidate, Verdict | BehindHead | None] | None:
        """Who is to be told next, and what; without that it is to be judged again. None: all are
        told.
        """
        for pod_class, words in self._classes.items():
            return (pod_class.candidate, words) if pod_class.candidate is not None else None
        return None

    def keep(self, candidate: Candidate, verdict: Verdict) -> None:
        """Store the words for a candidate that was judged again."""
        for pod_class in candidate.classes:
            if pod_class in self._classes:
                self._classes[pod_class] = verdict

    def take(self, words: Verdict | BehindHead, most: int) -> list[str]:
        """Uids of some pods to be told these words. They count as told from now on.

        Classes take turns; classes with the same words go together.
        """
        uids = list[str]()
        while self._classes and len(uids) < most:
            pod_class, of_class = next(iter(self._classes.items()))
            if of_class is not words:
                break
            del self._classes[pod_class]
            uids += pod_class.take_untold(most - len(uids))
            if pod_class.pending_notices:
                self._classes[pod_class] = words
        return uids
