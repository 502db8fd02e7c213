"""Views of queues are handed over in slices, each queue's at most once a second."""

from collections.abc import Callable

import pytest

from builders import H200, a_queue
from cardquota.control import QueueViews
from cardquota.control import leader_work as module
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


class RecordedViews:
    """What was handed over."""

    def __init__(self, ledger: Ledger) -> None:
        self.clock = TimerClock()
        self.posted: list[tuple[str, QueueReport | None]] = []
        self.views = QueueViews(
            ledger,
            lambda queue, view: self.posted.append((queue, view)),
            clock=lambda: self.clock.now,
            later=self.clock.later,
        )

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.posted]


def test_what_changed_is_handed_over_once() -> None:
    told = RecordedViews(a_world(a_queue("a"), a_queue("b")))
    told.views.changed(["a", "gone"])
    told.views.changed(["a"])
    told.clock.run(0.2)
    assert sorted(told.names) == ["a", "gone"]
    found = dict(told.posted)
    assert found["gone"] is None
    assert found["a"] is not None
    assert found["a"].name == "a"


def test_of_one_queue_at_most_once_a_second_and_the_last_is_right() -> None:
    ledger = a_world(a_queue("a").with_quota({H200: 0}))
    told = RecordedViews(ledger)
    for n in range(50):
        ledger.queue_seen(a_queue("a").with_quota({H200: n}).at_revision(n + 2).facts())
        told.views.changed(["a"])
        told.clock.run(n / 10)
    told.clock.run(10.0)
    assert 5 <= len(told.posted) <= 7
    last = told.posted[-1][1]
    assert last is not None
    assert last.cards[0].quota == 49


@pytest.mark.parametrize(("costs", "seconds"), [(0.001, 3), (0.05, 120)])
def test_a_thousand_at_once_hold_up_the_loop_for_a_slice_at_a_time(
    monkeypatch: pytest.MonkeyPatch, costs: float, seconds: int
) -> None:
    """Whatever a view costs; and none starves where all cost more time than there is."""
    names = [f"q{n}" for n in range(MANY)]
    told = RecordedViews(a_world(*(a_queue(name) for name in names)))

    def slow(ledger: Ledger, queue: str) -> QueueReport | None:
        told.clock.now += costs
        return report(ledger, queue)

    monkeypatch.setattr(module, "report", slow)
    for n in range(seconds):
        told.views.changed(names)
        told.clock.run(n)
    counts = {name: told.names.count(name) for name in names}
    assert max(counts.values()) - min(counts.values()) <= 1
    assert min(counts.values()) >= 1
    assert told.clock.longest < 0.02 + costs


def test_a_term_that_is_over_hands_over_nothing_more() -> None:
    told = RecordedViews(a_world(a_queue("a")))
    told.views.changed(["a"])
    told.views.stop()
    told.clock.run(5.0)
    assert told.posted == []
