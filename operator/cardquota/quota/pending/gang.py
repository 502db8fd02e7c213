"""The interface between a gang and the pending queues of its members."""

from collections.abc import Callable, Hashable
from enum import IntEnum
from typing import Protocol


class Readiness(IntEnum):
    """The smallest goes first."""

    INCOMPLETE = 0
    """Of a gang that has begun and lacks members of its minimum: what the others hold, or what is
    reserved, is of no use without them."""
    NOT_BEGUN = 1
    """Of a gang that has not begun; and all that are in no gang."""
    COMPLETE = 2
    """Of a gang that has its minimum: its further members are elastic."""


class GangQueue(Protocol):
    """A pending queue in which members of a gang wait."""

    queue: str

    def gang_changed(self, gang: "Gang") -> None:
        """The gang's minimum, reservation or members changed."""


class Gang(Protocol):
    """What a pending queue needs to know of a gang, or of a group that is to be enqueued."""

    key: str
    queues: dict[GangQueue, None]
    """The pending queues in which members of it wait."""
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
