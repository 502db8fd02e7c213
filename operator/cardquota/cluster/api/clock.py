"""The clock for leases, stalls and deadlines, and how long to wait before the next try."""

import random as _random
import sys
import time
from collections.abc import Callable


def boottime() -> float:
    """Seconds since boot, suspended time included.

    Guarantees: never goes back, does not follow changes of the time of day, and continues while the
    machine sleeps (a leader that slept through its deadline must know it).
    Not guaranteed: comparable between machines; outside Linux, including suspended time.
    """
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    else:  # noqa: RET505 - mypy knows this form
        return time.monotonic()


class Backoff:
    """Doubling delays with jitter.

    Guarantees: a delay is between half and all of the doubled value, never above `cap`, and never
    below what the API server asked for (which is honoured up to 60 s).
    """

    def __init__(
        self,
        first: float = 0.25,
        cap: float = 15.0,
        *,
        random: Callable[[], float] = _random.random,
    ) -> None:
        """`first` and `cap`: seconds. `random` returns numbers from 0 to 1."""
        if not 0 < first <= cap:
            raise ValueError("0 < first <= cap must hold")
        self._first = first
        self._cap = cap
        self._random = random
        self._next = first

    def next(self, retry_after: float | None = None) -> float:
        """Seconds to wait now. The next answer is up to twice as long."""
        delay = self._next * (0.5 + self._random() / 2)
        self._next = min(self._next * 2, self._cap)
        return max(delay, min(retry_after or 0.0, 60.0))

    def reset(self) -> None:
        """Something worked: begin with `first` again."""
        self._next = self._first
