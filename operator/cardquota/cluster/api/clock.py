"""The clock for leases, stalls and deadlines."""

import sys
import time


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
