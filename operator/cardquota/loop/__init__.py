"""The event loop that all work shares (I5).

In: an asyncio loop over a `TimedSelector`. Out: `LoopWatch`, the longest stretch; `TimeSlice`,
`in_slices` and `WorkQueue`, by which long work gives way.
"""

from .loop_watch import BOUND, LoopWatch, TimedSelector
from .timing import (
    Backoff,
    Later,
    TimeSlice,
    WorkQueue,
    boottime,
    ended,
    in_loop_later,
    in_slices,
)
from .turns import MOST_OF_ONE, MOST_WAITING, Latest, Turns
