"""The longest stretch of the event loop, as a metric; one above the bound also in the log."""

import logging
from collections.abc import Callable
from time import perf_counter
from typing import Final

from ..metrics import Metrics
from .longest import Longest
from .timed_selector import TimedSelector

_LOG = logging.getLogger(__name__)
BOUND: Final = 0.1
"""Seconds that a stretch may take at most (I5)."""
_QUIET: Final = 10.0
"""Seconds between two log lines, however many stretches exceed the bound."""


class LoopWatch:
    """Measures the loop of a selector from `start` on.

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
        self._selector = selector
        self._clock = clock
        self._longest = Longest()
        metrics.loop_seconds.set_function(lambda: self._longest.of_late(clock()))
        self._logged_at = float("-inf")

    def start(self) -> None:
        """Measure from now on."""
        self._selector.on_stretch = self._over

    def _over(self, seconds: float) -> None:
        now = self._clock()
        self._longest.add(now, seconds)
        if seconds >= BOUND and now - self._logged_at >= _QUIET:
            self._logged_at = now
            _LOG.warning("the event loop was held up for %.0f ms", seconds * 1000)
