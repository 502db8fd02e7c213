"""The longest recent stretch, as the metric shows it."""

WINDOW = 60.0
"""Seconds. A stretch is shown for one to two windows."""


class Longest:
    """The longest stretch of the last one to two windows.

    Not since the last scrape: two scrapers would take it from each other. A scraper that comes at
    least once a minute misses none.
    """

    def __init__(self, window: float = WINDOW) -> None:
        """`window`: seconds."""
        self._window = window
        self._began = float("-inf")
        self._now = 0.0
        self._before = 0.0

    def add(self, at: float, seconds: float) -> None:
        """A stretch ended `at` that time, on a clock that never goes back."""
        if at - self._began >= self._window:
            self._before = self._now if at - self._began < 2 * self._window else 0.0
            self._began, self._now = at, 0.0
        self._now = max(self._now, seconds)

    def of_late(self, at: float) -> float:
        """The longest, in seconds; 0 if there was none. May be called from another thread."""
        since = at - self._began
        if since >= 2 * self._window:
            return 0.0
        return self._now if since >= self._window else max(self._now, self._before)
