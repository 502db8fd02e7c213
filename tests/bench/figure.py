"""One measured figure, and the bound it is held against."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Report = Callable[["Figure"], None]
"""Takes a figure as soon as it is known."""


@dataclass(frozen=True)
class Figure:
    """What was measured, with the spread over its rounds."""

    what: str
    value: float
    unit: str
    """`us`, `ms`, `s`, `MB`, `/s`, or the empty string for a ratio or a count."""
    bound: float | None = None
    """None: shown only."""
    side: Literal["at most", "at least"] = "at most"
    low: float | None = None
    high: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the bound is kept; true without one."""
        if self.bound is None:
            return True
        return self.value <= self.bound if self.side == "at most" else self.value >= self.bound


def median(
    what: str,
    rounds: Sequence[float],
    unit: str,
    bound: float | None = None,
    side: Literal["at most", "at least"] = "at most",
) -> Figure:
    """The median of several rounds, with the least and the largest."""
    return Figure(what, statistics.median(rounds), unit, bound, side, min(rounds), max(rounds))
