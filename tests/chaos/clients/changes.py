"""Clients that change what others rest on: groups while members wait and run, and quotas."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from . import objects
from .clients import GangClient, WorkloadClient
from .objects import NOWHERE, QUEUES, URGENT, A, B

_BETWEEN = ("gangs", "spare")
"""Queues that groups move between. What is held in the first is more than the second allows."""
_NOBODY = "nobody"
"""A group that there never is."""


class Mover(GangClient):
    """Groups that move, grow, shrink, and are made again under their names, while they run."""

    async def work(self) -> bool:
        self._group, self._queue, self._minimum = self._new(), "gangs", self._dice.choice((2, 3))
        if not await self._made_group():
            return False
        self._members: list[str] = []
        amount = self._dice.choice((1, 2))
        await asyncio.gather(*(self._one_more(amount) for _ in range(self._minimum)))
        if self._dice.random() < 0.6:
            await self._until_all_run(self._minimum)
        for _ in range(self._dice.choice((2, 4, 6))):
            await self._dice.choice(self._deeds())()
            await asyncio.sleep(self._dice.uniform(0.1, 0.8))
        for pod in self._members:
            await self._gone(f"{objects.PODS}/{pod}")
        if self._dice.random() < 0.8:
            await self._gone(self._path)
        return True

    @property
    def _path(self) -> str:
        return f"{objects.GROUPS}/{self._group}"

    def _deeds(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        more = partial(self._one_more, self._dice.choice((0, 1, 2)))
        return (self._move, self._move_and_grow, self._resize_group, self._hurry, self._again,
                self._one_less, more)  # fmt: skip

    async def _made_group(self) -> bool:
        priority = self._dice.choice(("", "", URGENT))
        body = objects.group(self._group, self.name, self._queue, self._minimum, priority=priority)
        made = (await self._api.create(objects.GROUPS, body)).ok
        self.tally["groups that change"] += made
        return made

    async def _one_more(self, amount: int) -> None:
        """Its queue is the group's."""
        pod = self._new()
        self._members.append(pod)
        card = A if amount else ""
        body = objects.pod(pod, self.name, "", card, amount, group=self._group)
        for _ in range(5):
            reply = await self.create(body, self._queue, A, amount)
            if reply.ok or reply.code == 409:
                return
            await asyncio.sleep(0.5)

    async def _one_less(self) -> None:
        if self._members:
            pod = self._members.pop(self._dice.randrange(len(self._members)))
            await self._gone(f"{objects.PODS}/{pod}")

    async def _move(self) -> None:
        self._queue = _BETWEEN[self._queue == _BETWEEN[0]]
        await self._change("groups moved", queue=self._queue)

    async def _move_and_grow(self) -> None:
        """To another queue, where one more must start that asks for no card."""
        self._queue = _BETWEEN[self._queue == _BETWEEN[0]]
        self._minimum = len(self._members) + 1
        await self._change("groups moved and grown", queue=self._queue, minMember=self._minimum)
        await self._one_more(0)
        await asyncio.sleep(self._dice.uniform(0.5, 1.5))

    async def _resize_group(self) -> None:
        self._minimum = self._dice.choice((1, 2, 3, 5))
        await self._change("groups with another minimum", minMember=self._minimum)

    async def _hurry(self) -> None:
        priority = self._dice.choice((URGENT, None))
        await self._change("groups with another priority", priorityClassName=priority)

    async def _change(self, what: str, **spec: object) -> None:
        self.tally[what] += (await self._api.patch(self._path, {"spec": spec})).ok

    async def _again(self) -> None:
        """Another group under its name, while its members wait or run."""
        await self._gone(self._path)
        self._queue, self._minimum = self._dice.choice(_BETWEEN), self._dice.choice((2, 3))
        for _ in range(10):
            if await self._made_group():
                self.tally["groups made again"] += 1
                return
            await asyncio.sleep(0.3)


class Incomplete(GangClient):
    """A gang of which one member never gets a node, and then is gone: what it did not use is
    reserved for nobody.
    """

    async def work(self) -> bool:
        name = self._new()
        body = objects.group(name, self.name, "gangs", 2)
        if not (await self._api.create(objects.GROUPS, body)).ok:
            return False
        runs, stuck = f"{name}-runs", f"{name}-stuck"
        await asyncio.gather(self._member(runs, name, 1), self._member(stuck, name, 1, NOWHERE))
        await self._until_all_run(1)
        await asyncio.sleep(0.5)
        await self._gone(f"{objects.PODS}/{stuck}")
        self.tally["gangs that stay incomplete"] += 1
        await asyncio.sleep(self._dice.uniform(8, 25))
        await self._gone(f"{objects.PODS}/{runs}")
        await self._gone(f"{objects.GROUPS}/{name}")
        return True


class Stranger(WorkloadClient):
    """Names a group that does not exist, in a queue whose pods are told at once."""

    async def work(self) -> bool:
        name = self._new()
        body = objects.pod(name, self.name, "serve", A, 5, group=_NOBODY)
        reply = await self.create(body, "serve", A, 5)
        self.tally["pods of no group"] += reply.ok
        if reply.ok:
            await asyncio.sleep(self._dice.uniform(5, 12))
            await self._api.delete(f"{objects.PODS}/{name}", now=True)
        await asyncio.sleep(self._dice.uniform(1, 3))
        return reply.code != 0


class Administrator(WorkloadClient):
    """Lowers quotas below what is held, and raises them again."""

    async def work(self) -> bool:
        name = self._dice.choice(("train", "gangs", "spare"))
        part = self._dice.choice((0.3, 0.5, 0.7, 1.0, 1.0, 1.0))
        quota = {card: int(part * most) for card, most in QUEUES[name][1].items()}
        path = f"{objects.QUEUE_PATH}/{name}"
        reply = await self._api.patch(path, objects.allowing(quota))
        self.tally["quotas changed"] += reply.ok
        await asyncio.sleep(self._dice.uniform(1.0, 4.0))
        return reply.code != 0


LAX = "chaos-lax"
_PODS = f"/api/v1/namespaces/{LAX}/pods"
_NAMESPACES = "/api/v1/namespaces"
_MODE = "volcano.sh/card-quota"
_GATE = {"name": "volcano.sh/card-quota"}
_MOST = 12
"""Pods at any time. None of them ever gets a node, so none may count."""


class Forger(WorkloadClient):
    """Pods with far more cards than there are, in every queue, with the gate or without; in a
    namespace that is labelled `audit`, then `off`, then `audit` again.
    """

    async def work(self) -> bool:
        if self._dice.random() < 0.1:
            return await self._label(self._dice.choice(("audit", "off")))
        if self._made == 0 and not await self._label("audit"):
            return False
        name, cards = self._new(), self._dice.choice((A, B))
        queue = self._dice.choice(sorted(QUEUES))
        body = objects.pod(name, self.name, queue, cards, 50, where=NOWHERE)
        if self._dice.random() < 0.5:
            body["spec"]["schedulingGates"] = [_GATE]
        reply = await self._api.create(_PODS, body)
        self.tally["charges forged"] += reply.ok
        if self._made > _MOST:
            old = f"{_PODS}/{self.name}-{self._made - _MOST}"
            await self._api.delete(old, now=True)
        return reply.code != 0

    async def _label(self, mode: str) -> bool:
        meta = {"metadata": {"name": LAX, "labels": {_MODE: mode}}}
        await self._api.create(_NAMESPACES, meta)
        return (await self._api.patch(f"{_NAMESPACES}/{LAX}", meta)).ok
