"""When something that failed is tried again: later each time, and never twice for one failure."""

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from itertools import count
from typing import Final, Generic, TypeVar

from ...cluster.api.backoff import Backoff

K = TypeVar("K", bound=Hashable)

_AT_A_TIME: Final = 100
"""Things that are tried again, or forgotten, before others in the loop have a turn: all of a large
gang may have failed at once."""


class Retries(Generic[K]):
    """Calls `again` for what failed, after a while.

    A thing is remembered from its first failure until it `worked`, or until it has not failed for
    twice the longest delay. However many there are, there is one timer, and what is due is tried
    some at a time. Belongs to the loop it is used in.
    """

    def __init__(self, again: Callable[[K], None], *, first: float, cap: float) -> None:
        """`first` and `cap`: seconds before the first and between later tries.

        `again` is called once per failure, and should take no longer than to note what is due.
        """
        self._again = again
        self._first, self._cap = first, cap
        self._backoffs: dict[K, Backoff] = {}
        self._waiting: dict[K, int] = {}
        """Those that are to be tried again, and by which entry of the line."""
        self._line: list[tuple[float, int, K]] = []
        """A heap: when which is tried. What has worked since stays in it until then."""
        self._tried: OrderedDict[K, float] = OrderedDict()
        """All others, and when they are forgotten, which is last put in."""
        self._numbers = count()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._backoffs)

    def failed(self, key: K) -> None:
        """Have it tried again after a while, unless that is so already."""
        if key in self._waiting:
            return
        backoff = self._backoffs.get(key)
        if backoff is None:
            backoff = self._backoffs[key] = Backoff(self._first, self._cap)
        self._tried.pop(key, None)
        number = self._waiting[key] = next(self._numbers)
        due = asyncio.get_running_loop().time() + backoff.next()
        heapq.heappush(self._line, (due, number, key))
        self._set_timer()

    def worked(self, key: K) -> None:
        """Or is gone: nothing is to be tried again."""
        self._backoffs.pop(key, None)
        self._waiting.pop(key, None)
        self._tried.pop(key, None)

    def stop(self) -> Iterator[None]:
        """Nothing is tried again any more, from now on.

        What is returned is to be iterated over: each step of it forgets one thing, for to forget
        all of very many in one go would hold up the loop.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return self._forget()

    def _forget(self) -> Iterator[None]:
        while self._line:
            self._line.pop()
            yield
        while self._backoffs:
            self.worked(next(reversed(self._backoffs)))
            yield

    def _fire(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        try:
            for _ in range(_AT_A_TIME):
                if self._line and self._line[0][0] <= now:
                    self._try_first(now)
                elif self._tried and next(iter(self._tried.values())) <= now:
                    self.worked(next(iter(self._tried)))
                else:
                    break
        finally:
            self._set_timer()

    def _try_first(self, now: float) -> None:
        _, number, key = heapq.heappop(self._line)
        if self._waiting.get(key) == number:
            del self._waiting[key]
            self._tried[key] = now + 2 * self._cap
            self._again(key)

    def _set_timer(self) -> None:
        """For what is due first; to be called when that may be something else."""
        times = [self._line[0][0]] if self._line else []
        if self._tried:
            times.append(next(iter(self._tried.values())))
        if not times:
            return
        due = min(times)
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(due, self._fire)
