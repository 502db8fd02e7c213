"""A queue that is always full of pods that stay, before which others wait.

What a fault is to show is done here on purpose: cards become free, somebody urgent comes, the
quota rises, all at a moment that the fault chooses.
"""

import asyncio
from collections import Counter
from random import Random

from ..api import Api, Object
from . import objects
from .clients import WorkloadClient
from .objects import QUEUES, URGENT, A

QUEUE = "steady"
_WAITING = 8
"""As many wait at any time, whatever happens."""


class Steady(WorkloadClient):
    """Keeps the queue full, and pods waiting."""

    def __init__(self, api: Api, tally: Counter[str]) -> None:
        super().__init__("steady", api, "steady", tally)
        self._quota = QUEUES[QUEUE][1][A]

    async def work(self) -> bool:
        pods = await self._own()
        if pods is None:
            return False
        short = _WAITING - sum(map(_gated, pods))
        await asyncio.gather(*(self.come() for _ in range(short)))
        await asyncio.sleep(0.3)
        return True

    async def come(self, priority: str = "") -> None:
        """One more pod, of which nobody changes anything."""
        body = objects.pod(self._new(), self.name, QUEUE, A, 1, priority=priority)
        for _ in range(20):
            if (await self.create(body, QUEUE, A, 1)).code in (201, 409):
                return
            await asyncio.sleep(0.3)  # whoever was to be asked has just been killed

    async def free(self, dice: Random, count: int) -> None:
        """Some cards become free at once."""
        running = [pod for pod in await self._own() or () if not _gated(pod)]
        for pod in dice.sample(running, min(count, len(running))):
            await self._api.delete(f"{objects.PODS}/{pod['metadata']['name']}", now=True)

    async def urgent(self, count: int) -> None:
        """Some come that go before all that wait."""
        await asyncio.gather(*(self.come(URGENT) for _ in range(count)))

    async def raise_quota(self, count: int) -> None:
        """There is room for some more."""
        self._quota += count
        await self._api.patch(f"{objects.QUEUE_PATH}/{QUEUE}", objects.allowing({A: self._quota}))


def _gated(pod: Object) -> bool:
    return bool(pod["spec"].get("schedulingGates"))
