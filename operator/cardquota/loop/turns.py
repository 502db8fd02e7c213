"""Work that takes long gives way: after a few milliseconds everybody else has a turn."""

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Final, TypeVar

from ..quota.steps import Steps

T = TypeVar("T")

TURN: Final = 0.01
"""Seconds. A fifth of what no stretch may take: what is ready at once shares the rest."""


class Turns:
    """One long piece of work in steps. Between two steps others may change what it works on.

    Not guaranteed: that a turn ends in time. One step has to be short by itself.
    """

    def __init__(
        self, seconds: float | None = None, clock: Callable[[], float] = perf_counter
    ) -> None:
        """`seconds`: how long a turn lasts, TURN if None; the first begins now."""
        self._seconds = seconds = TURN if seconds is None else seconds
        self._clock = clock
        self._ends = clock() + seconds

    @property
    def over(self) -> bool:
        """Whether it is time to give way."""
        return self._clock() >= self._ends

    async def give_way(self) -> bool:
        """After each step: let everybody else run if it is time. Whether it was."""
        if not self.over:
            return False
        await asyncio.sleep(0)
        self._ends = self._clock() + self._seconds
        return True


async def in_turns(steps: Steps[T]) -> T:
    """What comes of them."""
    turns = Turns()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        await turns.give_way()
