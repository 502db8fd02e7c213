"""Traces as CSV: a header, then one line per job.

Either all of a trace is read, or nothing of it: each bad cell is named with file, line and column,
what was found and what is expected.
"""

import csv
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, Final, TextIO, cast

from ....quota.limits import LONGEST_OBJECT_NAME, is_object_name
from ....quota.quantity import QuantityError, milli, whole
from ....quota.words import counted, listed, show
from ...files.yaml_files import STDIN
from .trace_job import (
    LONGEST,
    LONGEST_NAME,
    MOST_CARDS,
    MOST_JOBS,
    MOST_PODS,
    MOST_PODS_OF_ONE,
    TraceJob,
)

REQUIRED: Final = ("arrival", "queue", "card", "cards", "duration")
OPTIONAL: Final = ("name", "namespace", "pods", "priority", "cpu", "memory")
MOST_TOLD: Final = 100
"""Problems of one trace that are named. The rest are counted."""
_LONGEST_LINE: Final = 64 * 1024
_LONGEST_CARD: Final = 1_024
_LONGEST_NAMESPACE: Final = 63
_LATEST: Final = 2**33
"""Seconds since 1970, some centuries."""
_WHOLE: Final = re.compile(r"\d{1,18}", re.ASCII)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*", re.ASCII)
_ORDER: Final = (
    *("name", "namespace", "queue", "card", "cards", "pods", "arrival", "duration"),
    *("priority", "cpu", "memory"),
)


class TraceError(Exception):
    """A trace that cannot be used. Each of the `problems` is one line, and names the place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class _ExpectedError(Exception):
    """A cell is not what is expected: the text says what is."""


def read_trace(source: str) -> list[TraceJob]:
    """The jobs of a file, or of standard input (`-`), by arrival; of equal ones the earlier line is
    first. Times count from the first arrival. Raises TraceError.
    """
    name = "standard input" if source == STDIN else source
    try:
        if source == STDIN:
            return _TraceReader(name).read(sys.stdin)
        with Path(source).open(encoding="utf-8-sig", newline="") as file:
            return _TraceReader(name).read(file)
    except OSError as error:
        raise TraceError([f"{name}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise TraceError([f"{name}: cannot be read: it is not UTF-8 text"]) from None


def write_trace(path: Path, jobs: Iterable[TraceJob]) -> None:
    """Write a trace that `read_trace` reads again as the same jobs. Raises TraceError."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_ORDER)
    writer.writerows([getattr(job, column) for column in _ORDER] for job in jobs)
    try:
        path.write_text(text.getvalue(), encoding="utf-8")
    except OSError as error:
        raise TraceError([f"{path}: cannot be written: {error.strerror}"]) from None


class _TraceReader:
    """Reads one trace."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._problems: list[str] = []
        self._untold = 0
        self._names: dict[tuple[str, str], int] = {}
        """By namespace and name of a job: its line."""
        self._stamped: bool | None = None
        """Whether the arrivals are points in time, as in the first line; None: none is read yet."""
        self._pods = 0

    def read(self, file: TextIO) -> list[TraceJob]:
        """Raises TraceError."""
        rows = csv.reader(_lines(file), strict=True)
        jobs: list[TraceJob] = []
        try:
            columns = self._columns(next(rows, []))
            for row in rows:
                if not any(cell.strip() for cell in row):
                    continue
                if len(jobs) + len(self._problems) + self._untold >= MOST_JOBS:
                    self._wrong(rows.line_num, f"a trace has at most {MOST_JOBS:,} jobs")
                    break
                job = self._job(rows.line_num, columns, row)
                if job is not None:
                    jobs.append(job)
        except csv.Error as error:
            self._wrong(rows.line_num, f"is not CSV: {error}")
        if not jobs and not self._problems:
            self._problems.append(f"{self._source}: has no jobs: only a header")
        if self._untold:
            self._problems.append(f"{self._source}: {counted(self._untold, 'more problem')}")
        if not self._problems:
            jobs = self._in_order(jobs)
        if self._problems:
            raise TraceError(self._problems)
        return jobs

    def _columns(self, header: list[str]) -> list[str]:
        """Raises TraceError: without its columns nothing of a trace can be read."""
        columns = [cell.strip() for cell in header]
        known = (*REQUIRED, *OPTIONAL)
        missing = [name for name in REQUIRED if name not in columns]
        unknown = [name for name in columns if name not in known]
        twice = sorted({name for name in columns if columns.count(name) > 1} - set(unknown))
        for names, what in (
            (missing, "missing in the header"),
            (unknown, "not known"),
            (twice, "there twice"),
        ):
            if names:
                are = f"column {show(names[0])} is" if len(names) == 1 else "columns are"
                which = "" if len(names) == 1 else f": {listed(names)}"
                self._wrong(1, f"{are} {what}{which}")
        if self._problems:
            expected = f"{', '.join(REQUIRED)}, and if need be {', '.join(OPTIONAL)}"
            self._problems.append(f"{self._source}: expected columns: {expected}")
            raise TraceError(self._problems)
        return columns

    def _job(self, line: int, columns: list[str], row: list[str]) -> TraceJob | None:
        """One line; None if it is bad."""
        if len(row) != len(columns):
            found = counted(len(row), "cell")
            self._wrong(line, f"has {found}: expected {len(columns)}, as in the header")
            return None
        found_by_name: dict[str, Any] = {"name": f"job-{line}"}
        good = True
        for column, cell in zip(columns, row, strict=True):
            text = cell.strip()
            if not text and column in OPTIONAL:
                continue
            try:
                found_by_name[column] = _CELLS[column](text)
            except _ExpectedError as expected:
                good = False
                found = f"found <{show(text)}>" if text else "it is empty"
                self._wrong(line, f"{found}: expected {expected}", column)
        if not good:
            return None
        seconds, stamped = cast("tuple[int, bool]", found_by_name.pop("arrival"))
        job = TraceJob(arrival=seconds, **found_by_name)
        return job if self._fits_in(line, job, stamped=stamped) else None

    def _fits_in(self, line: int, job: TraceJob, *, stamped: bool) -> bool:
        """Whether a good line goes with the lines before it."""
        first = self._names.setdefault((job.namespace, job.name), line)
        if first != line:
            text = f"<{job.name}> is the name of line {first} too: expected one of its own, or none"
            self._wrong(line, text, "name")
            return False
        if self._stamped is None:
            self._stamped = stamped
        if stamped is not self._stamped:
            forms = ("a number of seconds", "a point in time")
            expected = f"expected {forms[self._stamped]} as in the first line"
            self._wrong(line, f"found {forms[stamped]}: {expected}", "arrival")
            return False
        self._pods += job.pods
        if self._pods - job.pods <= MOST_PODS < self._pods:
            self._wrong(line, f"all jobs together have more than {MOST_PODS:,} pods", "pods")
        return True

    def _in_order(self, jobs: list[TraceJob]) -> list[TraceJob]:
        jobs.sort(key=lambda job: job.arrival)
        first, last = jobs[0].arrival, jobs[-1].arrival
        if last - first > LONGEST:
            text = f"from the first to the last are {last - first:,} seconds: expected at most"
            self._problems.append(f"{self._source}, column arrival: {text} {LONGEST:,} (ten years)")
            return []
        return [replace(job, arrival=job.arrival - first) for job in jobs] if first else jobs

    def _wrong(self, line: int, text: str, column: str = "") -> None:
        if len(self._problems) >= MOST_TOLD:
            self._untold += 1
            return
        place = f", column {column}" if column else ""
        self._problems.append(f"{self._source}, line {line}{place}: {text}")


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file, none of which is read further than its bound."""
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise csv.Error(f"the line has {_LONGEST_LINE:,} characters or more")
        yield line


# --- cells: each returns its value, or raises _ExpectedError ------------------------------------


def _number(least: int, most: int, unit: str = "") -> Callable[[str], int]:
    def read(text: str) -> int:
        if _WHOLE.fullmatch(text) and least <= int(text) <= most:
            return int(text)
        raise _ExpectedError(f"a whole number{unit} from {least:,} to {most:,}")

    return read


def _arrival(text: str) -> tuple[int, bool]:
    """Seconds, and whether they count from 1970."""
    if _WHOLE.fullmatch(text) and int(text) <= _LATEST:
        return int(text), False
    try:
        if _TIME.fullmatch(text):
            found = datetime.fromisoformat(text)
            return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()), True
    except (ValueError, OverflowError):
        pass
    raise _ExpectedError(
        "a whole number of seconds, 0 or more, or a point in time such as 2026-01-31T08:30:00Z"
    )


def _text(what: str, longest: int) -> Callable[[str], str]:
    def read(text: str) -> str:
        if 0 < len(text) <= longest and text.isprintable():
            return text
        raise _ExpectedError(f"{what}, printable and of at most {longest:,} characters")

    return read


def _object_name(what: str, longest: int) -> Callable[[str], str]:
    def read(text: str) -> str:
        if len(text) <= longest and is_object_name(text):
            return text
        letters = "lower-case letters, digits, `-` and `.`"
        raise _ExpectedError(f"{what} of {letters}, of at most {longest} characters")

    return read


def _quantity(read_amount: Callable[[str], int], example: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        try:
            if read_amount(text) >= 0:
                return text
        except QuantityError:
            pass
        raise _ExpectedError(f"a Kubernetes quantity, 0 or more, such as {example}")

    return read


_CELLS: Final[dict[str, Callable[[str], Any]]] = {
    "name": _object_name("a name", LONGEST_NAME),
    "namespace": _object_name("the name of a namespace", _LONGEST_NAMESPACE),
    "queue": _text("the name of a queue", LONGEST_OBJECT_NAME),
    "card": _text("the name of a card, or of several as in A|B", _LONGEST_CARD),
    "cards": _number(1, MOST_CARDS, " of cards of each pod"),
    "pods": _number(1, MOST_PODS_OF_ONE, " of pods"),
    "arrival": _arrival,
    "duration": _number(0, LONGEST, " of seconds"),
    "priority": _text("the name of a priority class", LONGEST_OBJECT_NAME),
    "cpu": _quantity(milli, "500m or 4"),
    "memory": _quantity(whole, "32Gi"),
}
