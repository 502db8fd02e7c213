"""Announces changes of the ledger: wakes waiters in its loop, and calls listeners."""

import asyncio
from collections.abc import Callable


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
