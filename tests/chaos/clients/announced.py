"""Gangs that say what they will ask for before their pods are there, and a service over whose
elastic pods they may be enqueued.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from ..api import Reply
from ..judging.denials import Denial
from . import objects
from .clients import GangClient
from .objects import A, B

_BETWEEN = ("gangs", "spare")
_EITHER = f"{A}|{B}"
_UNTIL_ENQUEUED = 8.0
"""Seconds."""
_RESERVATION = "volcano.sh/card.reservation"


class AnnouncedGang(GangClient):
    """First the PodGroup with its `card.request`, which may change; then its pods, or some of them,
    or none; which ask for that, or for something else.
    """

    async def work(self) -> bool:
        self._group, self._queue = self._new(), _BETWEEN[0]
        self._minimum = self._dice.choice((1, 2, 2, 3))
        self._cards = self._dice.choice((A, A, B, _EITHER))
        self._number = self._minimum
        reply = await self._say()
        if not reply.ok:
            return reply.code != 0
        self.tally["gangs announced"] += 1
        if self._dice.random() < 0.6:
            await self._until_enqueued()
        for _ in range(self._dice.choice((0, 0, 0, 1, 2))):
            deeds: tuple[Callable[[], Awaitable[None]], ...] = (
                self._ask_anew, self._resize_group, self._move,
            )  # fmt: skip
            await self._dice.choice(deeds)()
            await asyncio.sleep(self._dice.uniform(0.0, 1.0))
        pods = await self._come()
        for pod in pods:
            await self._gone(f"{objects.PODS}/{pod}")
        if self._dice.random() < 0.9:
            await self._gone(self._path)
        return True

    @property
    def _path(self) -> str:
        return f"{objects.GROUPS}/{self._group}"

    @property
    def _asks(self) -> dict[str, int]:
        """What the group says now. Some say of one card what it is, and leave the others open."""
        if self._cards == _EITHER and self._number > 2:
            return {A: 1, self._cards: self._number - 1}
        return {self._cards: self._number}

    async def _say(self) -> Reply:
        body = objects.group(
            self._group, self.name, self._queue, self._minimum, asks=self._asks,
            priority=self._dice.choice(("", "", objects.URGENT)),
        )  # fmt: skip
        sent = time.monotonic()
        reply = await self._api.create(objects.GROUPS, body)
        if "denied the request" in reply.message:
            # A quota that was lowered just now: nothing of it could ever start.
            self.tally["announcements denied"] += 1
            place, now = (self._queue, self._cards), time.monotonic()
            self.denials.append(Denial(place, self._number, sent, now, reply.message))
        return reply

    async def _until_enqueued(self) -> None:
        deadline = time.monotonic() + _UNTIL_ENQUEUED
        while time.monotonic() < deadline:
            found = await self._api.get(self._path)
            if _RESERVATION in (found.body.get("metadata", {}).get("annotations") or {}):
                self.tally["gangs seen enqueued"] += 1
                return
            await asyncio.sleep(0.3)

    async def _come(self) -> list[str]:
        """The pods that were made."""
        fate = self._dice.random()
        if fate < 0.2:
            self.tally["announced gangs without pods"] += 1
            await asyncio.sleep(self._dice.uniform(1, 20))
            return []
        few = fate < 0.35 and self._minimum > 1
        number = self._minimum - few
        cards = self._cards if self._dice.random() < 0.8 else self._dice.choice((A, B))
        pods = [f"{self._group}-{number}" for number in range(number)]
        await asyncio.gather(*(self._one(pod, cards) for pod in pods))
        if few:
            self.tally["announced gangs with too few pods"] += 1
            await asyncio.sleep(self._dice.uniform(1, 10))
        else:
            await self._until_all_run(number)
        return pods

    async def _one(self, pod: str, cards: str) -> None:
        body = objects.pod(pod, self.name, "", cards, 1, group=self._group)
        for _ in range(5):
            reply = await self.create(body, self._queue, cards, 1)
            if reply.ok or reply.code == 409:
                return
            await asyncio.sleep(0.5)

    # --- what is said changes ---------------------------------------------------------------------

    async def _ask_anew(self) -> None:
        self._cards = self._dice.choice((A, B, _EITHER))
        self._number = self._dice.choice((1, 2, 3, 4))
        body = objects.asking(self._asks)
        self.tally["announced gangs that ask anew"] += (await self._api.patch(self._path, body)).ok

    async def _resize_group(self) -> None:
        minimum = self._dice.choice((1, 2, 3))
        reply = await self._api.patch(self._path, {"spec": {"minMember": minimum}})
        if reply.ok:
            self._minimum = minimum
            self.tally["announced gangs with another minimum"] += 1

    async def _move(self) -> None:
        queue = _BETWEEN[self._queue == _BETWEEN[0]]
        reply = await self._api.patch(self._path, {"spec": {"queue": queue}})
        if reply.ok:  # it is refused if it asks for more than that has
            self._queue = queue
            self.tally["announced gangs moved"] += 1


class ElasticService(GangClient):
    """A group that needs one pod and has several. They go one after the other."""

    async def work(self) -> bool:
        name, card = self._new(), self._dice.choice((A, A, B))
        body = objects.group(name, self.name, "gangs", 1)
        if not (await self._api.create(objects.GROUPS, body)).ok:
            return False
        pods = [f"{name}-{number}" for number in range(self._dice.choice((3, 5, 6)))]
        for pod in pods:
            body = objects.pod(pod, self.name, "gangs", card, 1, group=name)
            await self.create(body, "gangs", card, 1)
        await self._until_all_run(len(pods) // 2)
        self.tally["elastic services"] += 1
        await asyncio.sleep(self._dice.uniform(2, 6))
        self._dice.shuffle(pods)
        for pod in pods:
            await self._gone(f"{objects.PODS}/{pod}")
            await asyncio.sleep(self._dice.uniform(0.2, 1.0))
        await self._gone(f"{objects.GROUPS}/{name}")
        return True
