"""What a gang and the pending queues of its members need of each other."""

from collections.abc import Hashable
from typing import Protocol


class GangQueue(Protocol):
    """A pending queue in which members of a gang wait."""

    queue: str

    def gang_changed(self, gang: "Gang") -> None:
        """The gang's minimum, reservation or members changed."""


class Gang(Protocol):
    """What a pending queue needs to know of a gang."""

    key: str
    queues: dict[GangQueue, None]
    """Where members of it wait."""
    lost_place: bool
    """Whether those who fit go before it (E8)."""

    @property
    def started(self) -> bool:
        """Whether its minimum is reserved or held: what comes now comes one by one."""

    @property
    def one_by_one(self) -> Hashable:
        """While this is the same, news of the gang changes nothing for a member that goes alone and
        did not change itself. None: nothing can be said of that.
        """
