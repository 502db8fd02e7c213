"""Nodes that share their cards change: other cards, broken ones, gone and back under their name."""

import asyncio
from collections.abc import Awaitable, Callable

from ..api import Api, Object
from .clients import WorkloadClient
from .memory_objects import (
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
