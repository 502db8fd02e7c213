"""A card of which there are few: one queue borrows what another is owed, which wants it back."""

import asyncio
import time
from collections import Counter

from ..api import Api
from . import objects
from .clients import WorkloadClient
from .objects import BORROWS, OWED, D

OWNER = "owner"
"""The only one: a fault looks for its pods."""
_MOST = 6
"""Pods of who borrows: more than there are cards."""
_WANTED = 2
"""As many are owed."""
_PATIENCE = 20.0
"""Seconds that who is owed waits for his cards."""


class Borrower(WorkloadClient):
    """Holds all that it may, and always wants more."""

    async def work(self) -> bool:
        pods = await self._own()
        if pods is None:
            return False
        for _ in range(_MOST - len(pods)):
            body = objects.pod(self._new(), self.name, BORROWS, D, 1)
            await self.create(body, BORROWS, D, 1)
        await asyncio.sleep(0.5)
        return True


class CardOwner(WorkloadClient):
    """Comes for what it is owed, and goes again."""

    def __init__(self, _: str, api: Api, seed: str, tally: Counter[str]) -> None:
        super().__init__(OWNER, api, seed, tally)

    async def work(self) -> bool:
        for _ in range(_WANTED):
            await self.create(objects.pod(self._new(), self.name, OWED, D, 1), OWED, D, 1)
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            pods = await self._own()
            if pods is not None and pods and all(one["spec"].get("nodeName") for one in pods):
                self.tally["cards that came back"] += len(pods)
                break
            await asyncio.sleep(0.3)
        await asyncio.sleep(self._dice.uniform(0.5, 2))
        for pod in await self._own() or ():
            await self._api.delete(f"{objects.PODS}/{pod['metadata']['name']}", now=True)
        await asyncio.sleep(self._dice.uniform(1, 4))
        return True
