"""How far a reflector has delivered its kind, and what waits until it has delivered more."""

import asyncio


class Progress:
    """Only moves forward. Belongs to the event loop it is used in."""

    def __init__(self) -> None:
        self.revision = 0
        """The newest resourceVersion up to which everything was delivered; 0 before a list."""
        self.current_at = float("-inf")
        """When, on the reflector's clock, that was last known to be everything."""
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    def told_up_to(self, revision: int, at: float) -> None:
        """Everything up to `revision` was delivered, as of `at` on the reflector's clock."""
        self.revision = max(self.revision, revision)
        self.current_at = max(self.current_at, at)
        for wanted, waiter in self._waiters:
            if wanted <= self.revision and not waiter.done():
                waiter.set_result(None)

    @property
    def awaited(self) -> bool:
        """Whether a waiter needs a revision that was not delivered yet."""
        return any(wanted > self.revision for wanted, _ in self._waiters)

    async def reached(self, revision: int) -> None:
        """Return once everything up to `revision` was delivered. It is `awaited` meanwhile."""
        waiter = (revision, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        try:
            await waiter[1]
        finally:
            self._waiters.remove(waiter)
