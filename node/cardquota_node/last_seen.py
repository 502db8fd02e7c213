"""What is gone, as opposed to what is not told for a while.

A kubelet that has just started lists no containers, or those of static pods alone, until it has
read the others from the API server.
"""

from collections.abc import Callable, Collection, Container
from typing import Generic, TypeVar

K = TypeVar("K")


class LastSeen(Generic[K]):
    """When each thing was there last."""

    def __init__(self, forget_after: float, clock: Callable[[], float]) -> None:
        """`forget_after`: seconds."""
        self._forget_after, self._clock = forget_after, clock
        self._at: dict[K, float] = {}

    def gone(self, known: Collection[K], there: Container[K]) -> set[K]:
        """Those of the known that were not there for the whole time; whoever is new counts as
        there now.
        """
        now = self._clock()
        self._at = {one: now if one in there else self._at.get(one, now) for one in known}
        return {one for one, at in self._at.items() if now - at >= self._forget_after}
