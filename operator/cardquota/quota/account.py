"""The totals of one queue, per dimension (section 6).

A dimension is a card name (cards), `cpu` (milli-cores) or `memory` (bytes).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from .bucket import Bucket
from .claim import Claim
from .queue_facts import QueueFacts
from .reading import Readings
from .undecided import Undecided
from .vocabulary import CPU, MEMORY
from .waiting import WaitingLine

# To ask an enum for a member by name is a call, and totals are asked for with every review.
_ALLOCATED: Final = Bucket.ALLOCATED
_OPEN: Final = Bucket.OPEN
_GATED_DENY: Final = Bucket.GATED_DENY

OUTSIDE: Final = ""
"""The account of pods that use cards outside every queue: no quota, no limit."""


class Row:
    """The counters of one dimension. `elastic` and `offline` are parts of allocated."""

    __slots__ = ("by_bucket", "elastic", "offline", "reserved")

    def __init__(self) -> None:
        self.by_bucket = [0, 0, 0, 0]
        self.reserved = 0
        self.elastic = 0
        self.offline = 0
        """What pods hold whose own policy is Gate, whatever that of the queue is."""

    @property
    def allocated(self) -> int:
        """Bound and not finished."""
        return self.by_bucket[_ALLOCATED]

    @property
    def inqueue(self) -> int:
        """Let through but not bound, and what groups still reserve."""
        return self.by_bucket[_OPEN] + self.reserved

    @property
    def charged(self) -> int:
        """Allocated and inqueue: what counts against the quota (E2)."""
        buckets = self.by_bucket
        return buckets[_ALLOCATED] + buckets[_OPEN] + self.reserved

    @property
    def expected(self) -> int:
        """Charged, and what was let by at create and waits for its gate to open: what counts
        against the quota when the next pod is created (E2).
        """
        buckets = self.by_bucket
        return buckets[_ALLOCATED] + buckets[_OPEN] + buckets[_GATED_DENY] + self.reserved

    @property
    def requested(self) -> int:
        """All that are not finished, gated ones included."""
        return sum(self.by_bucket)

    @property
    def empty(self) -> bool:
        """Whether nothing is counted here."""
        return not (any(self.by_bucket) or self.reserved or self.elastic or self.offline)


_NOTHING: Final = Row()


class Account:
    """One queue's rows, its limits, and the uids of the pods that no stamp of ours charges.

    It exists while the queue does or while anything is charged to its name.
    """

    __slots__ = (
        "_quota",
        "_undecided",
        "_undecided_at_create",
        "cards",
        "facts",
        "loose",
        "name",
        "past_us",
        "readings",
        "rows",
        "waiting",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts: QueueFacts | None = None
        self._quota: Mapping[str, int] = {}
        self.cards: tuple[str, ...] = ()
        """The cards of the quota, sorted."""
        self.readings = Readings()
        self.rows: dict[str, Row] = {}
        self.loose: set[str] = set()
        """Pods whose charge may still change."""
        self.past_us: set[str] = set()
        """Those of them that are let through or bound, though we opened no gate of theirs (I3).

        Pods that audit mode let by passed by design and are not among them, also later.
        """
        self.waiting = WaitingLine()
        self._undecided: Undecided | None = None
        self._undecided_at_create: Undecided | None = None

    @property
    def quota(self) -> Mapping[str, int]:
        """Cards, the last good one (Q4)."""
        return self._quota

    @quota.setter
    def quota(self, quota: Mapping[str, int]) -> None:
        self._quota, self.cards = quota, tuple(sorted(quota))
        self.readings.clear()

    def row(self, dimension: str) -> Row:
        """The counters of a dimension, to read; all zero where nothing was ever charged."""
        return self.rows.get(dimension, _NOTHING)

    def limit(self, dimension: str) -> int | None:
        """What the queue may hold of a dimension (Q1, Q2); None: not limited."""
        if self.name == OUTSIDE:
            return None
        if dimension in (CPU, MEMORY):
            return self.facts.limits.get(dimension) if self.facts else None
        return self.quota.get(dimension, 0)

    def move(self, dimension: str, bucket: Bucket, amount: int) -> None:
        """Add to one bucket; a row that comes to nothing is dropped."""
        row = self._writable(dimension)
        row.by_bucket[bucket] += amount
        self._drop_if_empty(dimension, row)

    def undecided(self, *, at_create: bool = False) -> Undecided | None:
        """What pods hold of one card or another (T3); None where each has its card.

        Of those that are let through; at create also of gated Deny pods, which are on their way
        (E2). One that waits its turn claims nothing.
        """
        return self._undecided_at_create if at_create else self._undecided

    def claim(self, claim: Claim, shown: str, bucket: Bucket, sign: int) -> None:
        """Count in or out a pod that may end up on any of several cards (T3), and that `move`
        counts with `shown`.
        """
        if bucket in (_OPEN, _GATED_DENY):
            self._undecided_at_create = self._claimed(
                self._undecided_at_create, lambda card: self.row(card).expected, claim, shown, sign
            )
        if bucket is _OPEN:
            # What those who wait need was worked out without it, or with it.
            self.waiting.look_again()
            self._undecided = self._claimed(
                self._undecided, lambda card: self.row(card).charged, claim, shown, sign
            )

    def reserve(self, dimension: str, amount: int) -> None:
        """Add to what groups reserve beyond their charged members (T2)."""
        row = self._writable(dimension)
        row.reserved += amount
        self._drop_if_empty(dimension, row)

    def stretch(self, dimension: str, amount: int) -> None:
        """Add to what is elastic."""
        row = self._writable(dimension)
        row.elastic += amount
        self._drop_if_empty(dimension, row)

    def set_apart(self, dimension: str, amount: int) -> None:
        """Add to what is off-line of its own accord."""
        row = self._writable(dimension)
        row.offline += amount
        self._drop_if_empty(dimension, row)

    def over(self) -> Iterator[tuple[str, int, int]]:
        """Dimensions that stand above their limit: name, charged, limit (Q7).

        Pods that may use several cards are all counted with the first of them; what is over only
        because of that is not (T3).
        """
        for dimension, row in sorted(self.rows.items()):
            limit = self.limit(dimension)
            if limit is not None and row.charged > limit and not self._assignable(dimension, limit):
                yield dimension, row.charged, limit

    @property
    def unused(self) -> bool:
        """Whether neither a queue nor a charge of this name is left."""
        return self.facts is None and not self.rows and not self.loose

    def _assignable(self, dimension: str, limit: int) -> bool:
        """Whether those who may use other cards could do with what there is of this one."""
        if self._undecided is None or dimension in (CPU, MEMORY):
            return False
        return self._undecided.fits(dimension, limit)

    def _claimed(
        self,
        undecided: Undecided | None,
        counted: Callable[[str], int],
        claim: Claim,
        shown: str,
        sign: int,
    ) -> Undecided | None:
        """With one more or fewer; None where none is left, as almost always."""
        found = undecided or Undecided(counted, lambda card: self._quota.get(card, 0))
        if sign > 0:
            found.add(claim, shown)
        else:
            found.remove(claim, shown)
        return found or None

    def _writable(self, dimension: str) -> Row:
        row = self.rows.get(dimension)
        if row is None:
            row = self.rows[dimension] = Row()
        return row

    def _drop_if_empty(self, dimension: str, row: Row) -> None:
        if row.empty:
            del self.rows[dimension]
