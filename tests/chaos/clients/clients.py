"""Those who want cards. Each waits for every answer, so a slow machine is asked for less."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random

from ..api import UNTRUSTED, Api, Object, Reply
from ..judging.denials import Denial
from . import objects
from .objects import A, B

_PATIENCE = 25.0
"""Seconds that a gang is waited for."""
_TRY_AGAIN = 429


class WorkloadClient:
    """One client with its own pods, by its own dice. `work` is done again and again."""

    def __init__(self, name: str, api: Api, seed: str, tally: Counter[str]) -> None:
        self.name, self._api, self._dice, self.tally = name, api, Random(seed), tally
        self.denials: list[Denial] = []
        self._made = 0

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if not await self.work():
                await asyncio.sleep(0.5)
            await asyncio.sleep(self._dice.uniform(0.05, 0.3))

    async def work(self) -> bool:
        """One round. Whether the API server answered."""
        raise NotImplementedError

    def _new(self) -> str:
        self._made += 1
        return f"{self.name}-{self._made}"

    async def _own(self) -> list[Object] | None:
        reply = await self._api.get(
            f"{objects.PODS}?labelSelector=client={self.name}&resourceVersion=0"
        )
        return list(reply.body["items"]) if reply.ok else None

    async def create(
        self, body: Object, queue: str, card: str, amount: int, path: str = objects.PODS
    ) -> Reply:
        sent = time.monotonic()
        reply = await self._api.create(path, body)
        if reply.ok:
            self.tally["created"] += 1
        elif "denied the request" in reply.message or "denied request" in reply.message:
            if reply.code == _TRY_AGAIN:
                self.tally["asked to try again"] += 1
                return reply
            self.tally["denied"] += 1
            denial = Denial((queue, card), amount, sent, time.monotonic(), reply.message)
            self.denials.append(denial)
        elif "exceeded quota" in reply.message:
            self.tally["refused by a ResourceQuota after us"] += 1
        elif "x509" in reply.message or "tls:" in reply.message:
            self.tally[UNTRUSTED] += 1
        else:
            self.tally[f"creates not answered with yes or no ({reply.code})"] += 1
        return reply


class Trainer(WorkloadClient):
    """Jobs that wait at the gate: made, edited, made again under their names, ended."""

    most = 18

    async def work(self) -> bool:
        pods = await self._own()
        if pods is None:
            return False
        over = [p for p in pods if p["status"].get("phase") in ("Succeeded", "Failed")]
        await asyncio.gather(*(self._delete(p, now=True) for p in over))
        left = [p for p in pods if p not in over and not p["metadata"].get("deletionTimestamp")]
        if len(left) < self.most:
            replies = await asyncio.gather(*(self._one(self._new()) for _ in range(2)))
            return all(reply.code for reply in replies)
        if self._dice.random() < 0.5:
            return True  # most of what waits is left alone
        choice = self._dice.choice(left)
        gated = bool(choice["spec"].get("schedulingGates"))
        for_gated = (self._edit, self._again, self._again, self._relabel)
        for_open = (self._relabel, self._resize, self._delete)
        deed: Callable[[Object], Awaitable[None]] = self._dice.choice(
            for_gated if gated else for_open
        )
        await deed(choice)
        return True

    async def _one(self, name: str) -> Reply:
        cards = self._dice.choice((A, A, B, f"{A}|{B}", f"{B}|{A}"))
        amount = self._dice.choice((1, 1, 1, 2, 3))
        body = objects.pod(
            name,
            self.name,
            "train",
            cards,
            amount,
            seconds=self._dice.choice((1, 1, 1, 3)),
            priority=self._dice.choice(("", "", objects.URGENT)),
        )
        return await self.create(body, "train", cards, amount)

    async def _edit(self, pod: Object) -> None:
        """While it is gated it may name other cards."""
        cards = self._dice.choice((A, B))
        reply = await self._api.patch(_path(pod), objects.naming(cards))
        self.tally["gated pods edited"] += reply.ok

    async def _again(self, pod: Object) -> None:
        """Another pod under its name, which asks for something else."""
        if (await self._api.delete(_path(pod), now=True)).ok:
            reply = await self._one(pod["metadata"]["name"])
            self.tally["gated pods made again"] += reply.ok

    async def _relabel(self, pod: Object) -> None:
        label = {"metadata": {"labels": {"turn": str(self._dice.randrange(1000))}}}
        self.tally["relabelled"] += (await self._api.patch(_path(pod), label)).ok

    async def _resize(self, pod: Object) -> None:
        cpu = {"requests": {"cpu": f"{self._dice.randrange(1, 9)}00m"}}
        body = {"spec": {"containers": [{"name": "main", "resources": cpu}]}}
        reply = await self._api.ask(
            "PATCH", _path(pod) + "/resize", body, kind="application/strategic-merge-patch+json"
        )
        self.tally["resized"] += reply.ok

    async def _delete(self, pod: Object, *, now: bool = False) -> None:
        now = now or self._dice.random() < 0.3
        self.tally["deleted"] += (await self._api.delete(_path(pod), now=now)).ok


class ServingClient(WorkloadClient):
    """Pods that are told at once whether there is room."""

    most = 8
    queue = "serve"
    cards: tuple[str, ...] = (A, B)

    async def work(self) -> bool:
        pods = await self._own()
        if pods is None:
            return False
        if len(pods) < self.most and self._dice.random() < 0.7:
            card, amount = self._dice.choice(self.cards), self._dice.choice((1, 1, 2))
            body = objects.pod(self._new(), self.name, self.queue, card, amount)
            reply = await self.create(body, self.queue, card, amount)
            if not reply.ok:
                await asyncio.sleep(0.3)  # nobody asks again in the same breath
            return reply.code != 0
        if pods:
            now = self._dice.random() < 0.5
            reply = await self._api.delete(_path(self._dice.choice(pods)), now=now)
            self.tally["deleted"] += reply.ok
        return True


class GangClient(WorkloadClient):
    """Groups that start whole, run a moment, and go."""

    async def work(self) -> bool:
        name, minimum = self._new(), self._dice.choice((2, 3, 4))
        body = objects.group(name, self.name, "gangs", minimum)
        reply = await self._api.create(objects.GROUPS, body)
        if not reply.ok:
            return False
        self.tally["gangs"] += 1
        amount = self._dice.choice((1, 1, 2))
        pods = [f"{name}-{number}" for number in range(minimum)]
        await asyncio.gather(*(self._member(pod, name, amount) for pod in pods))
        await self._until_all_run(minimum)
        for pod in pods:
            await self._gone(f"{objects.PODS}/{pod}")
        if self._dice.random() < 0.8:  # some are left behind: nothing may stay reserved for them
            await self._gone(f"{objects.GROUPS}/{name}")
        return True

    async def _member(self, pod: str, group: str, amount: int, where: str = "") -> None:
        body = objects.pod(pod, self.name, "gangs", A, amount, group=group, where=where)
        for _ in range(20):
            reply = await self.create(body, "gangs", A, amount)
            if reply.ok or reply.code == 409:
                return
            await asyncio.sleep(0.5)

    async def _until_all_run(self, minimum: int) -> None:
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            pods = await self._own() or []
            if sum(1 for p in pods if p["spec"].get("nodeName")) >= minimum:
                return
            await asyncio.sleep(0.4)
        self.tally["gangs given up"] += 1

    async def _gone(self, path: str) -> None:
        for _ in range(20):
            if (await self._api.delete(path, now=True)).code in (200, 202, 404):
                return
            await asyncio.sleep(0.5)


class Scaler(WorkloadClient):
    """A Deployment that is scaled up and down."""

    scheduler = ""
    """Who binds its pods; empty: kube-scheduler."""
    what = "scaled"
    replicas: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    longest = 2.0

    def body(self) -> Object:
        return objects.deployment(self.name, "serve", A, scheduler=self.scheduler)

    async def work(self) -> bool:
        path = f"{objects.DEPLOYMENTS}/{self.name}"
        if not self._made:
            made = await self._api.create(objects.DEPLOYMENTS, self.body())
            self._made = int(made.ok or made.code == 409)
            return bool(self._made)
        wanted = {"spec": {"replicas": self._dice.choice(self.replicas)}}
        reply = await self._api.patch(f"{path}/scale", wanted)
        self.tally[self.what] += reply.ok
        self.tally["scaling denied"] += "denied the request" in reply.message
        await asyncio.sleep(self._dice.uniform(0.5, self.longest))
        return reply.code != 0


def _path(pod: Object) -> str:
    return f"{objects.PODS}/{pod['metadata']['name']}"
