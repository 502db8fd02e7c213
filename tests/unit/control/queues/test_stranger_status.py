"""V1: the condition of a queue whose pods a stranger may not bind, as it is written."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from builders import H200, a_queue
from cardquota.control.queues.condition_changes import ConditionChange
from cardquota.control.queues.published_status import StatusAnnotation
from cardquota.control.queues.queue_reports import QueueReports
from cardquota.control.queues.queue_status import queue_status
from cardquota.control.queues.status_writer import TURN, StatusWriter
from cardquota.quota.reports.queue_report import QueueReport
from cardquota.quota.reports.strangers import QueueStrangers, RefusedUser
from cardquota.quota.vocabulary import RefusedWrite

from ..fakes import a_world, until
from .queue_numbers import numbers
from .test_queue_reports import TimerClock
from .test_status_annotation import QueueStore

pytestmark = pytest.mark.fake_clock
NOBODY, UNKNOWN = QueueStrangers(known=True, users=()), QueueStrangers(known=False, users=())
SOMEBODY = QueueStrangers(
    known=True, users=(RefusedUser(RefusedWrite.BINDING, "vc-scheduler", 3, more=False),)
)
LEDGER = a_world(a_queue().with_quota({H200: 1}))


def report_with(strangers: QueueStrangers | None) -> QueueReport:
    return replace(numbers(LEDGER), strangers=strangers)


def written(report: QueueReport, before: dict[str, Any], now: str = "t") -> dict[str, Any]:
    return queue_status(report, before, now=now, standalone=False)


def shown(status: dict[str, Any]) -> dict[str, Any]:
    found = [one for one in status["conditions"] if one["type"] == "VolcanoNotKnown"]
    return found[0] if found else {}


def test_it_says_who_what_of_how_many_and_what_to_do() -> None:
    at, later = "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"
    status = written(report_with(SOMEBODY), {}, at)
    found = shown(status)
    assert (found["status"], found["reason"]) == ("True", "UserRefused")
    assert found["message"].startswith("<vc-scheduler> may not bind 3 pods, so pods wait; if")
    assert found["message"].endswith(
        "apply the output of `cardquota manifests` and restart the operator"
    )
    over = shown(written(report_with(NOBODY), status, later))
    assert (over["status"], over["reason"], over["message"]) == ("False", "NobodyRefused", "")
    assert over["lastTransitionTime"] == later


def test_without_volcano_there_is_none() -> None:
    before = written(report_with(SOMEBODY), {})
    assert shown(written(report_with(None), before)) == {}


def test_a_new_leader_leaves_it_as_it_is_until_it_knows() -> None:
    before = written(report_with(SOMEBODY), {}, "2026-01-01T00:00:00Z")
    assert shown(written(report_with(UNKNOWN), before)) == shown(before)
    assert shown(written(report_with(UNKNOWN), {})) == {}
    broken = {"conditions": [{"type": "VolcanoNotKnown", "status": 7}]}
    assert shown(written(report_with(UNKNOWN), broken)) == {}


Changed = list[ConditionChange]


@pytest.fixture
def told() -> Changed:
    return []


@pytest.fixture
def store() -> QueueStore:
    return QueueStore()


@pytest.fixture
def writer(store: QueueStore, told: Changed) -> Iterator[StatusWriter]:
    writer = StatusWriter(
        store,
        lambda: "2026-01-01T00:00:00Z",
        standalone=False,
        place=StatusAnnotation(),
        told=lambda _, change: told.append(change),
    )
    yield writer
    writer.close()


async def test_it_is_written_when_it_changes_and_told_where_no_status_shows_it(
    writer: StatusWriter, store: QueueStore, told: Changed
) -> None:
    store.seen_by(writer)
    for number, strangers in enumerate((NOBODY, SOMEBODY, NOBODY), 1):
        for _ in range(3):
            writer.want(report_with(strangers))
            await asyncio.sleep(2)
        assert len(store.writes) == number
    texts = [(one.condition, one.well, one.message) for one in told]
    assert [(kind, well) for kind, well, _ in texts] == [
        ("VolcanoNotKnown", False),
        ("VolcanoNotKnown", True),
    ]
    assert "may not bind 3 pods" in texts[0][2]
    assert texts[1][2].startswith("no Binding")


async def test_that_nobody_is_refused_takes_turns_and_that_somebody_is_does_not(
    store: QueueStore,
) -> None:
    """A new leader finds the one of all queues at once."""
    writer = StatusWriter(store, lambda: "t", standalone=False, place=StatusAnnotation())
    store.seen_by(writer)
    writer.want(report_with(UNKNOWN))
    await until(lambda: len(store.writes) == 1)
    await asyncio.sleep(5)
    writer.want(report_with(NOBODY))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert 0 < writer.turns_ahead <= TURN
    await until(lambda: len(store.writes) == 2)
    await asyncio.sleep(5)
    writer.want(report_with(SOMEBODY))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert writer.turns_ahead == 0
    await until(lambda: len(store.writes) == 3)
    writer.close()


async def test_reports_say_it_where_somebody_looks() -> None:
    clock, posted = TimerClock(), list[QueueReport | None]()
    reports = QueueReports(
        LEDGER,
        lambda _, found: posted.append(found),
        clock=lambda: clock.now,
        later=clock.later,
        strangers=lambda queue: SOMEBODY if queue == "queue" else NOBODY,
    )
    reports.changed(["queue", "gone"])
    clock.run(1.0)
    assert [one.strangers for one in posted if one is not None] == [SOMEBODY]
    assert posted[1] is None
