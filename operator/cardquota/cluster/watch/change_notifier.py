"""Announces changes of the ledger, and works off, in slices, what one change means for very many
pods.

A node may change what fits for tens of thousands of waiting pods. A namespace, queue or pod group
may have to be read again for as many: some 40 us each, or a few ms if one is as large as it may be.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from ...loop.time_slice import TimeSlice
from ...quota.ledger.ledger import Ledger

AT_ONCE: Final = 100
"""Pods that one event may re-read itself before the rest is left to `CatchingUp`. A large pod
counts as several.
"""
PAUSE: Final = 0.02
"""Seconds between two slices of what nodes have moved, each of which takes some milliseconds."""


class ChangeNotifier:
    """Lets any task in the loop wait until the ledger has changed."""

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()
        self._listeners: list[Callable[[], None]] = []

    @property
    def waiting(self) -> int:
        """How many tasks wait for the next change."""
        return len(self._waiters)

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` at every notification, in the loop. It must be quick."""
        self._listeners.append(listener)

    def notify(self) -> None:
        """The ledger changed."""
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
        for listener in self._listeners:
            listener()

    async def wait_for(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Wait until `condition` holds. Returns whether it did within `timeout` seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while not condition():
            left = end - loop.time()
            if left <= 0:
                return False
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.add(waiter)
            try:
                async with asyncio.timeout(left):
                    await waiter
            except TimeoutError:
                return condition()
            finally:
                self._waiters.discard(waiter)
        return True


class CatchingUp:
    """Works on what the ledger has put off until nothing is left. Starts by itself, in its loop.

    Its work changes the ledger, so it notifies listeners once in each slice.
    """

    def __init__(self, ledger: Ledger, notifier: ChangeNotifier) -> None:
        self._ledger = ledger
        self._notifier = notifier
        self._read: asyncio.Handle | None = None
        self._move: asyncio.TimerHandle | None = None
        notifier.listen(self._look)

    def _look(self) -> None:
        """Cheap if nothing is put off."""
        if self._read is None and self._ledger.overdue:
            self._read = asyncio.get_running_loop().call_soon(self._read_some)
        if self._move is None and self._ledger.behind:
            self._move = asyncio.get_running_loop().call_later(PAUSE, self._move_some)

    def _read_some(self) -> None:
        """Of the pods that are to be read again."""
        self._read = None
        slice_ = TimeSlice()
        self._ledger.reassessment.read_overdue(lambda: slice_.over)
        self._notifier.notify()  # and look again

    def _move_some(self) -> None:
        """Of the pods that may go to other nodes now."""
        self._move = None
        self._ledger.catch_up()
        self._notifier.notify()  # and look again
