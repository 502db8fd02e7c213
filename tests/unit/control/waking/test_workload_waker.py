"""R5: who sleeps since its pods were refused is woken when there is room, and nobody else."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any, cast

import pytest
from msgspec import Raw

from builders import CARDS, H200, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.cluster.api import Client, OutcomeUnknown
from cardquota.cluster.watch import ChangeNotifier, watched_kinds
from cardquota.control import WorkloadWaker, workload_waker
from cardquota.control.workload_waker import EXPECTED, FIRST, LONGEST, NOTE_AGAIN, SETTLED
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions import refused_workload
from cardquota.quota.ledger import Ledger

pytestmark = pytest.mark.fake_clock

BY_US = 'admission webhook "pods.cardquota.volcano.sh" denied the request: no room'
BY_OTHERS = "exceeded quota: pods"


def pod(cards: int = 1, card: str = H200) -> PodBody:
    return a_pod().in_queue("queue").naming(card).asking_for(cards)


def running(name: str, maker: str = "other", cards: int = 1, card: str = H200) -> PodBody:
    made = pod(cards, card).put(name, "metadata", "name").with_uid(name)
    made = made.stamped("queue", {card: cards}).on_node("h200-a")
    return made.owned_by("ReplicaSet", name=maker)


class WakingStage:
    """A leader's ledger, and an API server that takes every write."""

    def __init__(self, **quota: int) -> None:
        queue = a_queue().with_quota({H200: 3, **quota})
        self.ledger: Ledger = a_ledger(*CARDS, a_namespace("team"), queue)
        self.notifier = ChangeNotifier()
        kinds = watched_kinds(self.ledger, self.notifier)
        self._deliveries = {kind.kind: kind.delivery() for kind in kinds}
        self._revision = 0
        self.written: list[tuple[str, dict[str, Any]]] = []
        self.counted = 0
        self.fails = False
        loop = asyncio.get_running_loop()
        client = cast("Client", self)
        self.waker = WorkloadWaker(
            self.ledger, self.notifier, client, loop.time, self._count, wall_clock=loop.time
        )

    def _count(self) -> None:
        self.counted += 1

    async def patch(
        self, path: str, body: Any, *, content_type: str = "", timeout: float = 0
    ) -> bytes:
        assert content_type == "application/strategic-merge-patch+json"
        self.written.append((path, body))
        await asyncio.sleep(0.001)
        if self.fails:
            raise OutcomeUnknown("no answer")
        self.notifier.notify()  # the watch brings every write back
        return b""

    @property
    def woken(self) -> list[str]:
        """Names, in the order in which they were woken."""
        return [path.split("/")[-2] for path, _ in self.written]

    def sleeps(
        self,
        name: str = "web",
        template: PodBody | None = None,
        *,
        wants: int = 1,
        has: int = 0,
        message: str = BY_US,
        created: str = "2026-01-01T00:00:00Z",
        priority_class: str = "",
        kind: str = "replicasets",
    ) -> None:
        """A workload whose pods were refused; a ReplicaSet if nobody says otherwise."""
        self._revision += 1
        made = (template or pod()).body
        spec = {**made["spec"], **({"priorityClassName": priority_class} if priority_class else {})}
        failed = {"type": "ReplicaFailure", "status": "True", "message": message}
        body: dict[str, Any] = {
            "metadata": {
                "name": name,
                "namespace": "team",
                "uid": f"uid-{name}",
                "resourceVersion": str(self._revision),
                "creationTimestamp": created,
            },
            "spec": {
                "replicas": wants,
                "template": {
                    "metadata": {"annotations": made["metadata"]["annotations"]},
                    "spec": spec,
                },
            },
            "status": {
                "replicas": has,
                "availableReplicas": has,
                "currentNumberScheduled": has,
                "desiredNumberScheduled": wants,
                "active": has,
                "conditions": [failed] if wants > has else [],
            },
        }
        if kind == "jobs":
            body["spec"]["parallelism"] = wants
        self._deliveries[kind].changed(Raw(json.dumps(body).encode()))

    def comes(self, *pods: PodBody) -> None:
        see(self.ledger, *pods)
        self.notifier.notify()

    def goes(self, *uids: str) -> None:
        for uid in uids:
            self.ledger.pod_gone(uid)
        self.notifier.notify()


@pytest.fixture
async def full() -> AsyncIterator[WakingStage]:
    """A quota of three, in use."""
    stage = WakingStage()
    stage.comes(*(running(f"other-{n}") for n in range(3)))
    stage.waker.begin("term")
    yield stage
    await stage.waker.end()


async def test_l2_it_is_woken_when_another_queue_holds_less_of_what_is_lent() -> None:
    """Nothing is charged in its own queue, nor given back."""
    stage = WakingStage()
    total = stage.ledger.nodes.total(H200)
    owner = a_queue("owner").with_quota({H200: total}).deserving_cards({H200: total - 1})
    other = a_pod("o").with_uid("o").in_queue("owner").stamped("owner", {H200: total})
    mine = a_queue().with_quota({H200: 3}).deserving_cards({H200: 0})
    see(stage.ledger, mine, owner.lending({H200: 0}), other)
    stage.waker.begin("term")
    stage.sleeps()
    await asyncio.sleep(1)
    assert stage.woken == []
    stage.goes("o")
    await asyncio.sleep(1)
    assert stage.woken == ["web"]
    await stage.waker.end()


after = asyncio.sleep


async def test_r5_it_is_woken_when_there_is_room(full: WakingStage) -> None:
    full.sleeps()
    await after(100)
    assert full.written == []
    full.goes("other-0")
    await after(0.1)
    ((path, body),) = full.written
    assert path == "/apis/apps/v1/namespaces/team/replicasets/web/status"
    assert body["metadata"] == {"uid": "uid-web"}
    (condition,) = body["status"]["conditions"]
    assert condition["type"] == v.WOKEN_CONDITION
    assert condition["reason"] == v.QUOTA_FREE
    assert condition["message"] == (
        "Queue <queue> had room for 1 more pod of this workload: its "
        "controller was made to try again"
    )
    assert full.counted == 1


@pytest.mark.parametrize(
    ("kind", "message", "path"),
    [
        ("statefulsets", BY_US, "/apis/apps/v1/namespaces/team/statefulsets/web/status"),
        ("daemonsets", BY_US, "/apis/apps/v1/namespaces/team/daemonsets/web/status"),
        ("jobs", BY_US, "/apis/batch/v1/namespaces/team/jobs/web/status"),
        # A ReplicaSet keeps the first reason: it may be refused by us since.
        ("replicasets", BY_OTHERS, "/apis/apps/v1/namespaces/team/replicasets/web/status"),
    ],
)
async def test_r5_who_does_not_say_that_we_refused_it_has_to_stand_still(
    full: WakingStage, kind: str, message: str, path: str
) -> None:
    see(full.ledger, a_queue().with_quota({H200: 3}).with_policy("Deny"))
    full.goes("other-0", "other-1")
    for has in (0, 1):
        full.sleeps(kind=kind, wants=2, has=has, message=message)
        full.notifier.notify()
        await after(SETTLED - 0.5)
        assert full.written == []
    await after(1)
    assert [where for where, _ in full.written] == [path]


async def test_r5_one_that_lacks_several_is_woken_once_for_all(full: WakingStage) -> None:
    full.sleeps("a", wants=2)
    full.sleeps("b")
    full.goes("other-0", "other-1")
    await after(0.1)
    assert full.woken == ["a"]
    assert "room for 2 more pods" in str(full.written)
    full.comes(running("a-0", "a"))
    await after(1)
    assert full.woken == ["a"]  # its second is expected


async def test_r5_in_the_order_of_release(full: WakingStage) -> None:
    full.ledger.priority_class_seen("high", 1000)
    full.sleeps("young", created="2026-01-03T00:00:00Z")
    full.sleeps("old", created="2026-01-01T00:00:00Z")
    full.sleeps("high", created="2026-01-02T00:00:00Z", priority_class="high")
    full.goes("other-0", "other-1", "other-2")
    await after(0.1)
    assert full.woken == ["high", "old", "young"]


async def test_r5_who_does_not_fit_holds_up_nobody(full: WakingStage) -> None:
    full.sleeps("a", pod(2))
    full.sleeps("b", pod(1))
    full.goes("other-0")
    await after(0.1)
    assert full.woken == ["b"]


async def test_r5_pods_at_the_gate_go_first(full: WakingStage) -> None:
    """What the release charged in the meantime is not free."""
    full.sleeps()
    full.goes("other-0")
    full.comes(running("train"))
    await after(10)
    assert full.written == []


async def test_r5_one_that_was_woken_in_vain_holds_up_nobody_and_pauses(full: WakingStage) -> None:
    full.sleeps("a", created="2026-01-01T00:00:00Z")
    full.sleeps("b", created="2026-01-02T00:00:00Z")
    full.goes("other-0")
    await after(0.1)
    assert full.woken == ["a"]
    await after(EXPECTED + 0.1)
    assert full.woken == ["a", "b"]
    full.comes(running("b-0", "b"))
    full.sleeps("b", has=1)
    full.goes("other-1")
    begun = asyncio.get_running_loop().time()
    times = []
    for _ in range(8):
        number = len(full.written)
        while len(full.written) == number:
            await after(0.5)
        times.append(asyncio.get_running_loop().time() - begun)
    pauses = [later - sooner for sooner, later in pairwise(times)]
    assert full.woken[2:] == ["a"] * 8
    assert all(later > sooner for sooner, later in pairwise(pauses))
    assert pauses[0] >= FIRST
    assert max(pauses) <= LONGEST + 1


async def test_r5_after_a_success_the_pause_is_short_again(full: WakingStage) -> None:
    full.sleeps("a", wants=3)
    full.goes("other-0")
    await after(0.1)
    full.comes(running("a-0", "a"))
    await after(0.1)
    full.sleeps("a", wants=3, has=1)
    full.goes("other-1")
    await after(0.1)
    assert full.woken == ["a", "a"]


async def test_r5_a_lost_write_is_repeated(full: WakingStage) -> None:
    full.fails = True
    full.sleeps()
    full.goes("other-0")
    await after(1)
    assert (full.woken, full.counted) == (["web"], 0)
    full.fails = False
    await after(FIRST + 1)
    assert (full.woken, full.counted) == (["web"] * 2, 1)


async def test_r5_only_the_leader_wakes_and_the_next_finds_all() -> None:
    stage = WakingStage()
    stage.sleeps()
    stage.notifier.notify()
    await after(10)
    assert stage.written == []
    stage.waker.begin("one")
    await after(0.1)
    assert stage.woken == ["web"]
    assert await stage.waker.drain(1)
    await stage.waker.end()
    await after(100)
    assert stage.woken == ["web"]
    stage.waker.begin("two")
    await after(0.1)
    assert stage.woken == ["web", "web"]
    await stage.waker.end()
    assert len(stage.waker) == 0


async def test_a_write_in_line_is_not_sent_once_we_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload_waker, "AT_A_TIME", 1)
    stage = WakingStage()
    stage.sleeps("a")
    stage.sleeps("b")
    stage.waker.begin("term")
    while not stage.written:
        await after(0.0005)
    await stage.waker.drain(1)
    await after(1)
    await stage.waker.end()
    assert stage.woken == ["a"]


async def test_a_bounded_number_of_writes_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload_waker, "AT_A_TIME", 2)
    stage = WakingStage(**{H200: 100})
    for number in range(50):
        stage.sleeps(f"web-{number}")
    under_way, most = 0, 0

    async def patch(*_: Any, **__: Any) -> bytes:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return b""

    stage.patch = patch  # type: ignore[method-assign]
    stage.waker.begin("term")
    await after(1)
    assert (stage.counted, most) == (50, 2)
    await stage.waker.end()


async def test_r5_each_queue_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many of one queue cannot start."""
    monkeypatch.setattr(workload_waker, "MOST_WOKEN", 4)
    stage = WakingStage(**{H200: 100})
    see(stage.ledger, a_queue("other").with_quota({H200: 1}))
    for number in range(50):
        stage.sleeps(f"web-{number}")
    stage.sleeps("victim", pod().in_queue("other"))
    stage.waker.begin("term")
    await after(3 * EXPECTED)
    assert "victim" in stage.woken
    assert len(stage.written) <= 16
    await stage.waker.end()


async def test_r5_it_is_not_woken_twice_for_one_pod(full: WakingStage) -> None:
    full.sleeps("a")
    full.sleeps("b")
    full.goes("other-0", "other-1", "other-2")
    await after(0.1)
    assert full.woken == ["a", "b"]
    full.comes(running("a-0", "a"))
    await after(EXPECTED / 2)
    assert full.woken == ["a", "b"]
    full.sleeps("a", has=1)
    full.notifier.notify()
    await after(EXPECTED)
    assert full.woken.count("a") == 1


async def test_r5_a_namespace_that_gets_a_queue(full: WakingStage) -> None:
    nowhere = a_pod().naming(H200).asking_for(1)
    full.goes("other-0")
    full.sleeps("web", nowhere)
    await after(1)
    assert full.written == []
    see(full.ledger, a_namespace("team").with_default_queue("queue"))
    full.notifier.notify()
    await after(NOTE_AGAIN + 1)
    assert full.woken == ["web"]


async def test_one_harms_no_other(full: WakingStage, monkeypatch: pytest.MonkeyPatch) -> None:
    real = refused_workload

    def broken(ledger: Any, facts: Any) -> Any:
        if facts.name == "bad":
            raise ValueError("a fault")
        return real(ledger, facts)

    monkeypatch.setattr("cardquota.control.workload_waker.refused_workload", broken)
    full.sleeps("bad")
    full.sleeps("good")
    full.goes("other-0")
    await after(0.1)
    assert full.woken == ["good"]


async def test_nothing_is_left_of_those_that_are_gone(full: WakingStage) -> None:
    full.sleeps()
    full.goes("other-0")
    await after(0.1)
    assert len(full.waker) == 1
    full.sleeps(has=1)
    full.comes(running("web-0", "web"))
    await after(1000)
    kept = [one for one in vars(full.waker).values() if isinstance(one, dict | set)]
    assert [len(one) for one in kept] == [0] * len(kept)
