"""The longest stretch for which pods as large as may be read hold up the event loop.

A stretch below a millisecond is told as none. `stalls` has what is beyond the limits. There are
5,000 nodes, each with 16 labels with a number of its own, and 200 pods of each kind, in one group.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from builders import a_group
from builders.pod import PodBody
from cardquota.loop import BOUND

from ..bodies import limit_bodies, stall_bodies
from ..figure import Figure, Report
from . import stall_world
from .stall_world import NODES, World

_WAITING: Final = 200
_QUEUES: Final = 10
_TURNS: Final = 1_000_000
"""Of the loop, after which everything must have been read."""
_REVIEWED: Final = 1_000
"""Numbers from here on are asked about in reviews alone."""


def run(report: Report) -> None:
    """One cluster, one kind of pod after the other."""
    stall_world.run(lambda world: _AtLimits(report, world).take_all())


class _AtLimits:
    def __init__(self, report: Report, world: World) -> None:
        self._report = report
        self._world = world

    async def take_all(self) -> None:
        world = self._world
        world.fill(pods=_QUEUES * 100, waiting=0, queues=_QUEUES)
        for number in range(NODES):
            world.see("nodes", _node(number))
        for what, make in limit_bodies.PODS.items():
            await self._kind(what, make)

    async def _kind(self, what: str, make: Callable[[int], PodBody]) -> None:
        world = self._world
        assert not make(1).facts().oversized, what
        bodies = [stall_bodies.review(make(_REVIEWED + number)) for number in range(4)]
        await self._take(f"review, {what}", *(_answer(world, body) for body in bodies))
        world.see("podgroups", _group("q0000"))
        pods = [
            msgspec.Raw(world.newer(_member(make(number), number).body))
            for number in range(_WAITING)
        ]
        first = [self._tell("pods", pod) for pod in pods[:2]]
        await self._take(f"watch, {what}", *first)
        for pod in pods[2:]:
            world.tell("pods", pod)
        await self._settled()
        waits = f"{_WAITING} wait: {what}"
        changes = [_node(7, pool=pool) for pool in ("new", "old", "new", "old")]
        await self._take(f"a node changes, {waits}", *map(self._see("nodes"), changes))
        moves = [_group(queue) for queue in ("q0001", "q0000", "q0001", "q0000")]
        await self._take(f"their group moves, {waits}", *map(self._see("podgroups"), moves))
        for pod in pods:
            world.deliveries["pods"].deleted(pod)
        await self._settled()

    async def _take(self, what: str, *works: Callable[[], object]) -> None:
        """The largest of several goes: what is made at the first one holds up everybody, too."""
        times = [await self._world.worst(work) for work in works]
        self._report(Figure(what, max(times), "ms", BOUND * 1000, low=min(times), high=max(times)))

    def _see(self, kind: str) -> Callable[[dict[str, Any]], Callable[[], object]]:
        return lambda body: self._tell(kind, msgspec.Raw(self._world.newer(body)))

    def _tell(self, kind: str, raw: msgspec.Raw) -> Callable[[], object]:
        """And all that is read anew for it later."""

        async def work() -> None:
            self._world.tell(kind, raw)
            await self._settled()

        return work

    async def _settled(self) -> None:
        ledger = self._world.ledger
        for _ in range(_TURNS):
            if not (ledger.overdue or ledger.behind):
                return
            await asyncio.sleep(0)
        raise AssertionError("the ledger is still behind")


def _answer(world: World, body: bytes) -> Callable[[], object]:
    return lambda: world.answer("/mutate", body)


def _member(pod: PodBody, number: int) -> PodBody:
    name = f"large-{number}"
    member = pod.in_group("large").in_queue(None).with_uid(name)
    return member.put(name, "metadata", "name")


def _group(queue: str) -> dict[str, Any]:
    return a_group("large").in_namespace("q0000").in_queue(queue).with_uid("large").body


def _node(number: int, *, pool: str = "old") -> dict[str, Any]:
    body = stall_world.node(number)
    labels = body["metadata"]["labels"]
    labels.update(dict.fromkeys(limit_bodies.SERIALS, f"{number}"))
    if number == 7:
        labels[limit_bodies.POOL] = pool
    return body
