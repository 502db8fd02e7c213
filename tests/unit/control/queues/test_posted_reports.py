"""Reports of queues between two threads: one slot of each queue."""

from collections.abc import Callable
from dataclasses import replace

from builders import a_ledger, a_queue
from cardquota.control.queues import PostedReports
from cardquota.quota.reports import report


class SlowLoop:
    """Of a Kopf that does not come round to anything."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def call_soon_threadsafe(self, call: Callable[[], None]) -> None:
        self.calls.append(call)


def test_however_slow_kopf_is_one_report_of_each_queue_waits_and_one_call() -> None:
    """A device plugin is rolled out over 5,000 nodes, each shows three things, 1,000 queues."""
    told: list[tuple[str, int | None]] = []
    posted = PostedReports(lambda name, one: told.append((name, one.generation if one else None)))
    loop = SlowLoop()
    posted.post("early", None)
    posted.connect(loop)
    found = report(a_ledger(a_queue("q")), "q")
    assert found is not None
    for event in range(15_000):
        name = f"q{event % 1_000}"
        posted.post(name, replace(found, name=name, generation=event))
        assert len(posted) <= 1_000
    posted.post("q7", None)
    assert len(loop.calls) == 1
    loop.calls.pop()()
    assert len(told) == 1_000
    assert dict(told)["q8"] == 14_008
    assert dict(told)["q7"] is None
    posted.post("q9", None)
    assert len(loop.calls) == 1
    loop.calls.pop()()
    assert told[-1] == ("q9", None)
    assert len(posted) == 0


def test_what_was_not_taken_is_dropped_with_the_loop_that_is_gone() -> None:
    told: list[str] = []
    posted, loop = PostedReports(lambda name, _: told.append(name)), SlowLoop()
    posted.connect(loop)
    posted.post("q1", None)
    posted.disconnect()
    assert len(posted) == 0
    posted.post("q2", None)
    posted.connect(loop)
    posted.post("q3", None)
    for call in loop.calls:
        call()
    assert told == ["q3"]
