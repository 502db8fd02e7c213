"""One stretch of the event loop: from its selector's return until it calls the selector again.

Measured so, and not by callback, because all other work waits for this: a thousand small callbacks
that are ready at once hold up a renewal of the Lease just like one large callback.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

BOUND: Final = 0.05
"""Seconds that a stretch may take at most (I5)."""
_MOST: Final = 0.5
"""The part of a stretch that makes an activity its cause."""


class Cause(StrEnum):
    """What most of a long stretch was spent on."""

    WORK = "work"
    """The loop's thread ran: it had too much work at once."""
    COLLECTOR = "collector"
    """Python's garbage collector ran, in any thread."""
    STARVED = "starved"
    """The loop's thread did not run: another thread held the interpreter, or the process got no
    processor (its CPU limit, a busy node)."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch that has ended. Times in seconds."""

    seconds: float
    collected: float = 0.0
    """The seconds of these in the garbage collector."""
    ran: float = 1.0
    """The fraction of the time in which the loop's thread had a processor, as far as seen."""
    place: str = ""
    """Where the loop's thread was at the last look, innermost first; empty if there was none."""

    @property
    def cause(self) -> Cause:
        """What most of it was spent on."""
        if self.collected >= self.seconds * _MOST:
            return Cause.COLLECTOR
        return Cause.STARVED if self.ran < _MOST else Cause.WORK

    @property
    def text(self) -> str:
        """For the log. Contains only file and function names of code, nothing that users wrote."""
        told = [f"{self.seconds * 1000:.0f} ms, {self.cause.value}"]
        if self.collected:
            told.append(f"garbage collector {self.collected * 1000:.0f} ms")
        if self.ran < _MOST:
            told.append(f"on a processor for {self.ran:.0%} of it")
        return ", ".join(told) + (f", in {self.place}" if self.place else "")
