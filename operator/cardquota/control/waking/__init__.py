"""Wakes the controllers of workloads whose pods were refused, once there is room for them.

A controller whose creates fail tries again after ever longer pauses, of up to 1,000 s.
"""

from .workload_waker import EXPECTED, FIRST, LONGEST, NOTE_AGAIN, SETTLED, WorkloadWaker

__all__ = [
    "EXPECTED",
    "FIRST",
    "LONGEST",
    "NOTE_AGAIN",
    "SETTLED",
    "WorkloadWaker",
]
