"""A selector that measures how long the event loop does not come back to it.

The loop calls its selector once per round, so this is the cheapest exact place to measure: two
clock reads for all callbacks that were ready at once.
"""

import selectors
from collections.abc import Callable
from time import perf_counter
from typing import Final

LEAST: Final = 0.001
"""Seconds. Shorter stretches are not reported."""


def _nobody(_: float) -> None:
    return


class TimedSelector(selectors.DefaultSelector):
    """For `asyncio.SelectorEventLoop`. Not guaranteed: use by several threads.

    If the selector returns later than it was asked to, the loop's thread had to wait for another
    thread or the machine. That time belongs to the stretch that follows.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        """`clock`: seconds, never goes back."""
        super().__init__()
        self._clock = clock
        self.on_stretch: Callable[[float], None] = _nobody
        """Called after each stretch of at least LEAST, with its seconds. It must be quick."""
        self._began: float | None = None
        """When the present stretch began; None before the first."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As in every selector."""
        asked = self._clock()
        if self._began is not None and asked - self._began >= LEAST:
            self.on_stretch(asked - self._began)
            asked = self._clock()
        ready = super().select(timeout)
        came = self._clock()
        if timeout is not None:
            late = came - asked - max(0.0, timeout)
            # The time-out is rounded up to whole milliseconds.
            came -= late if late > LEAST else 0.0
        self._began = came
        return ready
