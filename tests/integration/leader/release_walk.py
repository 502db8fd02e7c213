"""A walk through a release: scenes, leaders that die at any write, and what holds after each write.

A scene is played once to its end, which counts the writes; then once for each write and each of
two deaths: before the write was stored, and after it, when the answer is lost.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from builders import H200, Body, a_pod
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.cluster.api import ApiError, Client
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports.drift import drift
from integration.asking import Object
from integration.team import Team, notes, released

from .mortal_leader import Death, MortalLeader

NODE = "somewhere"
"""Pods on a node that does not exist are deleted, by name: so would be those of the next walk."""
SECONDS = 60.0


class ChangeByUser(NamedTuple):
    """What a user does right after a write of a leader, before its answer, and then again later."""

    due: Callable[["Store"], Awaitable[bool]]
    """Whether it was this write."""
    do: Callable[["Store"], Awaitable[None]]
    seen: Callable[[Ledger], bool]
    """Whether the leader knows of it: its answer comes after that."""
    later: Callable[["Store"], Awaitable[None]] | None = None
    """Done once a leader that knows has nothing left to do."""


@dataclass(frozen=True)
class ReleaseScene:
    """What is there when the first leader begins, and what must be there at the end."""

    quota: dict[str, int]
    group: GroupBody
    waiting: tuple[PodBody, ...]
    """Members at the gate: they come once their group has a reservation, if it says beforehand what
    it will ask for, else before the first leader begins."""
    running: dict[str, dict[str, int]] = field(default_factory=dict)
    """Members that run already, and their cards."""
    rival: str = H200
    """The card of a pod that comes between the leaders, if something is reserved then. Its turn is
    before the gang's, and it never gets what the gang needs. Empty: none comes.
    """
    least: int = 5
    """Writes of a release, at the least."""
    change: ChangeByUser | None = None
    comes: tuple[str, ...] = ()
    """Members that come later."""
    beyond: tuple[str, ...] = ()
    """Members beyond the minimum: the rival may be first."""


def member(name: str, cards: str = H200, amount: int = 1) -> PodBody:
    return a_pod(name).naming(cards).asking_for(amount).in_group("gang")


def gang(team: Team, minimum: int) -> GroupBody:
    return team.a_gang("gang", minimum)


class Store:
    """What is stored, as the API server says, and the hands of users and of the scheduler."""

    def __init__(self, client: Client, team: Team, scene: ReleaseScene) -> None:
        self._client = client
        self.team = team
        self.scene = scene
        self.members_there = False
        self.leader: MortalLeader | None = None
        """Who leads now."""
        self._begun: set[str] = set()
        """Groups of which something was released at some time."""
        self._changed = self._done = False

    async def create(self, *things: Body) -> None:
        for thing in things:
            await self._client.post(self.team.path(thing), self.team.wire(thing))

    async def prepare(self) -> None:
        scene = self.scene
        queue = self.team.a_queue(scene.quota)
        await self.create(queue, scene.group)
        for name, cards in scene.running.items():
            # At once: the plane's own scheduler might choose a node with other cards, and then the
            # leader corrects what it holds (E3).
            pod = member(name, amount=sum(cards.values())).stamped(queue.name, cards, "earlier")
            await self.create(pod.on_node(NODE, at=None))
        if not self._asks_ahead:
            await self._members()

    async def a_rival_comes(self) -> None:
        """If anything is reserved: a pod of the highest priority, for which there is no room."""
        if self.scene.rival and v.RESERVATION in notes(await self.group()):
            rival = self.team.a_pod("rival", 1, self.scene.rival).gated()
            await self.create(rival.put("system-cluster-critical", "spec", "priorityClassName"))

    @property
    def _asks_ahead(self) -> bool:
        return v.REQUEST in notes(self.scene.group.body)

    async def _members(self) -> None:
        await self.create(*(pod.gated() for pod in self.scene.waiting))
        self.members_there = True

    async def go_on(self) -> None:
        """What users and the scheduler do next: members of an enqueued group come, and what is
        released is bound, also where the plane has no node for it.
        """
        if not self.members_there and v.RESERVATION in notes(await self.group()):
            await self._members()
        for pod in await self.pods():
            if released(pod) and not pod["spec"].get("nodeName"):
                await self._bind(pod["metadata"]["name"])
        change, leader = self.scene.change, self.leader
        if change is None or change.later is None or not self._changed or self._done:
            return
        if leader is not None and change.seen(leader.ledger) and leader.idle:
            self._done = True
            await change.later(self)

    async def pods(self) -> list[Object]:
        return list(json.loads(await self._client.get(self.team.path(a_pod())))["items"])

    async def group(self, name: str = "gang") -> Object:
        path = f"{self.team.path(self.scene.group)}/{name}"
        found: Object = json.loads(await self._client.get(path))
        return found

    async def delete(self, name: str) -> None:
        """A pod, at once."""
        path = f"{self.team.path(a_pod())}/{name}"
        await self._client.send("DELETE", path, params={"gracePeriodSeconds": "0"})

    async def delete_group(self, name: str) -> None:
        await self._client.send("DELETE", f"{self.team.path(self.scene.group)}/{name}")

    async def set_minimum(self, members: int) -> None:
        path = f"{self.team.path(self.scene.group)}/gang"
        await self._client.patch(path, {"spec": {"minMember": members}})

    async def open_members(self, group: str = "gang") -> list[str]:
        """Names of the group's pods that are released."""
        return [
            pod["metadata"]["name"]
            for pod in await self.pods()
            if released(pod) and notes(pod).get(v.GROUP_NAME) == group
        ]

    async def held(self) -> Counter[str]:
        """Cards of the pods whose gates are open, by what stands on them."""
        total = Counter[str]()
        for pod in await self.pods():
            if released(pod):
                total.update(json.loads(notes(pod)[v.ALLOCATED]))
        return total

    async def written(self) -> None:
        """After each write, and before the leader has its answer: what must hold, what users do."""
        await self.within_quota()
        await self.starts_whole()
        change, leader = self.scene.change, self.leader
        if change is None or self._changed or not await change.due(self):
            return
        self._changed = True
        await change.do(self)
        async with asyncio.timeout(SECONDS):
            while leader is not None and not change.seen(leader.ledger):  # noqa: ASYNC110 - it is told by nobody
                await asyncio.sleep(0.01)

    async def within_quota(self) -> None:
        """I1: also by whoever holds nothing yet but what is reserved."""
        held = await self.held()
        assert all(n <= self.scene.quota[card] for card, n in held.items()), held

    async def starts_whole(self, *groups: str) -> None:
        """E2: when the first gate of a gang opens, all of its minimum are there."""
        for name in groups or ("gang",):
            if name in self._begun or not await self.open_members(name):
                continue
            self._begun.add(name)
            there = [p for p in await self.pods() if notes(p).get(v.GROUP_NAME) == name]
            assert len(there) >= (await self.group(name))["spec"]["minMember"], there

    async def runs(self, name: str = "gang") -> bool:
        """Whether its minimum runs, and nothing is reserved for it any more."""
        group = await self.group(name)
        status = group.get("status", {})
        return v.RESERVATION not in notes(group) and status.get("phase") == "Running"

    async def finished(self) -> bool:
        """Whether all is done that the scene is about."""
        change = self.scene.change
        if change is not None and not (self._done or (self._changed and change.later is None)):
            return False
        return await self.runs() and set(self.scene.comes) <= {*await self.open_members()}

    async def ended_well(self) -> None:
        """What must have come of it."""
        scene = self.scene
        opened = {pod["metadata"]["name"] for pod in await self.pods() if released(pod)}
        members = {*scene.running, *(pod.name for pod in scene.waiting), *scene.comes}
        if "rival" in opened:
            assert len(opened) == len(members)
            assert opened >= members - {*scene.beyond}
            assert scene.beyond
        else:
            assert opened == members
        assert await self.held() == Counter(scene.quota)

    async def standing(self) -> object:
        """What is shown where something does not happen."""
        pods = {
            pod["metadata"]["name"]: (pod["metadata"], pod["spec"].get("schedulingGates"))
            for pod in await self.pods()
        }
        return {"changed": self._changed, "done": self._done}, await self.group(), pods

    async def clear(self) -> None:
        await self._client.send(
            "DELETE", self.team.path(a_pod()), params={"gracePeriodSeconds": "0"}
        )
        await self._client.send("DELETE", self.team.path(self.scene.group))
        queue = self.team.a_queue({})
        await self._client.send("DELETE", f"{self.team.path(queue)}/{queue.name}")

    async def _bind(self, name: str) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": NODE},
        }
        try:
            await self._client.post(f"{self.team.path(a_pod())}/{name}/binding", body)
        except ApiError as error:
            if error.status != 409:  # the plane's own scheduler was there first
                raise


async def lead(store: Store, client: Client, term: str, death: Death | None) -> list[str]:
    """One leader's time: until it dies, or all is done. What it has written."""
    deadline = asyncio.get_running_loop().time() + SECONDS
    async with MortalLeader(client, term, death, store.written) as leader:
        store.leader = leader
        while not leader.writer.dead.is_set():
            await store.go_on()
            assert leader.failed is None, leader.failed
            assert drift(leader.ledger) == {}
            account = leader.ledger.account(store.team.queue_name())
            assert account is not None
            charged = {card: account.row(card).charged for card in store.scene.quota}
            assert all(n <= store.scene.quota[card] for card, n in charged.items()), charged
            if leader.idle and await store.finished():
                break  # also where a status was written once less than before its death
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(term, leader.standing(), await store.standing())
            await asyncio.sleep(0.02)  # who asks all the time takes the API server's time
        if not leader.writer.dead.is_set():
            await settled(store, leader, deadline)
        return leader.writer.written


async def settled(store: Store, leader: MortalLeader, deadline: float) -> None:
    """Once its watches have brought all: the totals are what stands on the stored pods (I2)."""
    held = await store.held()
    queue = store.team.queue_name()
    while True:
        account = leader.ledger.account(queue)
        assert account is not None
        rows = {card: account.row(card) for card in store.scene.quota}
        if {c: (row.allocated, row.inqueue) for c, row in rows.items()} == {
            card: (held[card], 0) for card in rows
        }:
            break
        assert asyncio.get_running_loop().time() < deadline, (held, rows)
        await asyncio.sleep(0.01)
    assert drift(leader.ledger) == {}


async def play(store: Store, client: Client, deaths: Iterable[Death]) -> list[list[str]]:
    """The scene with a leader for each death, and a last one that lives. What each has written."""
    await store.prepare()
    written = []
    for number, death in enumerate(deaths, start=1):
        written.append(await lead(store, client, f"term-{number}", death))
        await store.a_rival_comes()
    written.append(await lead(store, client, "term-last", None))
    await store.ended_well()
    await store.clear()
    return written


async def walk(client: Client, store: Callable[[int], Store]) -> None:
    """Play a scene with a death at each of its writes. `store`: a new one for each play, by its
    number.
    """
    first = store(0)
    least = first.scene.least
    (whole,) = await play(first, client, ())
    assert len(whole) >= least, whole
    deaths = [Death(at, landed) for at in range(1, len(whole) + 1) for landed in (False, True)]
    walked = Counter[str]()
    for number, death in enumerate(deaths, start=1):
        before, *_ = await play(store(number), client, (death,))
        died = len(before) == death.at - (not death.landed)
        # The status is written as often as it changes between two writes, and that varies.
        assert died or death.at > least, (death, before)
        walked[f"after {len(before)} writes"] += died
    assert len(walked) > least
    assert sum(walked.values()) >= 2 * least
