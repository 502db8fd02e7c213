"""R7: what is stuck is shown while we lead, and each thing is told once in a term."""

import asyncio
import logging
from itertools import count

import pytest

from builders import CARDS, H200, Body, a_ledger, a_namespace, a_pod, a_queue, see
from cardquota.control.queues.queue_metrics import UNKNOWN
from cardquota.control.reports import stuck_reports
from cardquota.control.reports.stuck_reports import MOST_LOGGED, SETTLED, StuckReports
from cardquota.metrics import Metrics
from cardquota.quota import vocabulary as v
from cardquota.quota.stuck.terminating import late_to_end
from cardquota.settings import Settings, Stuck
from unit.quota.stuck.stuck_things import NOON, deleted, holding, lacking, waiting

from ..fakes import Told

pytestmark = pytest.mark.fake_clock


class StuckStage:
    """A ledger, and a leader that looks at it; the wall clock shows noon at first."""

    def __init__(self, *things: Body, quota: int = 1, **settings: float) -> None:
        self.ledger = a_ledger(
            *CARDS, a_namespace("team"), a_queue().with_quota({H200: quota}), *things
        )
        self.told, self.metrics = Told(), Metrics()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        self.reports = StuckReports(
            self.ledger,
            self.told,  # type: ignore[arg-type]
            self.metrics,
            Settings(stuck=Stuck(**settings)),
            loop.time,
            wall_clock=lambda: NOON + loop.time() - begun,
        )

    def shown(self) -> dict[str, dict[tuple[str, ...], float]]:
        return {
            family.name.removeprefix("cardquota_"): {
                tuple(one.labels.values()): one.value for one in family.samples
            }
            for family in self.metrics.stuck.collect()
            if family.samples
        }


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


async def test_r7_all_three_kinds_in_numbers() -> None:
    stage = StuckStage(
        deleted(holding("other", 1), "2026-01-02T11:00:00Z"), deleted(holding(cards=2)), waiting()
    )
    lacking(stage.ledger)
    await stage.reports.look()
    assert stage.shown() == {
        "terminating_stuck_pods": {("queue",): 2},
        "terminating_stuck_cards": {("queue", H200): 3},
        "terminating_stuck_oldest_seconds": {("queue",): 3_600},
        "gated_stuck_pods": {("queue",): 1},
        "gated_stuck_oldest_seconds": {("queue",): 7_200},
        "denied_workloads": {("queue",): 1},
        "denied_workloads_oldest_seconds": {("queue",): 3_600},
    }


async def test_r7_what_is_gone_is_shown_no_more() -> None:
    stage = StuckStage(deleted(holding()))
    await stage.reports.look()
    assert stage.shown()
    stage.ledger.pod_gone("web")
    await stage.reports.look()
    assert stage.shown() == {}


async def test_r7_what_users_make_up_is_no_label() -> None:
    card = "NVIDIA-MADE-UP"
    made_up = a_pod("a").with_uid("a").in_queue("q1").naming(card).asking_for(1)
    stage = StuckStage(
        deleted(made_up.stamped("q1", {card: 1}).on_node("nowhere")),
        deleted(holding("b").in_queue("q2").stamped("q2", {H200: 2})),
        waiting().in_queue("q3"),
    )
    lacking(stage.ledger, pod=a_pod().in_queue("q4").naming(H200).asking_for(1))
    lacking(stage.ledger, name="large")
    stage.ledger.workloads.refused["large"].template = b""
    await stage.reports.look()
    shown = stage.shown()
    assert shown["terminating_stuck_pods"] == {(UNKNOWN,): 2}
    assert set(shown["terminating_stuck_cards"]) <= {(UNKNOWN, H200), (UNKNOWN, UNKNOWN)}
    assert shown["gated_stuck_pods"] == {(UNKNOWN,): 1}
    assert shown["denied_workloads"] == {(UNKNOWN,): 2}


async def test_r7_each_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    stage = StuckStage(deleted(holding()), waiting())
    lacking(stage.ledger)
    for _ in range(3):
        await stage.reports.look()
    ((name, reason, text),) = stage.told.events
    assert (name, reason) == ("web", v.STUCK_TERMINATING)
    assert text.startswith("should have ended <10 min> ago, and still holds <NVIDIA-H200> <2>")
    assert "its node <h200-a> is ready" in text
    first, second, third = lines(caplog)
    assert first == f"Pod team/web {text}"
    assert second.startswith("Pod team/train has waited at its gate for <2 h>: Queue <queue> has")
    assert third.startswith("ReplicaSet team/chat-1 has lacked <1> of 2 pods of Deployment <chat>")


async def test_r7_in_the_next_term_it_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    stage = StuckStage(waiting())
    for _ in range(2):
        stage.reports.begin("term")
        await asyncio.sleep(100)
        assert stage.shown()
        assert await stage.reports.drain(1.0)
        await stage.reports.end()
        assert stage.shown() == {}
        assert stage.reports.all_seen
    assert len(lines(caplog)) == 2


async def test_r7_who_was_well_meanwhile_is_told_again(caplog: pytest.LogCaptureFixture) -> None:
    stage = StuckStage(waiting())
    await stage.reports.look()
    stage.ledger.pod_gone("train")
    await stage.reports.look()
    see(stage.ledger, waiting())
    await stage.reports.look()
    assert len(lines(caplog)) == 2


async def test_r7_of_very_many_some_are_named(caplog: pytest.LogCaptureFixture) -> None:
    pods = [holding(f"p{number}", 1) for number in range(50)]
    stage = StuckStage(*map(deleted, pods))
    for _ in range(2):
        await stage.reports.look()
    assert len(stage.told.events) == 50
    *named, rest = lines(caplog)
    assert len(named) == MOST_LOGGED
    more = f"{50 - MOST_LOGGED} more pods that should have ended"
    assert rest == f"{more}: `kubectl cardquota check` names all"


async def test_r7_events_wait_until_there_is_room_for_them() -> None:
    stage = StuckStage(deleted(holding()))
    stage.told.has_room = False
    await stage.reports.look()
    assert stage.shown()["terminating_stuck_pods"] == {("queue",): 1}
    assert stage.told.events == []
    stage.told.has_room = True
    await stage.reports.look()
    assert len(stage.told.events) == 1


async def test_r7_whose_controller_says_nothing_counts_from_the_second_look() -> None:
    stage = StuckStage(holding(cards=1))
    lacking(stage.ledger, "StatefulSet", "web", since=None)
    await stage.reports.look()
    assert stage.shown() == {}
    await asyncio.sleep(SETTLED + 1)
    await stage.reports.look()
    assert stage.shown()["denied_workloads"] == {("queue",): 1}
    assert stage.shown()["denied_workloads_oldest_seconds"] == {("queue",): 3}
    stage.ledger.workloads.gone("web")
    await stage.reports.look()
    lacking(stage.ledger, "StatefulSet", "web", since=None)
    await stage.reports.look()
    assert stage.shown() == {}


async def test_r7_who_says_that_we_refused_its_pods_counts_at_once() -> None:
    stage = StuckStage()
    lacking(stage.ledger, since=None)
    await stage.reports.look()
    assert stage.shown()["denied_workloads"] == {("queue",): 1}


async def test_r7_after_a_long_look_the_pause_is_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, looks = StuckStage(every=30), list[float]()

    async def slow() -> None:
        looks.append(asyncio.get_running_loop().time())
        await asyncio.sleep(7)

    monkeypatch.setattr(stage.reports, "look", slow)
    stage.reports.begin("term")
    await asyncio.sleep(100)
    await stage.reports.end()
    assert looks[1] - looks[0] == pytest.approx(7 + 70)


@pytest.mark.parametrize("kind", ["terminating", "gated", "denied"])
async def test_r7_others_have_their_turn_between_two_of_any_kind(kind: str) -> None:
    """By a clock after whose every look a slice is over."""
    stage, ticks, turns = StuckStage(), count(), 0
    for number in range(20):
        if kind == "denied":
            lacking(stage.ledger, name=f"chat-{number}")
        else:
            body = waiting if kind == "gated" else holding
            pod = body(f"p{number}", 1)
            see(stage.ledger, pod if kind == "gated" else deleted(pod))
    reports = StuckReports(
        stage.ledger,
        stage.told,  # type: ignore[arg-type]
        stage.metrics,
        Settings(),
        lambda: float(next(ticks)),
        wall_clock=lambda: NOON,
    )
    look = asyncio.create_task(reports.look())
    while not look.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns >= 20


async def test_r7_by_the_settings() -> None:
    stage = StuckStage(
        deleted(holding()), waiting(), terminating_after=601, gated_after=7_201, every=5
    )
    stage.reports.begin("term")
    await asyncio.sleep(1)
    assert stage.shown() == {}
    await asyncio.sleep(6)
    assert set(stage.shown()) == {
        "terminating_stuck_pods",
        "terminating_stuck_cards",
        "terminating_stuck_oldest_seconds",
        "gated_stuck_pods",
        "gated_stuck_oldest_seconds",
    }
    await stage.reports.end()


async def test_a_look_that_fails_is_logged_and_the_next_one_comes(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, real = StuckStage(deleted(holding())), late_to_end

    def broken(*_: object) -> object:
        raise ValueError("as the test wants it")

    monkeypatch.setattr(stuck_reports, "late_to_end", broken)
    stage.reports.begin("term")
    await asyncio.sleep(1)
    assert caplog.records[0].levelno == logging.ERROR
    monkeypatch.setattr(stuck_reports, "late_to_end", real)
    await asyncio.sleep(31)
    assert stage.shown()
    await stage.reports.end()


async def test_the_end_of_a_term_ends_a_look() -> None:
    stage = StuckStage(*(deleted(holding(f"p{number}", 0)) for number in range(2_000)))
    stage.reports.begin("term")
    await asyncio.sleep(0)
    await stage.reports.end()
    assert stage.shown() == {}
    await stage.reports.end()
