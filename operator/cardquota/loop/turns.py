"""Many short pieces of work that come at once: one after the other, and others in between."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from .time_slice import TimeSlice

T = TypeVar("T")

_NOBODY: Final = "the loop has ended before it was done"


class Turns(Generic[T]):
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
