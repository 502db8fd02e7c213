"""When work in the loop has its turn (I5): long work gives way, short work that comes all at once
stands in line, and what is to be done later waits for its time; by which clock, and how long before
the next try; and the end of tasks, for certain.
"""

import asyncio
import random as _random
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, Final, Generic, Protocol, TypeVar

from ..quota.steps import Steps
from ..quota.words import time_text

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


_NOBODY: Final = "the loop has ended before it was done"


class WorkQueue(Generic[T]):
    """Does pieces of work in the order in which they came, for one slice at a time (I5).

    Each alone would give way to nobody: a server reads all requests that have come, and each is
    worked on at once. Not guaranteed: that one piece is short.
    """

    def __init__(self) -> None:
        self._waiting = deque[tuple[asyncio.Future[T], Callable[[], T]]]()
        self._worker: asyncio.Task[None] | None = None

    async def do(self, work: Callable[[], T]) -> T:
        """Its result, or what it raises. Whoever is cancelled before his turn has none."""
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append((mine, work))
        if self._worker is None:
            self._begin()
        found: T = await mine
        return found

    async def _work(self) -> None:
        slice_ = TimeSlice()
        while self._waiting:
            mine, work = self._waiting.popleft()
            if mine.done():
                continue
            try:
                found = work()
            except Exception as error:  # noqa: BLE001
                mine.set_exception(error)
            else:
                mine.set_result(found)
            await slice_.give_way()

    def _ended(self, worker: asyncio.Task[None]) -> None:
        """Who came in the moment in which it ended has his turn. If it was cancelled, with the
        loop, nobody is to wait for ever.
        """
        self._worker = None
        if worker.cancelled():
            while self._waiting:
                self._waiting.popleft()[0].cancel(_NOBODY)
        elif self._waiting:
            self._begin()

    def _begin(self) -> None:
        self._worker = asyncio.create_task(self._work())
        self._worker.add_done_callback(self._ended)


class Timer(Protocol):
    """A call that is still to come, unless it is cancelled."""

    def cancel(self) -> None:
        """Cancel the call."""


Later = Callable[[float, Callable[[], None]], Timer]
"""Calls a function after a number of seconds."""


def in_loop_later(seconds: float, call: Callable[[], None]) -> Timer:
    """By the running loop's own clock."""
    return asyncio.get_running_loop().call_later(seconds, call)


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


def now_text() -> str:
    """The time of day, RFC 3339, in whole seconds."""
    return time_text(int(time.time()))


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


_AGAIN: Final = 10.0
"""Seconds after which a task that has not ended is cancelled again. Twice what any of ours takes to
tidy up, in which it must not be disturbed."""


async def ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks, again and again, and return once all have ended. Their errors are dropped.

    A cancellation can get lost: a library that cancels a task at its own time-out may take ours for
    its own, if both come at once, as when a process goes on after a pause. Then the task goes on,
    and who waits for its end waits for ever.

    If this is cancelled, it goes on until then all the same. Not guaranteed: that this returns, if
    a task ignores every cancellation.
    """
    tasks = set(tasks)
    left, cancelled = tasks, False
    while left:
        for task in left:
            task.cancel()
        again = asyncio.get_running_loop().time() + _AGAIN
        while left and (wait := again - asyncio.get_running_loop().time()) > 0:
            try:
                _, left = await asyncio.wait(left, timeout=wait)
            except asyncio.CancelledError:
                cancelled = True
                left = {task for task in left if not task.done()}
    for task in tasks:
        if not task.cancelled():
            task.exception()  # or asyncio complains that nobody has asked for it
    if cancelled:
        raise asyncio.CancelledError
