"""How long each part of the demo took."""

import time
from collections.abc import Callable


class Clock:
    """Seconds of each part, in the order in which they ran."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._begun = now, now()
        self._last = self._begun
        self.parts: list[tuple[str, float]] = []

    def lap(self, part: str) -> None:
        """A part has just ended."""
        now = self._now()
        self.parts.append((part, now - self._last))
        self._last = now

    @property
    def total(self) -> float:
        """All parts together."""
        return self._last - self._begun
