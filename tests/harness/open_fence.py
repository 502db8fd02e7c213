"""A fence that lets everything of the current term through, where no API server is."""

import asyncio
from collections.abc import Awaitable, Callable


class OpenFence:
    """Stands where a `Fence` stands."""

    problem = ""

    def __init__(self) -> None:
        self.closed = False

    async def run(self, _: str) -> None:
        await asyncio.Event().wait()

    async def held(self) -> float:
        return float("-inf")

    def refused(self, _: Callable[[], Awaitable[object]]) -> None:
        """As the real one, until somebody opens it again."""
        self.closed = True
