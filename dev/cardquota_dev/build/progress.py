"""What users see while Go builds: counted packages, never a guess.

A bar on a terminal; elsewhere a plain line now and then, so that a log shows progress.
"""

import sys
import time
from types import TracebackType
from typing import Protocol, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

PLAIN_INTERVAL = 10.0
"""Seconds between two plain lines."""


class Meter(Protocol):
    """Counts the finished packages of a total."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None: ...
    def phase(self, text: str) -> None:
        """Show what is being done now."""

    def total(self, count: int) -> None:
        """Set the number of packages."""

    def step(self) -> None:
        """One more package is done."""


class PlainMeter:
    """One line per phase, and one every few seconds within."""

    def __init__(self) -> None:
        self._phase, self._done, self._total = "", 0, 0
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def phase(self, text: str) -> None:
        """See Meter."""
        self._phase = text
        self._print()

    def total(self, count: int) -> None:
        """See Meter."""
        self._total = count

    def step(self) -> None:
        """See Meter."""
        self._done += 1
        if time.monotonic() - self._last >= PLAIN_INTERVAL:
            self._print()

    def _print(self) -> None:
        self._last = time.monotonic()
        counted = f" ({self._done}/{self._total} packages)" if self._total else ""
        print(f"{self._phase}{counted}", flush=True)


class BarMeter:
    """A bar that stays when it is done."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("packages"),
            TimeElapsedColumn(),
        )
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def phase(self, text: str) -> None:
        """See Meter."""
        self._progress.update(self._task, description=text)

    def total(self, count: int) -> None:
        """See Meter."""
        self._progress.update(self._task, total=count)

    def step(self) -> None:
        """See Meter."""
        self._progress.advance(self._task)


def meter() -> Meter:
    """The meter that suits standard output."""
    return BarMeter() if sys.stdout.isatty() else PlainMeter()
