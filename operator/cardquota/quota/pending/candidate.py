"""What is released at once: the next pod of a class, a gang that has not started, or a group that
is to be enqueued before its pods are there; and the place of each in the order of release (E6).

Equal waiting pods form a class. A class, or all classes of a gang, is a candidate. Candidates that
ask for the same and lack room form an inadmissible class.
"""

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import chain, islice
from typing import Final, NamedTuple, Protocol

from ..pods.pod_record import SortKey
from ..vocabulary import Reason

LOST: Final = "~"
"""Stands before the creation time of who has lost its place: later than any other."""


class Readiness(IntEnum):
    """The smallest goes first."""

    INCOMPLETE = 0
    """Of a gang that has begun and lacks members of its minimum: what the others hold, or what is
    reserved, is of no use without them."""
    NOT_BEGUN = 1
    """Of a gang that has not begun; and all that are in no gang."""
    COMPLETE = 2
    """Of a gang that has its minimum: its further members are elastic."""


class Gang(Protocol):
    """What a pending queue needs to know of a gang, or of a group that is to be enqueued."""

    key: str
    queues: dict[str, None]
    """The queues in which members of it wait."""
    lost_place: bool
    """Whether candidates that fit go before it (E8)."""

    @property
    def started(self) -> bool:
        """Whether its minimum is reserved or held: further members are released one by one."""

    @property
    def readiness(self) -> Readiness:
        """Whether it needs its waiting members (E6)."""

    def share_in(self, queue: str, limit: Callable[[str], int | None]) -> int:
        """The dominant share: the largest part that its members hold of what a queue may hold, of
        any dimension that is limited there, in whole percent, rounded down (E6).
        """

    @property
    def one_by_one(self) -> Hashable:
        """While this is equal, changes of the gang do not matter for members that go alone and did
        not change themselves. None: this is not known.
        """


class ReleaseKey(NamedTuple):
    """A place: the smallest goes first. No two in a queue are equal."""

    readiness: Readiness
    negated_priority: int
    share: int
    created: str
    first_name: str
    made: str
    """Since when the pod or group waits; later than any for who has lost its place."""
    name: str
    uid: str


class Precedence(NamedTuple):
    """What all waiting members of a gang have in common, as to their place."""

    readiness: Readiness
    share: int
    """The dominant share of the gang in the queue, in whole percent."""

    def key_of(self, sort_key: SortKey, *, lost_place: bool = False) -> ReleaseKey:
        """The place of a pod. `lost_place`: after all others of its readiness, priority and share
        (E8).
        """
        readiness, share = self
        negated_priority, created, first_name, made, name, uid = sort_key
        if lost_place:
            created, made = LOST + created, LOST + made
        return ReleaseKey(readiness, negated_priority, share, created, first_name, made, name, uid)


ORDINARY: Final = Precedence(Readiness.NOT_BEGUN, 0)
"""Of pods that are in no gang, of gangs that have not begun, and of groups to be enqueued."""


def precedence_of(gang: Gang | None, queue: str, limit: Callable[[str], int | None]) -> Precedence:
    """The precedence of a gang's members that wait in a queue, or of pods that are in no gang.
    `limit`: what the queue may hold of a dimension.

    Costs by the dimensions of which the gang's members hold something.
    """
    readiness = Readiness.NOT_BEGUN if gang is None else gang.readiness
    if gang is None or readiness is Readiness.NOT_BEGUN:
        return ORDINARY
    return Precedence(readiness, gang.share_in(queue, limit))


class BesideElastic(NamedTuple):
    """The room of a dimension if what is elastic were free (E1)."""

    dimension: str


@dataclass(slots=True, frozen=True)
class NeverClosed:
    """The room of a dimension for one to which nothing is closed (E6)."""

    dimension: str


Room = str | BesideElastic | NeverClosed
"""A dimension, or its room counted in another way."""
Needs = Mapping[Room, int]
"""How much must be free of one of these."""
ANY_AMOUNT: Final = -(2**62)
"""A need that is always met."""
ANYTHING: Final[Needs] = {"": ANY_AMOUNT}
"""Needs that are not known: it must be tried."""
_MERGED: Final = 64
"""Classes up to which only the first of each are looked at. To merge ten thousand costs more than
to sort all of their pods.
"""


class Shortage(NamedTuple):
    """What an inadmissible class lacks, as its first was last judged."""

    needs: Needs
    reason: Reason | None = None
    """The reason that all of them have been told. None: they were behind others when they came, and
    were not judged."""
    closes: frozenset[str] = frozenset()
    """What it may close to those behind it."""
    epoch: int = 0
    """When it was judged: what it waits for may be unknown by now, and never come."""
    free_compute: tuple[int, ...] = ()
    """What was free of cpu and memory then: whether it closes these depends on it."""


@dataclass(slots=True, eq=False)
class PodClass:
    """Waiting pods that are equal in all that is judged, in the order of release.

    If the first does not fit, none does.
    """

    gang: Gang | None = None
    """The gang of its pods, or None."""
    key: Hashable = None
    """One object for all its pods, so that identity tells classes apart."""
    task: str = ""
    """The task of its pods, if their gang needs some of it to start; else empty."""
    sort_keys: list[SortKey] = field(default_factory=list)
    """The sort keys of its pods, sorted."""
    candidate: "Candidate | None" = None
    waits_for: Reason | None = None
    """Why its pods wait, as they were last judged; None: they were not yet. Only counted (T7): what
    they are told may differ."""
    reason: Reason | None = None
    """Why its pods wait, as they are told."""
    pending_notices: dict[str, None] = field(default_factory=dict)
    """Uids of the pods that have not been told that yet (section 9)."""

    def join(self, sort_key: SortKey) -> None:
        """A pod begins waiting."""
        insort(self.sort_keys, sort_key)
        self.pending_notices[sort_key.uid] = None

    def leave(self, sort_key: SortKey) -> None:
        """A pod no longer waits."""
        del self.sort_keys[bisect_left(self.sort_keys, sort_key)]
        self.pending_notices.pop(sort_key.uid, None)

    def set_reason(self, reason: Reason) -> None:
        """Set why its pods wait. If the reason is new, all of them are to be told."""
        if reason is not self.reason:
            self.reason = reason
            self.tell_all_again()

    def tell_all_again(self) -> None:
        """All pods that wait here have to be told once more, whatever they were told. Takes a
        millisecond for 10,000.
        """
        self.pending_notices = {sort_key.uid: None for sort_key in self.sort_keys}

    def take_untold(self, most: int) -> list[str]:
        """Uids of at most `most` pods that were not told yet, in the order of release, then those
        that came since. They count as told from now on.
        """
        uids = list(islice(self.pending_notices, most))
        for uid in uids:
            del self.pending_notices[uid]
        return uids


class Candidate:
    """One class, all classes of a gang that starts whole, or a group to be enqueued."""

    __slots__ = ("classes", "gang", "group_to_enqueue", "inadmissible", "indexed_key", "precedence")

    def __init__(
        self,
        classes: list[PodClass],
        gang: Gang | None = None,
        *,
        group_to_enqueue: Gang | None = None,
        precedence: Precedence = ORDINARY,
    ) -> None:
        self.classes = classes
        self.precedence = precedence
        """That of the gang when it last changed."""
        self.gang = gang
        """The gang that starts with these classes; None: the first pod goes alone."""
        self.group_to_enqueue = group_to_enqueue
        """The group to be enqueued (E1). The only class then has one place, and no pod: its key
        stands where a pod's uid does."""
        self.inadmissible: InadmissibleClass | None = None
        """The class in which it waits for room. None: it is to be tried, or waits for something
        else."""
        self.indexed_key: ReleaseKey = self.key_of(classes[0].sort_keys[0])
        """Its place when it was put in order. Unchanged while it stands there."""
        for pod_class in classes:
            pod_class.candidate = self

    @property
    def sort_key(self) -> SortKey:
        """The sort key of its first pod."""
        return min(pod_class.sort_keys[0] for pod_class in self.classes)

    @property
    def release_key(self) -> ReleaseKey:
        """The place of its first pod."""
        return self.key_of(self.sort_key)

    def key_of(self, sort_key: SortKey) -> ReleaseKey:
        """The place of one of its pods. A gang that starts whole has the lowest priority of its
        pods; one that did not use its reservation in time comes after all others of its priority
        (E8).
        """
        group = self.gang or self.group_to_enqueue
        lost_place = group is not None and group.lost_place
        if self.gang is not None:
            lowest = max(one.sort_keys[-1].negated_priority for one in self.classes)
            sort_key = sort_key._replace(negated_priority=lowest)
        return self.precedence.key_of(sort_key, lost_place=lost_place)


@dataclass(slots=True, eq=False)
class InadmissibleClass:
    """Candidates that ask for the same: if the first does not fit, none does."""

    signature: Hashable
    asked: frozenset[str]
    """What they ask for: of a choice of cards, each of them."""
    shortage: Shortage
    _candidates: list[tuple[ReleaseKey, Candidate]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self._candidates)

    def __len__(self) -> int:
        return len(self._candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return (candidate for _, candidate in self._candidates)

    def before(self, place: ReleaseKey) -> int:
        """How many candidates come before a place."""
        return bisect_left(self._candidates, (place,))

    @property
    def first(self) -> Candidate:
        """The first in the order of release."""
        return self._candidates[0][1]

    @property
    def release_key(self) -> ReleaseKey:
        """The place of the first."""
        return self._candidates[0][0]

    def put(self, candidate: Candidate) -> None:
        """A candidate begins waiting here, at its present place."""
        candidate.inadmissible, candidate.indexed_key = self, candidate.release_key
        insort(self._candidates, (candidate.indexed_key, candidate))

    def take(self, candidate: Candidate) -> None:
        """The inverse of `put`."""
        candidate.inadmissible = None
        # A shorter tuple sorts first: this is the place of the only entry with that key.
        del self._candidates[bisect_left(self._candidates, (candidate.indexed_key,))]

    def lacks_room(self, free: Callable[[Room], int], epoch: int) -> bool:
        """Whether the first still lacks room, as far as is known without judging it."""
        needs = self.shortage.needs.items()
        return self.shortage.epoch == epoch and all(free(room) < need for room, need in needs)


def first_members(
    classes: Iterable[PodClass], number: int, by_task: Mapping[str, int]
) -> list[SortKey]:
    """The first `number` of the pods of these classes, in the order of release, among them as many
    of each task as `by_task` says; fewer where too few are there.

    Costs by the number, and by the classes.
    """
    if not by_task:
        return list(islice(_in_order([one.sort_keys for one in classes], number), number))
    rows: dict[str | None, list[list[SortKey]]] = {}
    for pod_class in classes:
        task = pod_class.task if pod_class.task in by_task else None
        rows.setdefault(task, []).append(pod_class.sort_keys)
    chosen, others = list[SortKey](), list[Iterator[SortKey]]()
    for task, some in rows.items():
        in_order = _in_order(some, number)
        chosen += islice(in_order, by_task[task] if task is not None else 0)
        others.append(in_order)
    chosen += islice(heapq.merge(*others), max(0, number - len(chosen)))
    return sorted(chosen)


def _in_order(rows: Sequence[list[SortKey]], number: int) -> Iterator[SortKey]:
    """The pods of these rows in the order of release, the first `number` at least."""
    if len(rows) <= _MERGED:
        return iter(heapq.merge(*rows))
    return iter(sorted(chain.from_iterable(islice(row, number) for row in rows)))
