"""The results of a timeline, for people and for programs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import msgspec
from rich.text import Text

from ....quota.ledger.ledger import Ledger
from ....quota.words import counted, listed, show
from ...table import table
from ..answers import Answers
from .job_record import JobRecord, JobState
from .utilisation import Utilisation, last_moment, utilisations
from .waits import Waits, duration_text, waits_by_queue, waits_by_size

MOST_GROUPS: Final = 20
"""Reasons that are printed of those that never started, and of those that were denied."""
MOST_NAMED: Final = 4
"""Jobs with the same reason that one line names."""
_WAITS: Final = (
    *("JOBS", "STARTED", "MEDIAN WAIT", "95TH PERCENTILE", "LONGEST WAIT"),
    *("DENIED", "NEVER STARTED"),
)
_UTILISATION: Final = ("CARD", "ON NODES", "QUOTAS", "HELD", "OF ALL", "WHILE JOBS WAITED")


@dataclass(slots=True, frozen=True)
class TimelineReport:
    """What a timeline came to. Exact, and the same for the same files, trace and settings."""

    records: Sequence[JobRecord]
    seconds: int
    """From the first arrival until nothing happens any more."""
    by_queue: list[Waits]
    by_size: list[Waits]
    cards: list[Utilisation]
    answers: Answers = field(default_factory=Answers)
    """Of its simulation: notes, and queues that were refused."""


def timeline_report(
    records: Sequence[JobRecord], ledger: Ledger, answers: Answers
) -> TimelineReport:
    """Sum up the records of a timeline."""
    return TimelineReport(
        records,
        last_moment(records),
        waits_by_queue(records),
        waits_by_size(records),
        utilisations(records, ledger),
        answers,
    )


def timeline_lines(found: TimelineReport) -> Iterator[Text]:
    """For people: notes, waits, how much of each card was held, who never started or was denied."""
    for note in found.answers.notes:
        yield Text(f"note: {note}", style="dim")
    for refused in found.answers.refused:
        yield Text(f"{refused.kind} {show(refused.name)}: refused: {refused.text}", style="red")
    if found.answers.notes or found.answers.refused:
        yield Text()
    total = found.by_queue[-1]
    yield Text(
        f"{counted(total.jobs, 'job')} in {duration_text(found.seconds)}: {total.started} started, "
        f"{total.denied} denied, {total.never_started} never started",
        style="bold",
    )
    yield Text()
    yield from table([("QUEUE", *_WAITS), *map(_wait_cells, found.by_queue)])
    yield Text()
    yield from table([("CARDS OF A JOB", *_WAITS), *map(_wait_cells, found.by_size)])
    yield Text()
    yield from table([_UTILISATION, *map(_card_cells, found.cards)])
    for state, title in (
        (JobState.GATED, "Never started, for want of quota:"),
        (JobState.PENDING, "Never started, for want of nodes:"),
        (JobState.DENIED, "Denied:"),
    ):
        yield from _reasons(title, [one for one in found.records if one.state is state])


def _wait_cells(waits: Waits) -> tuple[str, ...]:
    times = (waits.median, waits.p95, waits.longest)
    return (
        show(waits.name),
        str(waits.jobs),
        str(waits.started),
        *("-" if time is None else duration_text(time) for time in times),
        str(waits.denied),
        str(waits.never_started),
    )


def _card_cells(found: Utilisation) -> tuple[str, ...]:
    waited = f"{_percent(found.while_waited)} of {duration_text(found.seconds_waited)}"
    return (
        show(found.card),
        str(found.capacity),
        str(found.quota),
        f"{_hours(found.held)} card-hours",
        _percent(found.overall),
        waited if found.seconds_waited else "nobody waited",
    )


def _percent(thousandths: int | None) -> str:
    if thousandths is None:
        return "-"
    return f"{thousandths // 10}.{thousandths % 10} %"


def _hours(seconds: int) -> str:
    tenths = (seconds * 10 + 1800) // 3600
    return f"{tenths // 10:,}.{tenths % 10}"


def _reasons(title: str, records: Sequence[JobRecord]) -> Iterator[Text]:
    """Jobs of one queue with the same text in one line, the largest number first."""
    if not records:
        return
    yield Text()
    yield Text(title, style="bold")
    groups: dict[tuple[str, str], list[JobRecord]] = {}
    for record in records:
        groups.setdefault((record.job.queue, record.text), []).append(record)
    in_order = sorted(groups.items(), key=lambda one: (-len(one[1]), one[0]))
    for (queue, text), group in islice(in_order, MOST_GROUPS):
        names = listed([record.job.name for record in group], most=MOST_NAMED)
        yield Text(f"  {counted(len(group), 'job')} of queue {show(queue)} ({names}): {text}")
    left = in_order[MOST_GROUPS:]
    if left:
        jobs = sum(len(group) for _, group in left)
        yield Text(f"  {counted(jobs, 'job')} more, for {counted(len(left), 'more reason')}")


def timeline_json(found: TimelineReport) -> Iterator[str]:
    """For programs: everything as one JSON object, in pieces; each job is one line, with all its
    times and placements. Times are seconds after the first arrival, amounts are cards and
    card-seconds.
    """
    total = {
        "seconds": found.seconds,
        "waits": {
            "queues": [waits._asdict() for waits in found.by_queue],
            "sizes": [waits._asdict() for waits in found.by_size],
        },
        "cards": msgspec.to_builtins(found.cards),
        "refused": msgspec.to_builtins(found.answers.refused),
        "notes": found.answers.notes,
    }
    yield json.dumps(total, indent=2).removesuffix("\n}")
    yield ',\n  "jobs": ['
    for number, job in enumerate(_plain_jobs(found.records)):
        yield f"{',' if number else ''}\n    {json.dumps(job)}"
    yield "\n  ]\n}\n"


def _plain_jobs(records: Iterable[JobRecord]) -> Iterator[dict[str, Any]]:
    for record in records:
        yield {
            **msgspec.to_builtins(record.job),
            "state": record.state.value,
            "text": record.text,
            "let_through": record.let_through,
            "charged": dict(record.charged),
            "started": record.started,
            "ended": record.ended,
            "placements": [placement._asdict() for placement in record.placements],
        }
