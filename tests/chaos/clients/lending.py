"""Those for whom others end. Of one card there are few: one queue borrows what another is owed,
which wants it back. In a third queue who has a higher priority takes a card of who has none.
"""

import asyncio
import time
from collections import Counter

from ..api import Api
from . import objects
from .clients import WorkloadClient
from .objects import BORROWS, CARDS, OWED, RANKS, A, D

BORROWER, OWNER, SUPERIOR = "borrower", "owner", "superior"
"""The only ones: a fault looks for their pods."""
CAME_BACK, TAKEN = "cards that came back", "cards taken by a higher priority"
"""As they are counted."""
_GANG, _MEMBERS, _MINIMUM = "borrower-gang", 3, 2
"""A group of who borrows, how many pods it has, and how many it needs. With the others of who
borrows they are as many as there are cards, or one more.
"""
_WANTED = 2
"""As many are owed."""
_PATIENCE = 60.0
"""Seconds that who is owed waits for his cards: leaders are killed meanwhile."""
_GONE, _IS_THERE = 404, 409


class Borrower(WorkloadClient):
    """Holds all that it may: pods of which each ends by itself, and a gang with one that may."""

    def __init__(self, _: str, api: Api, seed: str, tally: Counter[str]) -> None:
        super().__init__(BORROWER, api, seed, tally)
        self._others = 1

    async def work(self) -> bool:
        pods = await self._own()
        if pods is None:
            return False
        if not self._made:
            body = objects.group(_GANG, self.name, BORROWS, _MINIMUM)
            reply = await self._api.create(objects.GROUPS, body)
            if not reply.ok and reply.code != _IS_THERE:
                return False
        members = sum(pod["metadata"]["name"].startswith(_GANG) for pod in pods)
        if len(pods) < CARDS:  # somebody was ended
            self._others = self._dice.choice((1, 2))
        for _ in range(self._others - (len(pods) - members)):
            await self._one_more("")
        for _ in range(_MEMBERS - members):
            await self._one_more(_GANG)
        await asyncio.sleep(0.5)
        return True

    async def _one_more(self, group: str) -> None:
        name, queue = self._new(), "" if group else BORROWS
        name = f"{group}{name.removeprefix(self.name)}" if group else name
        await self.create(objects.pod(name, self.name, queue, D, 1, group=group), BORROWS, D, 1)


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


class Superior(WorkloadClient):
    """Lets two pods have the cards of its queue, and then one come that goes before them."""

    def __init__(self, _: str, api: Api, seed: str, tally: Counter[str]) -> None:
        super().__init__(SUPERIOR, api, seed, tally)

    async def work(self) -> bool:
        for priority in ("", "", objects.SUPERIOR):
            body = objects.pod(self._new(), self.name, RANKS, A, 1, priority=priority)
            reply = await self.create(body, RANKS, A, 1)
            if not reply.ok or not await self._starts(body["metadata"]["name"]):
                break
        else:
            self.tally[TAKEN] += 1
        for pod in await self._own() or ():
            await self._api.delete(f"{objects.PODS}/{pod['metadata']['name']}", now=True)
        return reply.ok

    async def _starts(self, name: str) -> bool:
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            reply = await self._api.get(f"{objects.PODS}/{name}")
            if reply.code == _GONE or reply.body.get("spec", {}).get("nodeName"):
                return reply.ok
            await asyncio.sleep(0.3)
        return False
