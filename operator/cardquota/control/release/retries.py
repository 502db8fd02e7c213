"""When failed work is retried: after ever longer pauses, and once for each failure."""

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from itertools import count
from typing import Final, Generic, TypeVar

from ...cluster.api.backoff import Backoff

K = TypeVar("K", bound=Hashable)

TRY_AGAIN: Final = 1.0
"""Seconds before the first retry of what failed, if no news of it comes earlier."""
AT_MOST: Final = 60.0
"""Seconds between two tries, at most."""
_AT_A_TIME: Final = 100
"""Keys that are retried, or forgotten, before other work in the loop has a turn: a large gang may
fail as a whole."""


class Retries(Generic[K]):
    """Calls `again` for what failed, after a while.

    A key is remembered from its first failure until it `worked`, or until it has not failed for
    twice the longest delay. There is one timer for all keys, and due keys are tried some at a time.
    Belongs to the loop it is used in.
    """

    def __init__(
        self, again: Callable[[K], None], *, first: float | None = None, cap: float | None = None
    ) -> None:
        """`first` and `cap`: seconds before the first retry and, at most, between later ones;
        TRY_AGAIN and AT_MOST if None.

        `again` is called once per failure. It should do no more than note that the key is due.
        """
        self._again = again
        self._first = TRY_AGAIN if first is None else first
        self._cap = AT_MOST if cap is None else cap
        self._backoffs: dict[K, Backoff] = {}
        self._waiting: dict[K, int] = {}
        """Keys to be tried again, and the number of their entry in `_line`."""
        self._line: list[tuple[float, int, K]] = []
        """A heap: when each key is tried. A key that has worked since stays until then."""
        self._tried: OrderedDict[K, float] = OrderedDict()
        """All other keys, and when they are forgotten. The latest is put last."""
        self._numbers = count()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._backoffs)

    def failed(self, key: K) -> None:
        """Have a key tried again after a while, unless it is already waiting for that."""
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
        """The key worked or is gone: it is not tried again."""
        self._backoffs.pop(key, None)
        self._waiting.pop(key, None)
        self._tried.pop(key, None)

    def stop(self) -> Iterator[None]:
        """Try nothing again from now on.

        Iterate over the result: each step forgets one key. Forgetting very many in one go would
        hold up the loop.
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
        """For the key that is due first. Call this when that may have changed."""
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
