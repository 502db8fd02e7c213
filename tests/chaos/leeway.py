"""What a decision may rest on that is stored at some time: what was so until a moment before.

Whoever decides looks at a view that is a moment old, and what it sends takes a moment. In a fault
both take as long as that, and what was decided before it may be stored after it.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

MARGIN = 5.0
"""Seconds."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Leeway:
    """How old a view may be, at any time of a run."""

    def __init__(self, faults: Sequence[tuple[float, float]] = ()) -> None:
        """`faults`: from when until when something went wrong (monotonic)."""
        self._faults = sorted(faults)

    def since(self, at: float) -> float:
        """The oldest moment that what is stored now may have been decided at."""
        since = at - MARGIN
        for begin, end in reversed(self._faults):
            if begin < at and end > since:
                since = min(since, begin - MARGIN)
        return since


class Lately(Generic[K, V]):
    """What something was, and since when; asked in the order of time."""

    def __init__(self) -> None:
        self._rows: defaultdict[K, list[tuple[float, V]]] = defaultdict(list)

    def note(self, key: K, at: float, value: V) -> None:
        """It is so from now on."""
        rows = self._rows[key]
        if not rows or rows[-1][1] != value:
            rows.append((at, value))

    def values(self, key: K, since: float) -> list[V]:
        """All that it was at any time since then; empty if it was nothing yet."""
        rows = self._rows[key]
        first = next((n for n in range(len(rows) - 1, -1, -1) if rows[n][0] <= since), 0)
        return [value for _, value in rows[first:]]
