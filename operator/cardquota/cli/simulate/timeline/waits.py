"""How long jobs waited, in exact seconds, and durations as text."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from .job_record import JobRecord, JobState

SIZES: Final = ((1, 1), (2, 7), (8, 31), (32, None))
"""Cards of a whole job: the smallest and the largest of each class; None: no bound."""
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


class Waits(NamedTuple):
    """Of some jobs. Times are seconds; of no job that started they are None.

    The median and the 95th percentile are waits that a job really had: the smallest that at least
    half, or 95 in 100, of those that started did not exceed (nearest rank).
    """

    name: str
    jobs: int
    started: int
    denied: int
    never_started: int
    median: int | None
    p95: int | None
    longest: int | None


def waits_by_queue(records: Iterable[JobRecord]) -> list[Waits]:
    """For each queue that a job names, by name; then of all jobs together."""
    records = list(records)
    names = sorted({record.job.queue for record in records})
    return [*_grouped(records, names, lambda record: record.job.queue), _waits("all", records)]


def waits_by_size(records: Iterable[JobRecord]) -> list[Waits]:
    """For each class of sizes that has jobs, by the cards of the whole job."""
    names = [_size_name(least, most) for least, most in SIZES]
    found = _grouped(list(records), names, lambda record: size_of_job(record.job.all_cards))
    return [waits for waits in found if waits.jobs]


def size_of_job(cards: int) -> str:
    """The name of its class."""
    fitting = ((least, most) for least, most in SIZES if most is None or cards <= most)
    return _size_name(*next(fitting))


def duration_text(seconds: int) -> str:
    """Exact, without units that are zero: `1d 2h`, `3m 5s`, `0s`."""
    parts = []
    for unit, size in _UNITS:
        number, seconds = divmod(seconds, size)
        if number:
            parts.append(f"{number}{unit}")
    return " ".join(parts) or "0s"


def _size_name(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} or more"
    return str(least) if least == most else f"{least} to {most}"


def _grouped(
    records: list[JobRecord], names: Iterable[str], name_of: Callable[[JobRecord], str]
) -> list[Waits]:
    groups: dict[str, list[JobRecord]] = {name: [] for name in names}
    for record in records:
        groups[name_of(record)].append(record)
    return [_waits(name, group) for name, group in groups.items()]


def _waits(name: str, records: list[JobRecord]) -> Waits:
    found = sorted(wait for record in records if (wait := record.wait) is not None)
    denied = sum(record.state is JobState.DENIED for record in records)
    return Waits(
        name=name,
        jobs=len(records),
        started=len(found),
        denied=denied,
        never_started=len(records) - len(found) - denied,
        median=_nearest_rank(found, 50),
        p95=_nearest_rank(found, 95),
        longest=found[-1] if found else None,
    )


def _nearest_rank(found: list[int], percent: int) -> int | None:
    return found[-(-len(found) * percent // 100) - 1] if found else None
