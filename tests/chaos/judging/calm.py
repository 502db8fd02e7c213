"""When nothing went wrong and somebody led: what takes long then has no excuse."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..history import changes

TAKING_OVER = 8.0
"""Seconds from a Lease with a new holder until that one decides: it settles for 3 s, catches up,
and looks at everybody who waits."""
AFTER = 5.0
"""Seconds after something went wrong, in which what it held up is made up for."""

Span = tuple[float, float]


class Calm:
    """The time of a run less the spans in which something was wrong."""

    def __init__(self, wrong: Iterable[Span] = ()) -> None:
        """`wrong`: from when until when (monotonic)."""
        self._wrong: list[Span] = []
        for begin, end in sorted((begin, end + AFTER) for begin, end in wrong):
            if self._wrong and begin <= self._wrong[-1][1]:
                self._wrong[-1] = self._wrong[-1][0], max(end, self._wrong[-1][1])
            else:
                self._wrong.append((begin, end))

    def seconds(self, begin: float, end: float) -> float:
        """How much of this span was calm."""
        wrong = sum(max(0.0, min(end, e) - max(begin, b)) for b, e in self._wrong)
        return end - begin - wrong


def without_a_leader(file: Path) -> Sequence[Span]:
    """When nobody decided, by the Lease in a history."""
    found: list[Span] = []
    holder, renewed = "", 0.0
    for change in changes(file, "lease"):
        now = str(((change.object or {}).get("spec") or {}).get("holderIdentity") or "")
        if change.key != "cardquota":
            continue
        if now != holder and (holder or found):
            found.append((renewed, change.at + TAKING_OVER))
        holder, renewed = now, change.at
    return found
