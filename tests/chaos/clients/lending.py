"""A card of which there are few: one queue borrows what another is owed, which wants it back."""

import asyncio
import time
from collections import Counter

from ..api import Api
from . import objects
from .clients import WorkloadClient
from .objects import BORROWS, CARDS, OWED, D

BORROWER, OWNER = "borrower", "owner"
"""The only ones: a fault looks for their pods."""
CAME_BACK = "cards that came back"
"""How often that is counted."""
_MOST = 6
"""Pods of who borrows: more than there are cards."""
_WANTED = 2
"""As many are owed."""
_PATIENCE = 40.0
"""Seconds that who is owed waits for his cards: leaders are killed meanwhile."""


class Borrower(WorkloadClient):
    """Holds all that it may, and always wants more."""

    def __init__(self, _: str, api: Api, seed: str, tally: Counter[str]) -> None:
        super().__init__(BORROWER, api, seed, tally)

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
    """Comes for what it is owed once all is lent, and goes again."""

    def __init__(self, _: str, api: Api, seed: str, tally: Counter[str]) -> None:
        super().__init__(OWNER, api, seed, tally)

    async def work(self) -> bool:
        if await self._lent() < CARDS:
            return False
        for _ in range(_WANTED):
            await self.create(objects.pod(self._new(), self.name, OWED, D, 1), OWED, D, 1)
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            pods = await self._own()
            if pods is not None and all(one["spec"].get("nodeName") for one in pods):
                self.tally[CAME_BACK] += len(pods)
                break
            await asyncio.sleep(0.3)
        await asyncio.sleep(self._dice.uniform(0.5, 2))
        for pod in await self._own() or ():
            await self._api.delete(f"{objects.PODS}/{pod['metadata']['name']}", now=True)
        return True

    async def _lent(self) -> int:
        reply = await self._api.get(f"{objects.PODS}?labelSelector=client={BORROWER}")
        return sum("nodeName" in one["spec"] for one in reply.body.get("items", ()))
