"""How long a stretch of work may hold up the event loop, which also renews the Lease."""

from collections.abc import Callable
from typing import Final

SLICE: Final = 0.02
"""Seconds of work at a time; then everybody else in the loop has a turn."""


class TimeSlice:
    """Begins when it is made. Ask between two steps, each far shorter than the slice."""

    def __init__(self, clock: Callable[[], float], seconds: float = SLICE) -> None:
        """`clock`: seconds, monotonic."""
        self._clock = clock
        self._begun = clock()
        self._seconds = seconds

    @property
    def over(self) -> bool:
        """Whether to give way now."""
        return self.beyond(1.0)

    def beyond(self, part: float) -> bool:
        """Whether this part of the slice has passed; what else is to be done needs the rest."""
        return self._clock() - self._begun >= part * self._seconds
