"""A leader that dies between any two writes of a gang's release: the next one finishes it (T2, I1).

Every scene is played once to its end, which counts the writes; then once for each write and each of
two deaths: before the write was stored, and after it, when the answer is lost.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

import pytest

from builders import H200, H800, Body, a_pod
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.cluster.api.api_error import ApiError
from cardquota.cluster.api.client import Client
from cardquota.quota import vocabulary as v
from cardquota.quota.reports.drift import drift
from cardquota_dev.testing import Cluster
from integration.api.conftest import CRDS, NAMES
from integration.asking import Object
from integration.team import Team, let_through, notes

from .mortal_leader import Death, MortalLeader

pytestmark = pytest.mark.slow

EITHER = f"{H200}|{H800}"
NODE = "somewhere"
"""Pods on a node that does not exist are deleted, by name: so would be those of the next walk."""
SECONDS = 60.0


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
    before the gang's, and it never gets what the gang needs.
    """
    least: int = 5
    """Writes of a release, at the least."""


def member(name: str, cards: str = H200, amount: int = 1) -> PodBody:
    return a_pod(name).naming(cards).asking_for(amount).in_group("gang")


def gang(team: Team, minimum: int) -> GroupBody:
    return team.a_gang("gang", minimum)


SCENES: dict[str, Callable[[Team], ReleaseScene]] = {
    "a gang": lambda team: ReleaseScene(
        {H200: 3},
        gang(team, 3),
        tuple(member(name) for name in "abc"),
    ),
    "enqueued before its pods": lambda team: ReleaseScene(
        {H200: 3},
        gang(team, 3).requesting({H200: 3}),
        tuple(member(name) for name in "abc"),
        least=6,
    ),
    "a choice of cards": lambda team: ReleaseScene(
        {H200: 2, H800: 1},
        gang(team, 3),
        (member("a", EITHER), member("b", EITHER), member("c", H200)),
        rival=EITHER,
    ),
    "members that run, and one replaced": lambda team: ReleaseScene(
        {H200: 4},
        gang(team, 4),
        (member("c"), member("d")),
        running={"a": {H200: 1}, "b": {H200: 1}},
        least=4,
    ),
    "tasks with different cards": lambda team: ReleaseScene(
        {H200: 2, H800: 1},
        gang(team, 3),
        (member("head", H800), member("worker-0"), member("worker-1")),
        rival=H800,
    ),
}


class Store:
    """What is stored, as the API server says, and the hands of users and of the scheduler."""

    def __init__(self, client: Client, team: Team, scene: ReleaseScene) -> None:
        self._client = client
        self.team = team
        self.scene = scene
        self.members_there = False

    async def create(self, *things: Body) -> None:
        for thing in things:
            await self._client.post(self.team.path(thing), self.team.wire(thing))

    async def prepare(self) -> None:
        scene = self.scene
        queue = self.team.a_queue(scene.quota)
        await self.create(queue, scene.group)
        for name, cards in scene.running.items():
            pod = member(name, amount=sum(cards.values())).stamped(queue.name, cards, "earlier")
            await self.create(pod)
            await self._bind(name)
        if not self._asks_ahead:
            await self._members()

    async def a_rival_comes(self) -> None:
        """If anything is reserved: a pod of the highest priority, for which there is no room."""
        if v.RESERVATION in notes(await self.group()):
            rival = self.team.a_pod("rival", 1, self.scene.rival).gated()
            await self.create(rival.put("system-cluster-critical", "spec", "priorityClassName"))

    @property
    def _asks_ahead(self) -> bool:
        return v.REQUEST in notes(self.scene.group.body)

    async def _members(self) -> None:
        await self.create(*(pod.gated() for pod in self.scene.waiting))
        self.members_there = True

    async def go_on(self) -> None:
        """What users and the scheduler do next: members of an enqueued group come, and what is let
        through is bound, also where the plane has no node for it.
        """
        if not self.members_there and v.RESERVATION in notes(await self.group()):
            await self._members()
        for pod in await self.pods():
            if let_through(pod) and not pod["spec"].get("nodeName"):
                await self._bind(pod["metadata"]["name"])

    async def pods(self) -> list[Object]:
        return list(json.loads(await self._client.get(self.team.path(a_pod())))["items"])

    async def group(self) -> Object:
        found: Object = json.loads(
            await self._client.get(f"{self.team.path(self.scene.group)}/gang")
        )
        return found

    async def held(self) -> Counter[str]:
        """Cards of the pods whose gates are open, by what stands on them."""
        total = Counter[str]()
        for pod in await self.pods():
            if let_through(pod):
                total.update(json.loads(notes(pod)[v.ALLOCATED]))
        return total

    async def within_quota(self) -> None:
        """I1, after each write: also by whoever holds nothing yet but what is reserved."""
        held = await self.held()
        assert all(n <= self.scene.quota[card] for card, n in held.items()), held

    async def finished(self) -> bool:
        """Whether all of the gang run, and nothing is reserved any more."""
        group = await self.group()
        status = group.get("status", {})
        return v.RESERVATION not in notes(group) and status.get("phase") == "Running"

    async def clear(self) -> None:
        await self._client.delete(self.team.path(a_pod()), params={"gracePeriodSeconds": "0"})
        await self._client.delete(self.team.path(self.scene.group))
        queue = self.team.a_queue({})
        await self._client.delete(f"{self.team.path(queue)}/{queue.name}")

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
    async with MortalLeader(client, term, death, store.within_quota) as leader:
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
                waits = {
                    r.facts.name: (r.charge_state, r.held_back) for r in leader.ledger.pods.values()
                }
                raise AssertionError(term, leader.writer.written, await store.group(), waits)
            await asyncio.sleep(0)
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
    scene = store.scene
    opened = {pod["metadata"]["name"] for pod in await store.pods() if let_through(pod)}
    assert opened == {*scene.running, *(pod.name for pod in scene.waiting)}
    assert await store.held() == Counter(scene.quota)
    await store.clear()
    return written


@pytest.fixture
async def client(plane: Cluster, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Client]:
    """Of a plane that serves our kinds."""
    applied = plane.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(CRDS))
    assert applied.returncode == 0, applied.stderr
    for name in NAMES:
        waited = plane.kubectl("wait", "--for=condition=Established", "crd", name, "--timeout=30s")
        assert waited.returncode == 0, waited.stderr
    monkeypatch.setenv("KUBECONFIG", str(plane.kubeconfig))
    client = await Client.connect()
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
    await client.post("/api/v1/nodes", {**node, "spec": {"unschedulable": True}})
    yield client
    await client.delete(f"/api/v1/nodes/{NODE}")
    await client.close()


@pytest.mark.parametrize("name", SCENES)
async def test_t2_whenever_the_leader_dies_the_next_one_finishes_the_release(
    name: str, client: Client, plane: Cluster, namespace: str, unique: str
) -> None:
    def store(number: int) -> Store:
        team = Team(plane, namespace, f"{unique}-{number}")
        return Store(client, team, SCENES[name](team))

    (whole,) = await play(store(0), client, ())
    assert len(whole) >= store(0).scene.least, whole
    deaths = [Death(at, landed) for at in range(1, len(whole) + 1) for landed in (False, True)]
    walked = Counter[str]()
    least = store(0).scene.least
    for number, death in enumerate(deaths, start=1):
        before, *_ = await play(store(number), client, (death,))
        died = len(before) == death.at - (not death.landed)
        # The status is written as often as it changes between two writes, and that varies.
        assert died or death.at > least, (death, before)
        walked[f"after {len(before)} writes"] += died
    assert len(walked) > least
    assert sum(walked.values()) >= 2 * least
