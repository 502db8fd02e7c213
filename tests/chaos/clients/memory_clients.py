"""Those who ask for card memory, and those whose whole cards are on the same nodes."""

import asyncio
from collections.abc import Awaitable, Callable

from ..api import Api, Object, Reply
from . import memory_objects, objects
from .clients import Scaler, WorkloadClient
from .memory_objects import (
    AMOUNTS,
    BOTH,
    LISTED,
    LISTS,
    SHAPES,
    SHARING,
    Cards,
    broken,
    broken_list,
    list_name,
    reshaped,
    sharing_node,
)  # fmt: skip
from .objects import C


class MemoryClient(WorkloadClient):
    """Pods that ask for a part of a card: made, ended, failed, deleted. They want more than is."""

    most = 10

    async def work(self) -> bool:
        pods = await self._own()
        if pods is None:
            return False
        over = [p for p in pods if p["status"].get("phase") in ("Succeeded", "Failed")]
        left = [p for p in pods if p not in over and not p["metadata"].get("deletionTimestamp")]
        for pod in over:
            if self._dice.random() < 0.3:  # the rest stays a while: it must hold nothing
                await self._api.delete(self._path(pod["metadata"]["name"]), now=True)
        if len(left) < self.most:
            replies = await asyncio.gather(*(self._come() for _ in range(2)))
            return all(reply.code for reply in replies)
        name, fate = self._dice.choice(left)["metadata"]["name"], self._dice.random()
        if fate < 0.2:
            await self._api.delete(self._path(name), now=True)
            self.tally["memory pods made again"] += (await self._come(name)).ok
        elif fate < 0.4:
            # One that runs: else who starts it may write after us that it runs, and it holds again.
            running = [p for p in left if p["status"].get("phase") == "Running"]
            if not running:
                return True
            name = self._dice.choice(running)["metadata"]["name"]
            body = {"status": {"phase": "Failed"}}
            done = await self._api.patch(f"{self._path(name)}/status", body)
            self.tally["memory pods failed"] += done.ok
        else:
            done = await self._api.delete(self._path(name), now=self._dice.random() < 0.5)
            self.tally["memory pods deleted"] += done.ok
        await asyncio.sleep(self._dice.uniform(0.0, 0.5))
        return True

    async def _come(self, name: str = "") -> Reply:
        body = memory_objects.memory_pod(
            name or self._new(),
            self.name,
            self._dice.choice(AMOUNTS),
            seconds=self._dice.choice((0, 0, 1, 2, 4)),
            where=self._dice.choice(("", "", "", BOTH)),
        )
        reply = await self._api.create(objects.PODS, body)
        self.tally["memory pods created"] += reply.ok
        return reply

    @staticmethod
    def _path(name: str) -> str:
        return f"{objects.PODS}/{name}"


class MemoryScaler(Scaler):
    """A Deployment of such pods that is scaled up and down."""

    what, replicas, longest = "memory pods scaled", (0, 2, 4, 8), 4.0

    def body(self) -> Object:
        return memory_objects.memory_deployment(self.name, self._dice.choice(AMOUNTS[1:4]))


class WholeCardClient(WorkloadClient):
    """Whole cards of the nodes that share theirs too: a few, for a moment, then none at all."""

    async def work(self) -> bool:
        pods = [self._new() for _ in range(self._dice.choice((1, 2)))]
        for pod in pods:
            body = objects.pod(pod, self.name, "shared", C, 1, where=BOTH)
            await self.create(body, "shared", C, 1)
        await asyncio.sleep(self._dice.uniform(1.0, 4.0))
        for pod in pods:
            for _ in range(20):
                if (await self._api.delete(f"{objects.PODS}/{pod}", now=True)).code in (200, 404):
                    break
                await asyncio.sleep(0.5)
        await asyncio.sleep(self._dice.uniform(0.5, 3.0))
        return True


_NODES = "/api/v1/nodes"


class NodeChanger(WorkloadClient):
    """One thing after the other happens to one node after the other."""

    async def work(self) -> bool:
        deeds: tuple[Callable[[str], Awaitable[None]], ...] = (
            self._other_cards, self._other_cards, self._away, self._listed, self._noted,
        )  # fmt: skip
        await self._dice.choice(deeds)(self._dice.choice(sorted(SHARING)))
        await asyncio.sleep(self._dice.uniform(0.5, 3.0))
        return True

    async def _other_cards(self, node: str) -> None:
        self.tally["nodes with other cards"] += await reshape(
            self._api, node, self._dice.choice(SHAPES)
        )

    async def _away(self, node: str) -> None:
        """It comes back with the cards that it had, or with others."""
        if (await self._api.delete(f"{_NODES}/{node}", now=True)).ok:
            await asyncio.sleep(self._dice.uniform(0.2, 3.0))
            cards = self._dice.choice((SHARING[node], SHARING[node], *SHAPES))
            self.tally["nodes that came back"] += await _made(self._api, sharing_node(node, cards))

    async def _listed(self, node: str) -> None:
        if self._dice.random() < 0.3:
            await self._api.delete(f"{LISTS}/{list_name(node)}")
            return
        body = broken_list(node, self._dice.choice(LISTED))
        reply = await self._api.patch(f"{LISTS}/{list_name(node)}", body)
        if reply.code == 404:
            reply = await self._api.create(LISTS, body)
        self.tally["lists of broken cards"] += reply.ok

    async def _noted(self, node: str) -> None:
        text = self._dice.choice((None, *LISTED))
        reply = await self._api.patch(f"{_NODES}/{node}", broken(text))
        self.tally["lists of broken cards"] += reply.ok


async def reshape(api: Api, node: str, cards: Cards) -> bool:
    """Give a node other cards. In two writes: between them it contradicts itself."""
    notes, status = reshaped(cards)
    first = await api.patch(f"{_NODES}/{node}", notes)
    return first.ok and (await api.patch(f"{_NODES}/{node}/status", status)).ok


async def put_nodes_right(api: Api) -> None:
    """All are there, whole, with the cards that they had at first."""
    for node, cards in SHARING.items():
        while not await _right(api, node, cards):
            await asyncio.sleep(0.3)


async def _right(api: Api, node: str, cards: Cards) -> bool:
    gone = (await api.delete(f"{LISTS}/{list_name(node)}")).code in (200, 404)
    await _made(api, sharing_node(node, cards))
    healthy = await api.patch(f"{_NODES}/{node}", broken(None))
    return gone and healthy.ok and await reshape(api, node, cards)


async def _made(api: Api, body: Object) -> bool:
    for _ in range(50):
        reply = await api.create(_NODES, body)
        if reply.code in (201, 409):
            return reply.ok
        await asyncio.sleep(0.2)
    return False
