"""How far a reflector has told its kind, and who waits until it has told more."""

import asyncio


class Progress:
    """Goes forward only. Belongs to the event loop it is used in."""

    def __init__(self) -> None:
        self.revision = 0
        """The newest resourceVersion up to which everything was told; 0 before the first list."""
        self.current_at = float("-inf")
        """When, on the reflector's clock, that was last known to be all there is."""
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    def told_up_to(self, revision: int, at: float) -> None:
        """Everything up to `revision` was told, as it stood at `at` on the reflector's clock."""
        self.revision = max(self.revision, revision)
        self.current_at = max(self.current_at, at)
        for wanted, waiter in self._waiters:
            if wanted <= self.revision and not waiter.done():
                waiter.set_result(None)

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for a revision that was not told yet."""
        return any(wanted > self.revision for wanted, _ in self._waiters)

    async def reached(self, revision: int) -> None:
        """Return once everything up to `revision` was told; it is awaited from the call on."""
        waiter = (revision, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        try:
            await waiter[1]
        finally:
            self._waiters.remove(waiter)
