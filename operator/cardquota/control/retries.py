"""When something that failed is tried again: later each time, and never by two timers at once."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from ..cluster.backoff import Backoff

K = TypeVar("K", bound=Hashable)


class Retries(Generic[K]):
    """Calls `again` for what failed, after a while.

    A thing is remembered from its first failure until it `worked`, or until it has not failed for
    twice the longest delay.
    """

    def __init__(self, again: Callable[[K], None], *, first: float, cap: float) -> None:
        """`first` and `cap`: seconds before the first and between later tries."""
        self._again = again
        self._first, self._cap = first, cap
        self._backoffs: dict[K, Backoff] = {}
        self._timers: dict[K, asyncio.TimerHandle] = {}
        """The next try of those that wait for it; of all others, when they are forgotten."""
        self._waiting: set[K] = set()

    def __len__(self) -> int:
        return len(self._backoffs)

    def failed(self, key: K) -> None:
        """Have it tried again after a while, unless that is so already."""
        if key in self._waiting:
            return
        backoff = self._backoffs.get(key)
        if backoff is None:
            backoff = self._backoffs[key] = Backoff(self._first, self._cap)
        self._waiting.add(key)
        self._at(backoff.next(), key, self._fire)

    def worked(self, key: K) -> None:
        """Or is gone: nothing is to be tried again."""
        self._backoffs.pop(key, None)
        self._waiting.discard(key)
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def stop(self) -> None:
        """Nothing is tried again any more."""
        for key in list(self._backoffs):
            self.worked(key)

    def _fire(self, key: K) -> None:
        self._waiting.discard(key)
        self._at(2 * self._cap, key, self.worked)
        self._again(key)

    def _at(self, delay: float, key: K, call: Callable[[K], None]) -> None:
        before = self._timers.get(key)
        if before is not None:
            before.cancel()
        self._timers[key] = asyncio.get_running_loop().call_later(delay, call, key)
