"""The clock of everything that must not be fooled: leases, stalls, deadlines."""

import sys
import time


def boottime() -> float:
    """Seconds since boot, suspended time included.

    Guarantees: never goes back, is not moved by anybody who sets the time of day, and goes on
    while the machine sleeps (a leader that slept through its deadline must know it).
    Not guaranteed: comparable between machines; outside Linux, counting a suspension.
    """
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    else:  # noqa: RET505 - mypy knows this form
        return time.monotonic()
