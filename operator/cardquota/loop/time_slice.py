"""Long work gives way: after a few milliseconds all other work in the loop runs."""

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Final, TypeVar

from ..quota.steps import Steps

T = TypeVar("T")

SLICE: Final = 0.01
"""Seconds. A tenth of what a stretch may take: other ready work shares the rest."""
LEADER_SLICE: Final = 0.015
"""Seconds for which the leader decides or reports at a time; the loop also renews the Lease."""


class TimeSlice:
    """One long piece of work in steps. Between two steps other work may change its data.

    Not guaranteed: that a slice ends in time. Each step has to be far shorter than the slice.
    """

    def __init__(
        self, seconds: float | None = None, clock: Callable[[], float] = perf_counter
    ) -> None:
        """`seconds`: the length of a slice, SLICE if None; the first begins now. `clock`: seconds,
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
        """Whether this part of the slice has passed; other work needs the rest."""
        return self._clock() >= self._begun + part * self._seconds

    async def give_way(self) -> bool:
        """Call it after each step. If the slice is over, it lets all other work run and begins
        another slice. Returns whether it was over.
        """
        if not self.over:
            return False
        await asyncio.sleep(0)
        self._begun = self._clock()
        return True


async def in_slices(steps: Steps[T]) -> T:
    """Run all steps in time slices, and return the result."""
    slice_ = TimeSlice()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        await slice_.give_way()
