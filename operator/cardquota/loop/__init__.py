"""The event loop that all work shares (I5).

In: an asyncio loop over a `TimedSelector`. Out: `LoopWatch`, the longest stretch; `TimeSlice` and
`in_slices`, by which long work gives way.
"""

from .longest import Longest
from .loop_watch import BOUND, LoopWatch
from .time_slice import LEADER_SLICE, TimeSlice, in_slices
from .timed_selector import TimedSelector
from .turns import Turns

__all__ = [
    "BOUND",
    "LEADER_SLICE",
    "Longest",
    "LoopWatch",
    "TimeSlice",
    "TimedSelector",
    "Turns",
    "in_slices",
]
