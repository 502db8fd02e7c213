"""The longest stretch of the event loop, as a metric; one above the bound also in the log.

A selector measures how long the loop does not come back to it. The loop calls its selector once per
round, so this is the cheapest exact place to measure: two clock reads for all callbacks that were
ready at once.
"""

import logging
import selectors
from collections.abc import Callable
from time import perf_counter
from typing import Final

from ..metrics import Metrics

_LOG = logging.getLogger(__name__)
BOUND: Final = 0.1
"""Seconds that a stretch may take at most (I5)."""
_QUIET: Final = 10.0
"""Seconds between two log lines, however many stretches exceed the bound."""
LEAST: Final = 0.001
"""Seconds. Shorter stretches are not reported."""
WINDOW: Final = 60.0
"""Seconds. A stretch is shown for one to two windows."""


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


class LoopWatch:
    """Measures the loop of a selector from now on.

    Guarantees: every stretch of at least 1 ms counts in `cardquota_loop_seconds`. Costs two clock
    reads for each round of the loop. Not guaranteed: a log line for each stretch above the bound.
    """

    def __init__(
        self,
        selector: TimedSelector,
        metrics: Metrics,
        *,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """`selector`: the loop's own. `clock`: the clock that the selector uses."""
        self._clock = clock
        self._longest: dict[float, float] = {}
        """By window. Not since the last scrape: two scrapers would take it from each other. One
        that comes at least once a minute misses none.
        """
        self._logged_at = float("-inf")
        metrics.loop_seconds.set_function(self._of_late)
        selector.on_stretch = self._over

    def _of_late(self) -> float:
        """The longest of this window and the one before. Called from another thread."""
        window = self._clock() // WINDOW
        return max(self._longest.get(one, 0.0) for one in (window - 1, window))

    def _over(self, seconds: float) -> None:
        now = self._clock()
        window = now // WINDOW
        if window not in self._longest:
            self._longest = {one: s for one, s in self._longest.items() if one == window - 1}
        self._longest[window] = max(self._longest.get(window, 0.0), seconds)
        if seconds >= BOUND and now - self._logged_at >= _QUIET:
            self._logged_at = now
            _LOG.warning("the event loop was held up for %.0f ms", seconds * 1000)
