"""Waits of jobs in numbers, and durations as text."""

import pytest

from cardquota.cli.simulate.timeline.job_record import JobRecord, JobState
from cardquota.cli.simulate.timeline.trace_job import TraceJob
from cardquota.cli.simulate.timeline.waits import (
    Waits,
    duration_text,
    size_of_job,
    waits_by_queue,
    waits_by_size,
)


def record(
    wait: int | None, queue: str = "a", cards: int = 1, state: JobState = JobState.GATED
) -> JobRecord:
    job = TraceJob(name="j", queue=queue, card="X", cards=cards, arrival=100, duration=1)
    return JobRecord(job, state, started=None if wait is None else 100 + wait)


def test_nearest_rank() -> None:
    found = [record(wait) for wait in range(1, 41)]
    found += [record(None), record(None, state=JobState.DENIED), record(7, queue="b")]
    a, b, both = waits_by_queue(reversed(found))
    assert a == Waits("a", 42, 40, 1, 1, median=20, p95=38, longest=40)
    assert b == Waits("b", 1, 1, 0, 0, 7, 7, 7)
    assert (both.name, both.jobs, both.started) == ("all", 43, 41)


def test_who_never_started_has_no_wait() -> None:
    assert waits_by_queue([record(None)])[0] == Waits("a", 1, 0, 0, 1, None, None, None)
    assert waits_by_queue([]) == [Waits("all", 0, 0, 0, 0, None, None, None)]


def test_by_size_where_there_are_any() -> None:
    found = waits_by_size([record(1, cards=32), record(2, cards=2), record(3, cards=7)])
    assert [(waits.name, waits.jobs) for waits in found] == [("2 to 7", 2), ("32 or more", 1)]


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        (1, "1"),
        (2, "2 to 7"),
        (8, "8 to 31"),
        (31, "8 to 31"),
        (32, "32 or more"),
        (9**9, "32 or more"),
    ],
)
def test_sizes(cards: int, name: str) -> None:
    assert size_of_job(cards) == name


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59, "59s"), (3_600, "1h"), (93_784, "1d 2h 3m 4s")]
)
def test_durations(seconds: int, text: str) -> None:
    assert duration_text(seconds) == text
