"""What a decision may rest on that is stored at some time: what was so until a moment before.

Whoever decides looks at a view that is a moment old, and what it sends takes a moment. In trouble
both take as long as that, and what was decided before it may be stored after it.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from ..history import changes

MARGIN = 5.0
"""Seconds."""
BEHIND = 15.0
"""Seconds for which views may stay old after the API server, or etcd, was away: the longest that a
reflector waits before it asks again. What a list takes then is within the margin."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class Trouble:
    """From when until when (monotonic) views were old, or answers late."""

    begin: float
    end: float
    old: bool = True
    """Whether views were; if not, only what was decided came late."""
    behind: float = 0.0
    """For so many seconds after its end not everybody may have caught up."""
    anew: bool = False
    """Whether another one decides by it, who must have caught up before."""

    @property
    def over(self) -> float:
        """When everybody has caught up, for certain."""
        return self.end + self.behind


class Leeway:
    """How old a view may be, at any time of a run.

    That one trouble follows soon after another says nothing: in between, who decides was told all
    that it had missed. Only who was still behind when the second began may be as far behind until
    that one is over. So they are one if the second begins before the first is `over`, and not if it
    begins within the margin after that; nor where the second leaves nobody who was behind.
    """

    def __init__(self, troubles: Sequence[Trouble] = ()) -> None:
        self._since: list[tuple[Trouble, float]] = []
        for trouble in sorted(troubles, key=lambda one: one.begin):
            before = [s for one, s in self._since if one.over > trouble.begin and not trouble.anew]
            self._since.append((trouble, min([trouble.begin - MARGIN, *before])))

    def since(self, at: float) -> float:
        """The oldest moment that what is stored now may have been decided at."""
        reaching = [s for one, s in self._since if one.begin < at < one.over + MARGIN]
        return min([at - MARGIN, *reaching])


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
