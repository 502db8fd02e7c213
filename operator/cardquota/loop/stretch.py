"""One stretch of the event loop: from its selector's return until it asks the selector again.

Measured so, and not callback by callback, because this is what everybody else waits for: a thousand
small callbacks that are ready at once hold up a renewal of the Lease as one large one does.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

BOUND: Final = 0.05
"""Seconds that no stretch may take (I5)."""
_MOST: Final = 0.5
"""The part of a stretch that makes something its cause."""


class Cause(StrEnum):
    """What most of a long stretch went to."""

    WORK = "work"
    """The loop's thread ran: what it ran is too much at once."""
    COLLECTOR = "collector"
    """Python's garbage collector ran, in whatever thread."""
    STARVED = "starved"
    """The loop's thread did not run: another thread held the interpreter, or the machine gave the
    process no processor (its CPU limit, a busy node)."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch that is over. Seconds."""

    seconds: float
    collected: float = 0.0
    """Of these in the garbage collector."""
    ran: float = 1.0
    """The part of the time for which the loop's thread had a processor, as far as it was seen."""
    place: str = ""
    """Where the loop's thread was when somebody looked, innermost first; empty if nobody did."""

    @property
    def cause(self) -> Cause:
        """What most of it went to."""
        if self.collected >= self.seconds * _MOST:
            return Cause.COLLECTOR
        return Cause.STARVED if self.ran < _MOST else Cause.WORK

    @property
    def text(self) -> str:
        """For the log. File and function names of code only: nothing that a user wrote."""
        told = [f"{self.seconds * 1000:.0f} ms, {self.cause.value}"]
        if self.collected:
            told.append(f"garbage collector {self.collected * 1000:.0f} ms")
        if self.ran < _MOST:
            told.append(f"on a processor for {self.ran:.0%} of it")
        return ", ".join(told) + (f", in {self.place}" if self.place else "")
