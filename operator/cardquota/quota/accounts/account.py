"""The totals of one queue, per dimension (section 6)."""

from collections.abc import Iterable, Iterator
from typing import Final

from ..amounts import NO_AMOUNTS, Amounts, is_card
from ..pending.pending_queue import PendingQueue
from ..pods.charge_state import ChargeState
from .account_reader import Borrowed, OverQuota
from .queue_facts import QueueFacts
from .row import Row
from .unadmitted_pods import UnadmittedPods

OUTSIDE: Final = ""
"""The account of pods that use cards outside every queue: no quota, no limit."""

_NOTHING: Final = Row()


class Account:
    """One queue's rows, its limits, its pending queue, and the pods that no stamp of ours charges.

    It exists while the queue does or while anything is charged to its name.
    """

    __slots__ = (
        "_quota",
        "cards",
        "changes",
        "facts",
        "name",
        "pending",
        "quota_mark",
        "rows",
        "unadmitted",
        "unstamped",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts: QueueFacts | None = None
        self._quota: Amounts = NO_AMOUNTS
        self.cards: tuple[str, ...] = ()
        """The cards of the quota, sorted."""
        self.quota_mark = object()
        """Another object whenever the quota is another."""
        self.rows: dict[str, Row] = {}
        self.changes = 0
        """Changes whenever a row does."""
        self.unstamped: set[str] = set()
        """Uids of the pods without a stamp of ours that are charged here, or name this queue: that
        may still change."""
        self.unadmitted = UnadmittedPods()
        """Pods that are let through or bound although we did not open their gate (I3).

        Pods that audit mode admitted passed by design. They are not among these, now or later.
        """
        self.pending = PendingQueue(name)

    @property
    def quota(self) -> Amounts:
        """Cards, the last good one (Q4)."""
        return self._quota

    @quota.setter
    def quota(self, quota: Amounts) -> None:
        self._quota, self.cards = quota, tuple(sorted(quota))
        self.quota_mark = object()

    def row(self, dimension: str) -> Row:
        """The counters of a dimension, to read; all zero where nothing was ever charged."""
        return self.rows.get(dimension, _NOTHING)

    def limit(self, dimension: str) -> int | None:
        """What the queue may hold of a dimension (Q1, Q2); None: not limited."""
        if self.name == OUTSIDE:
            return None
        if not is_card(dimension):
            return self.facts.limits.get(dimension) if self.facts else None
        return self.quota.get(dimension, 0)

    def lent(self, card: str) -> int:
        """How many of a card rolling updates may borrow beyond the quota (R6)."""
        surge = self.facts.surge if self.facts else None
        return surge.of(card) if surge and card in self._quota else 0

    def add(self, dimension: str, charge_state: ChargeState, amount: int) -> None:
        """Add to the amount in one charge state. A row without amounts is dropped."""
        row = self._writable(dimension)
        row.by_charge_state[charge_state] += amount
        self._drop_if_empty(dimension, row)

    def add_reserved(self, dimension: str, amount: int) -> None:
        """Add to what groups reserve beyond their charged members (T2)."""
        row = self._writable(dimension)
        row.reserved += amount
        self._drop_if_empty(dimension, row)

    def add_elastic(self, dimension: str, amount: int) -> None:
        """Add to what is elastic."""
        row = self._writable(dimension)
        row.elastic += amount
        self._drop_if_empty(dimension, row)

    def add_offline(self, dimension: str, amount: int) -> None:
        """Add to what pods hold whose own policy is Gate."""
        row = self._writable(dimension)
        row.offline += amount
        self._drop_if_empty(dimension, row)

    def add_leaving(self, dimension: str, amount: int) -> None:
        """Add to what is free once the pods that are being deleted are gone (T4)."""
        row = self._writable(dimension)
        row.leaving += amount
        self._drop_if_empty(dimension, row)

    def over(self) -> Iterator[OverQuota]:
        """Dimensions that stand above their limit (Q7), and above what may be borrowed (R6).

        A dimension that is above its limit only since groups are enqueued over what is elastic (E1)
        is not named.
        """
        above = self._above_limit(self._overcharged())
        return (one for one in above if one.charged - one.limit > self.lent(one.dimension))

    def borrowed(self) -> list[Borrowed]:
        """The cards of which some is borrowed (R6)."""
        if self.facts is None or not self.facts.surge:
            return []
        lent = [one for one in self._overcharged() if self.lent(one[0])]
        above = self._above_limit(lent)
        return [Borrowed(d, min(n - limit, self.lent(d)), self.lent(d)) for d, n, limit in above]

    def _overcharged(self) -> list[tuple[str, int]]:
        # Most rows may be of names that users made up, without a charge.
        return sorted((name, n) for name, row in self.rows.items() if (n := row.overcharged))

    def overcommitted(self, dimensions: Iterable[str]) -> bool:
        """Whether more is charged of one of these than is allowed, what is reserved included."""
        charged = ((d, self.row(d).charged) for d in dimensions)
        return bool(self._above_limit(charged))

    @property
    def unused(self) -> bool:
        """Whether neither a queue nor a charge of this name is left."""
        return not (self.facts or self.rows or self.unstamped or self.pending.groups)

    def _above_limit(self, charged: Iterable[tuple[str, int]]) -> list[OverQuota]:
        """Of dimensions and what is charged of them, those that are above their limit."""
        found = []
        for dimension, amount in charged:
            limit = self.limit(dimension)
            if limit is not None and amount > limit:
                found.append(OverQuota(dimension, amount, limit))
        return found

    def _writable(self, dimension: str) -> Row:
        self.changes += 1
        row = self.rows.get(dimension)
        if row is None:
            row = self.rows[dimension] = Row()
        return row

    def _drop_if_empty(self, dimension: str, row: Row) -> None:
        if row.empty:
            del self.rows[dimension]
