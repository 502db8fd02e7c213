"""Long work that many ask for: one at a time, or made once in a while for all (I5)."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from ..quota.steps import Steps
from .timing import in_slices

T = TypeVar("T")
MOST_WAITING: Final = 32
"""Questions that are answered or wait. Who comes then asks again later."""
MOST_OF_ONE: Final = 4
"""Those of them of one asker: the rest is for others."""


class WaitedTooLongError(Exception):
    """The turn came so late that the rest of the time may not be enough, or nobody waits."""


class Turns:
    """Answers one question at a time, in slices: many questions take turns with all other work, and
    never hold more than one answer in memory (I5).
    """

    def __init__(self, clock: Callable[[], float], longest_wait: float) -> None:
        """`clock`: seconds, monotonic. `longest_wait`: seconds until one's turn."""
        self._clock = clock
        self._longest_wait = longest_wait
        self._turn = asyncio.Lock()
        self._asked = Counter[str]()
        """By asker: the questions that are answered or wait."""

    def taken(self, asker: str) -> bool:
        """Whether there is no room for another question, of all or of this asker."""
        return self._asked.get(asker, 0) >= MOST_OF_ONE or self._asked.total() >= MOST_WAITING

    async def done(self, asker: str, steps: Steps[T]) -> T:
        """What comes of the steps, once it is their turn. Errors: WaitedTooLongError."""
        since = self._clock()
        self._asked[asker] += 1
        try:
            async with self._turn:
                if self._clock() - since > self._longest_wait:
                    raise WaitedTooLongError
                return await in_slices(steps)
        finally:
            self._asked[asker] -= 1
            if not self._asked[asker]:
                del self._asked[asker]


class Latest(Generic[T]):
    """Made once at a time, however many ask, and with a pause between. What is read was begun when
    it was asked for, or later.
    """

    def __init__(self, make: Callable[[], Awaitable[T]], every: float) -> None:
        """`every`: seconds between two of them, at least."""
        self._make = make
        self._every = every
        self._one = asyncio.Lock()
        self._made: T | None = None
        self._begun = float("-inf")
        """When it was begun."""
        self._next = 0.0
        """When another one may be begun."""

    async def read(self) -> T:
        """Waits for the one before it, and for the pause since then."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        async with self._one:
            if self._made is None or self._begun < asked:
                await asyncio.sleep(max(0.0, self._next - loop.time()))  # and for all who ask now
                self._begun = loop.time()
                try:
                    self._made = await self._make()
                finally:  # who asks may go away
                    self._next = loop.time() + self._every
            return self._made
