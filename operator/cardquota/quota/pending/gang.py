"""What a gang and the lines its members wait in need of each other."""

from collections.abc import Hashable
from typing import Protocol


class Line(Protocol):
    """A waiting line in which members of a gang stand."""

    queue: str

    def regroup(self, gang: "Gang") -> None:
        """The gang's minimum, reservation or members changed."""


class Gang(Protocol):
    """What a waiting line needs of a gang's books."""

    key: str
    lines: dict[Line, None]
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
