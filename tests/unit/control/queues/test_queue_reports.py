"""Numbers of queues are handed over in slices, each queue's at most once a second."""

from collections.abc import Callable

import pytest

from builders import H200, a_queue
from cardquota.control.queues import QueueReports
from cardquota.control.queues import queue_reports as module
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import QueueReport, report

from ..fakes import a_world

MANY = 1_000


class TimerClock:
    """Time, and what is to be called when."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[tuple[float, Callable[[], None]]] = []
        self.longest = 0.0

    def later(self, seconds: float, call: Callable[[], None]) -> "TimerClock":
        self.calls.append((self.now + seconds, call))
        return self

    def cancel(self) -> None:
        self.calls.clear()

    def run(self, until: float) -> None:
        while self.calls and min(self.calls, key=lambda one: one[0])[0] <= until:
            one = min(self.calls, key=lambda one: one[0])
            self.calls.remove(one)
            self.now = begun = max(self.now, one[0])
            one[1]()
            self.longest = max(self.longest, self.now - begun)
        self.now = max(self.now, until)


class RecordedReports:
    """What was handed over."""

    def __init__(self, ledger: Ledger) -> None:
        self.clock = TimerClock()
        self.posted: list[tuple[str, QueueReport | None]] = []
        self.reports = QueueReports(
            ledger,
            lambda queue, report: self.posted.append((queue, report)),
            clock=lambda: self.clock.now,
            later=self.clock.later,
        )

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.posted]


def test_what_changed_is_gathered_and_handed_over_once() -> None:
    told = RecordedReports(a_world(a_queue("a"), a_queue("b")))
    told.reports.changed(["a", "gone"])
    told.reports.changed(["a"])
    told.clock.run(0.2)
    assert sorted(told.names) == ["a", "gone"]
    found = dict(told.posted)
    assert found["gone"] is None
    assert found["a"] is not None
    assert found["a"].name == "a"


def test_of_one_queue_at_most_once_a_second_and_the_last_is_right() -> None:
    ledger = a_world(a_queue("a").with_quota({H200: 0}))
    told = RecordedReports(ledger)
    for n in range(50):
        ledger.queue_seen(a_queue("a").with_quota({H200: n}).at_revision(n + 2).facts())
        told.reports.changed(["a"])
        told.clock.run(n / 10)
    told.clock.run(10.0)
    assert 5 <= len(told.posted) <= 7
    last = told.posted[-1][1]
    assert last is not None
    assert last.cards[0].quota == 49


def test_a_thousand_at_once_hold_up_the_loop_for_a_slice_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever a report costs."""
    names = [f"q{n}" for n in range(MANY)]
    told = RecordedReports(a_world(*(a_queue(name) for name in names)))

    def slow(ledger: Ledger, queue: str) -> QueueReport | None:
        told.clock.now += 0.001
        return report(ledger, queue)

    monkeypatch.setattr(module, "report", slow)
    told.reports.all()
    told.clock.run(5.0)
    assert sorted(set(told.names) - {""}) == sorted(names)
    assert told.clock.longest < 0.02 + 0.002


def test_none_starves_where_reports_cost_more_time_than_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"q{n}" for n in range(40)]
    told = RecordedReports(a_world(*(a_queue(name) for name in names)))

    def slow(ledger: Ledger, queue: str) -> QueueReport | None:
        told.clock.now += 0.05
        return report(ledger, queue)

    monkeypatch.setattr(module, "report", slow)
    for n in range(600):
        told.reports.changed(names)
        told.clock.run(n / 100)
    counts = {name: told.names.count(name) for name in names}
    assert min(counts.values()) >= 2
    assert max(counts.values()) - min(counts.values()) <= 1


def test_twelve_changes_of_all_queues_a_second_are_one_report_of_each() -> None:
    """As of nodes that come and go where all quotas exceed the cluster."""
    names = [f"q{n}" for n in range(MANY)]
    told = RecordedReports(a_world(*(a_queue(name) for name in names)))
    for n in range(12 * 5):
        told.reports.changed(names)
        told.clock.run(n / 12)
        assert len(told.reports) <= MANY
        assert len(told.clock.calls) <= 1
    assert len(told.posted) <= 6 * MANY


def test_a_queue_does_not_wait_for_the_rest_of_another() -> None:
    told = RecordedReports(a_world(a_queue("a"), a_queue("b")))
    told.reports.changed(["a"])
    told.clock.run(0.2)
    told.reports.changed(["b"])
    told.clock.run(0.35)
    assert told.names == ["a", "b"]


def test_all_are_reported_anew_when_what_was_handed_over_is_lost() -> None:
    told = RecordedReports(a_world(a_queue("a")))
    told.reports.all()
    told.clock.run(0.01)
    told.reports.all()
    told.clock.run(0.2)
    assert told.names.count("a") == 2


def test_a_term_that_is_over_reports_nothing_more() -> None:
    told = RecordedReports(a_world(a_queue("a")))
    told.reports.changed(["a"])
    told.reports.stop()
    told.clock.run(5.0)
    assert told.posted == []
