"""The place of a candidate in the order of release within its queue (E6)."""

from collections.abc import Callable, Hashable
from enum import IntEnum
from typing import Final, NamedTuple, Protocol

from ..pods.pod_record import SortKey

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
