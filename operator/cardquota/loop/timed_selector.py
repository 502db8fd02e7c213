"""A selector that knows how long the event loop did not come back to it.

The loop asks its selector once per round, so this is the cheapest exact place to measure from: two
looks at the clock for everything that was ready at once.
"""

import selectors
from collections.abc import Callable
from time import perf_counter
from typing import Final

LEAST: Final = 0.001
"""Seconds; shorter stretches are told to nobody."""


def _nobody(_: float) -> None:
    return


class TimedSelector(selectors.DefaultSelector):
    """To be given to `asyncio.SelectorEventLoop`. Not guaranteed: use by several threads.

    A selector that comes back later than it was asked to is late by what the loop's thread had to
    wait for, another thread or the machine: that is part of the stretch that follows.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        """`clock`: seconds, never back."""
        super().__init__()
        self._clock = clock
        self.on_stretch: Callable[[float], None] = _nobody
        """Called with the seconds of each stretch of at least LEAST, when it is over; must be
        quick."""
        self.on_work: Callable[[float], None] = _nobody
        """Called with the seconds of every stretch before it is over: what it does is part of it.
        """
        self.began = clock()
        """When the stretch began that runs now, or ran last."""
        self.waiting = True
        """Whether the loop has nothing to do at the moment."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As every selector."""
        asked = self._clock()
        if not self.waiting:
            self.on_work(asked - self.began)
            asked = self._clock()
        if asked - self.began >= LEAST and not self.waiting:
            self.on_stretch(asked - self.began)
            asked = self._clock()
        self.waiting = True
        ready = super().select(timeout)
        came = self._clock()
        if timeout is not None:
            late = came - asked - max(0.0, timeout)
            # It is asked in whole milliseconds, rounded up.
            came -= late if late > LEAST else 0.0
        self.began = came
        self.waiting = False
        return ready
