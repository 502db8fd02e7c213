"""What is released at once: the next pod of a class, or a gang that has not started.

Waiting pods that are alike form a class. A class, or all classes of a gang, is a candidate.
Candidates that ask for the same and lack room form an inadmissible class. The three know each
other, so they are in one file.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Hashable, Mapping
from itertools import islice
from typing import Final

from ..vocabulary import Reason
from .gang import Gang

SortKey = tuple[int, str, str, str]
"""Of a pod, by the order of release (E6): the negated priority, creation time, name, uid."""

_LAST: Final = "~"
"""Before a time of creation: later than any of them."""

Needs = Mapping[str, int]
"""Per dimension: how much must be free. Empty: not known, to be tried."""


class PodClass:
    """Waiting pods that are alike in all that is judged, in the order of release.

    If the first does not fit, none does.
    """

    __slots__ = ("_newcomers", "_told", "_told_up_to", "candidate", "gang", "key", "sort_keys")

    def __init__(self, gang: Gang | None = None, key: Hashable = None) -> None:
        self.key = key
        """One object for all its pods, so that classes are told apart by identity."""
        self.gang = gang
        """The gang of its pods, if they have one."""
        self.sort_keys: list[SortKey] = []
        """Of its pods, sorted; the last part of each is the pod's uid."""
        self.candidate: Candidate | None = None
        self._told: Reason | None = None
        """The reason that its pods are told."""
        self._told_up_to: tuple[()] | SortKey | None = None
        """Pods after this sort key have not been told yet; None: all have, but for newcomers."""
        self._newcomers: dict[str, None] = {}
        """Uids."""

    def join(self, sort_key: SortKey) -> None:
        """A pod begins to wait."""
        insort(self.sort_keys, sort_key)
        if self._told_up_to is None or sort_key < self._told_up_to:
            self._newcomers[sort_key[-1]] = None

    def leave(self, sort_key: SortKey) -> None:
        """A pod waits no longer."""
        del self.sort_keys[bisect_left(self.sort_keys, sort_key)]
        self._newcomers.pop(sort_key[-1], None)

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
        return reached is not None and bool(self.sort_keys) and reached < self.sort_keys[-1]

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
            place = bisect_right(self.sort_keys, self._told_up_to)
            found = self.sort_keys[place : place + left]
            uids += [sort_key[-1] for sort_key in found]
            self._told_up_to = found[-1] if place + left < len(self.sort_keys) else None
        return uids


class Candidate:
    """One class, or all classes of a gang that starts whole."""

    __slots__ = ("classes", "inadmissible", "indexed_key", "whole")

    def __init__(self, classes: list[PodClass], whole: Gang | None = None) -> None:
        self.classes = classes
        self.whole = whole
        """The gang that starts with these classes; None: the first pod goes alone."""
        self.inadmissible: InadmissibleClass | None = None
        """The class in which it waits for room; None: it is to be tried, or waits for something
        else."""
        self.indexed_key: SortKey = classes[0].sort_keys[0]
        """Its sort key when it was put in order; it stays while it stands there."""
        for pod_class in classes:
            pod_class.candidate = self

    @property
    def sort_key(self) -> SortKey:
        """That of its first pod. A gang that did not use its reservation in time comes after all
        others of its priority (E8).
        """
        first = min(pod_class.sort_keys[0] for pod_class in self.classes)
        if self.whole is not None and self.whole.lost_place:
            return (first[0], _LAST + first[1], *first[2:])
        return first


class InadmissibleClass:
    """Candidates that ask for the same: if the first does not fit, none does."""

    __slots__ = ("_candidates", "aside", "cards", "holds_up", "needs", "reason", "signature")

    def __init__(self, signature: Hashable, cards: frozenset[str]) -> None:
        self.signature = signature
        self.cards = cards
        """Which they ask for, one or the other."""
        self.needs: Needs = {}
        self.reason: Reason | None = None
        """What all of them have been told."""
        self.holds_up = True
        """In a fifo queue: whether those behind it have to wait."""
        self.aside = False
        """Whether it holds up nobody and has room, but has to wait for somebody before it."""
        self._candidates: list[tuple[SortKey, Candidate]] = []

    def __bool__(self) -> bool:
        return bool(self._candidates)

    @property
    def first(self) -> Candidate:
        """The first in the order of release."""
        return self._candidates[0][1]

    @property
    def last(self) -> Candidate:
        """The last in the order of release."""
        return self._candidates[-1][1]

    @property
    def sort_key(self) -> SortKey:
        """Of the first."""
        return self._candidates[0][0]

    def put(self, candidate: Candidate) -> None:
        """A candidate begins to wait here, at the place that its sort key has now."""
        candidate.inadmissible, candidate.indexed_key = self, candidate.sort_key
        insort(self._candidates, (candidate.indexed_key, candidate))

    def take(self, candidate: Candidate) -> None:
        """The inverse of `put`."""
        candidate.inadmissible = None
        # A tuple that ends earlier sorts first: this is the place of the only one with that key.
        del self._candidates[bisect_left(self._candidates, (candidate.indexed_key,))]

    def may_fit(self, free: Callable[[str], int]) -> bool:
        """Whether there is room enough in one dimension for its first to be tried."""
        return not self.needs or any(free(d) >= need for d, need in self.needs.items())
