"""Work that takes long gives way: after a few milliseconds everybody else in the loop runs."""

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Final, TypeVar

from ..quota.steps import Steps

T = TypeVar("T")

SLICE: Final = 0.01
"""Seconds. A fifth of what no stretch may take: what is ready at once shares the rest."""
LEADER_SLICE: Final = 0.02
"""Seconds that the leader decides or reports at a time; the loop also renews the Lease."""


class TimeSlice:
    """One long piece of work in steps. Between two steps others may change what it works on.

    Not guaranteed: that a slice ends in time. Each step has to be far shorter than the slice.
    """

    def __init__(
        self, seconds: float | None = None, clock: Callable[[], float] = perf_counter
    ) -> None:
        """`seconds`: how long a slice lasts, SLICE if None; the first begins now. `clock`: seconds,
        monotonic.
        """
        self._seconds = SLICE if seconds is None else seconds
        self._clock = clock
        self._begun = clock()

    @property
    def over(self) -> bool:
        """Whether it is time to give way."""
        return self._clock() >= self._begun + self._seconds

    def beyond(self, part: float) -> bool:
        """Whether this part of the slice has passed; what else is to be done needs the rest."""
        return self._clock() >= self._begun + part * self._seconds

    async def give_way(self) -> bool:
        """After each step: if the slice is over, let everybody else run, and begin another.
        Whether it was over.
        """
        if not self.over:
            return False
        await asyncio.sleep(0)
        self._begun = self._clock()
        return True


async def in_slices(steps: Steps[T]) -> T:
    """What comes of them."""
    slice_ = TimeSlice()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        await slice_.give_way()
