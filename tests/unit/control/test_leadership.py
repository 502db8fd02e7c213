"""One term of the leader: what ends it, and whether the Lease may be given up afterwards.

Winning, settling and the status writer are stood in for: they need a cluster, and what they do on
one is in tests/integration.
"""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from builders import H200, a_namespace, a_node, a_pod, a_queue, see
from cardquota.cluster.election import LeadershipLost
from cardquota.cluster.watch import ChangeNotifier
from cardquota.control import Leadership, LeaderWork, leader_work, term_writers
from cardquota.control import leader_work as module
from cardquota.metrics import Metrics
from cardquota.quota import vocabulary as v
from cardquota.quota.reports import QueueReport
from cardquota.settings import Settings
from harness.open_fence import OpenFence

from .fakes import Script, Told, a_world, charged, lost, no_charge_is_left, until

pytestmark = pytest.mark.fake_clock


class SilentQueueOperator:
    """Reconciles nothing."""

    posted: ClassVar[dict[str, QueueReport | None]] = {}
    moved: ClassVar[list[Callable[[], object]]] = []
    shows_conditions = True

    def __init__(self) -> None:
        self.posted.clear()

    def start(self, moved: Callable[[], object]) -> None:
        self.moved[:] = [moved]

    def post(self, queue: str, found: QueueReport | None) -> None:
        self.posted[queue] = found

    async def stop(self) -> None: ...


async def settled_at_once(*_: Any, **__: Any) -> None: ...


async def forever(*_: Any, **__: Any) -> None:
    await asyncio.Event().wait()


POD = a_pod("a").in_queue("queue").naming(H200).asking_for(1)


class LeadingReplica:
    """A leader over one pod that fits."""

    def __init__(self) -> None:
        self.ledger = a_world(a_queue().with_quota({H200: 3}), POD.gated())
        self.script = Script()
        self.told = Told()
        self.metrics = Metrics()
        self.failures: list[BaseException] = []
        self.elector = SimpleNamespace(term=None)
        self.notifier = ChangeNotifier()
        settings, fence = Settings(), OpenFence()
        client: Any = self.script
        writers = term_writers(client, lambda: 60.0, fence, settings)
        clock, about = asyncio.get_running_loop().time, (self.metrics, self.notifier, settings)
        work = LeaderWork(self.ledger, writers, self.told, *about, clock)
        self.leadership = Leadership(
            work,
            client,
            self.elector,  # type: ignore[arg-type]
            fence,  # type: ignore[arg-type]
            [SimpleNamespace(kind="pods", applied=7)],  # type: ignore[list-item]
            settings.leader_election,
            SilentQueueOperator,
            self.failures.append,
        )

    @property
    def leads(self) -> float:
        return self.metrics.registry.get_sample_value("cardquota_leader") or 0.0


@pytest.fixture
async def replica(monkeypatch: pytest.MonkeyPatch) -> LeadingReplica:
    monkeypatch.setattr(module, "settle_and_catch_up", settled_at_once)
    SilentQueueOperator.posted.clear()
    return LeadingReplica()


async def test_an_orderly_exit_may_give_the_lease_up(replica: LeadingReplica) -> None:
    replica.leadership.acquired("term")
    await until(lambda: len(replica.script.patches) == 1 and not replica.script.in_flight)
    assert replica.leads == 1
    assert (await replica.leadership.stop(1.0)).settled
    assert replica.leads == 0
    assert replica.failures == []
    assert no_charge_is_left(replica.ledger)


async def test_queues_are_told_by_events_once_their_conditions_turn_out_not_to_be_shown(
    replica: LeadingReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The definition of Queues is read after the first reports."""
    see(replica.ledger, a_queue().with_quota({H200: -1}))
    replica.leadership.acquired("term")
    await until(lambda: SilentQueueOperator.posted)
    await asyncio.sleep(5)
    assert v.Condition.QUOTA_VALID not in [reason for _, reason, _ in replica.told.events]
    monkeypatch.setattr(SilentQueueOperator, "shows_conditions", False)
    SilentQueueOperator.moved[0]()
    await until(lambda: v.Condition.QUOTA_VALID in [reason for _, reason, _ in replica.told.events])
    await replica.leadership.stop(1.0)


async def test_the_successor_is_told_what_to_have_seen(replica: LeadingReplica) -> None:
    replica.leadership.acquired("term")
    await until(lambda: len(replica.script.patches) == 1 and not replica.script.in_flight)
    leaving = asyncio.create_task(replica.leadership.stop(1.0))
    await asyncio.sleep(0.05)
    assert not leaving.done()
    see(replica.ledger, POD.stamped("queue", {H200: 1}).at_revision(100))
    replica.notifier.notify()
    assert await leaving == (True, {"pods": 7})


async def test_or_nothing_if_that_is_not_seen_in_time(
    replica: LeadingReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_work, "OWN_WRITES", 0.05)
    replica.leadership.acquired("term")
    await until(lambda: len(replica.script.patches) == 1 and not replica.script.in_flight)
    assert await replica.leadership.stop(1.0) == (True, None)


async def test_an_exit_before_it_decided_hands_over_nothing(
    replica: LeadingReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "settle_and_catch_up", forever)
    replica.leadership.acquired("term")
    assert await replica.leadership.stop(1.0) == (True, None)


async def test_an_exit_with_a_lost_patch_may_not(replica: LeadingReplica) -> None:
    replica.script.answers = [lost() for _ in range(1_000)]
    replica.leadership.acquired("term")
    await until(lambda: len(replica.script.patches) > 1)
    assert charged(replica.ledger, H200) == 1
    assert await replica.leadership.stop(0.05) == (False, None)
    assert replica.failures == []


async def test_an_error_nobody_has_thought_of_ends_the_process(replica: LeadingReplica) -> None:
    """A leader that renews and decides nothing would block every other replica."""
    replica.script.answers = [KeyError("a bug")]
    replica.leadership.acquired("term")
    await until(lambda: replica.failures)
    assert isinstance(replica.failures[0], KeyError)
    assert replica.leads == 0
    assert not (await replica.leadership.stop(1.0)).settled


async def test_an_error_before_it_decides_ends_the_process_too(
    replica: LeadingReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "settle_and_catch_up", failing(KeyError("a bug")))
    replica.leadership.acquired("term")
    await until(lambda: replica.failures)


async def test_a_term_that_goes_on_without_anybody_who_decides_ends_the_process(
    replica: LeadingReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renewed and unused, it would keep all others from leading."""
    monkeypatch.setattr(module, "settle_and_catch_up", failing(LeadershipLost("flickered")))
    replica.elector.term = "term"
    replica.leadership.acquired("term")
    await until(lambda: replica.failures)
    assert "term still holds the Lease" in str(replica.failures[0])
    assert not (await replica.leadership.stop(1.0)).settled


async def test_who_is_told_some_at_a_time_goes_on_without_further_news(
    replica: LeadingReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_work, "STATUS_EVERY", 0.001)
    see(replica.ledger, *(a_namespace(f"n{n}").in_mode("enforce") for n in range(250)))
    replica.leadership.acquired("term")
    await until(lambda: sum(one[0].startswith("n") for one in replica.told.events) == 250)
    await replica.leadership.stop(1.0)


async def test_w1_whose_share_is_worked_out_after_the_time_for_it_was_over_is_reported_too(
    replica: LeadingReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_work, "STATUS_EVERY", 0.001)
    monkeypatch.setattr(leader_work, "LEADER_SLICE", 0.0)
    quota = {f"card-{number}": 5 for number in range(4)}
    for card in quota:
        see(replica.ledger, a_node(card).with_cards(card, 6))
    see(replica.ledger, *(a_queue(name).with_quota(quota) for name in ("red", "green")))
    see(replica.ledger, a_queue("blue").with_quota({"card-3": 5}))  # worked out last
    replica.leadership.acquired("term")
    await until(lambda: deserved_by_blue() == {2})
    see(replica.ledger, a_queue("red").with_quota(quota).weighing(4).at_revision(9))
    replica.notifier.notify()
    await until(lambda: deserved_by_blue() == {1})
    await replica.leadership.stop(1.0)


def deserved_by_blue() -> set[int]:
    found = SilentQueueOperator.posted.get("blue")
    return {row.deserved for row in found.cards} if found is not None else set()


async def test_a_term_that_is_lost_ends_nothing_else(
    replica: LeadingReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither while it decides nor before: the next term begins anew."""
    replica.leadership.acquired("one")
    await until(lambda: replica.leads == 1)
    replica.leadership.lost("one")
    await until(lambda: replica.leads == 0)
    monkeypatch.setattr(module, "settle_and_catch_up", failing(LeadershipLost("slept")))
    replica.leadership.acquired("two")
    await asyncio.sleep(0.01)
    monkeypatch.setattr(module, "settle_and_catch_up", settled_at_once)
    replica.leadership.acquired("three")
    await until(lambda: replica.leads == 1)
    assert replica.failures == []
    assert (await replica.leadership.stop(1.0)).settled


def failing(error: Exception) -> Callable[..., Awaitable[None]]:
    async def fail(*_: Any, **__: Any) -> None:
        raise error

    return fail
