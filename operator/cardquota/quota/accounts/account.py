"""The totals of one queue, per dimension (section 6), and the quotas of all together."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol

from ..amounts import NO_AMOUNTS, Amounts, Charge, MutableAmounts, add_to, is_card
from ..cards.card import is_memory
from ..pending.pending_queue import PendingQueue
from ..pods.pod_record import ChargeState
from ..verdict import LentNumbers
from .queue_facts import QueueFacts

# To ask an enum for a member by name is a call, and totals are asked for with every review.
_ALLOCATED: Final = ChargeState.ALLOCATED
_RELEASED: Final = ChargeState.RELEASED
_GATED_DENY: Final = ChargeState.GATED_DENY
_GATED_GATE: Final = ChargeState.GATED_GATE


RowCounter = Literal["reserved", "elastic", "offline", "leaving"]
"""The counters of a row that are no charge state."""


@dataclass(slots=True, eq=False)
class Row:
    """The counters of one dimension. `elastic` and `offline` are parts of allocated."""

    by_charge_state: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    reserved: int = 0
    """What groups reserve beyond their charged members (T2)."""
    elastic: int = 0
    offline: int = 0
    """What pods hold whose own policy is Gate, whatever that of the queue is."""
    leaving: int = 0
    """The part of `charged` that is free once the pods that are being deleted are gone (T4)."""

    @property
    def allocated(self) -> int:
        """Bound and not finished."""
        return self.by_charge_state[_ALLOCATED]

    @property
    def inqueue(self) -> int:
        """Released but not bound, and what groups still reserve."""
        return self.by_charge_state[_RELEASED] + self.reserved

    @property
    def charged(self) -> int:
        """Allocated and inqueue: what counts against the quota (E2)."""
        states = self.by_charge_state
        return states[_ALLOCATED] + states[_RELEASED] + self.reserved

    @property
    def overcharged(self) -> int:
        """What must be within the quota: all that is charged, but for reservations as far as they
        may stand over what is elastic (I1).
        """
        return self.charged - min(self.reserved, self.elastic)

    @property
    def requested(self) -> int:
        """All that are not finished, gated ones included."""
        return sum(self.by_charge_state)

    @property
    def waiting(self) -> int:
        """Of those at the gate."""
        states = self.by_charge_state
        return states[_GATED_DENY] + states[_GATED_GATE]


class UnadmittedPods:
    """Their uids, and what they hold together. Reading the sum costs no step for each pod."""

    def __init__(self) -> None:
        self._charges: dict[str, Charge] = {}
        self.held: MutableAmounts = {}
        """By dimension. No zeros."""

    def add(self, uid: str, charge: Charge) -> None:
        """Add a pod that is not among them."""
        self._charges[uid] = charge
        for dimension, amount in charge:
            add_to(self.held, dimension, amount)

    def discard(self, uid: str) -> None:
        """Remove a pod, if it is among them."""
        for dimension, amount in self._charges.pop(uid, ()):
            add_to(self.held, dimension, -amount)

    def __len__(self) -> int:
        return len(self._charges)

    def __iter__(self) -> Iterator[str]:
        return iter(self._charges)


class OverQuota(NamedTuple):
    """A dimension in which more is charged than the queue may hold (Q7)."""

    dimension: str
    charged: int
    limit: int


class Borrowed(NamedTuple):
    """A card of which more is charged than the quota, where rolling updates may borrow."""

    card: str
    amount: int
    """Cards beyond the quota, as far as they may be borrowed."""
    lent: int
    """Cards that may be borrowed."""


class CardLending(Protocol):
    """The cards of which a queue may hold less than its quota, by what others hold and deserve."""

    @property
    def cards(self) -> Collection[str]:
        """These cards, and maybe some that are not limited so now."""

    def charged(self, card: str, queue: str) -> None:
        """What a queue holds of one of them has changed."""

    def allowed(self, account: "AccountReader", card: str, most: int) -> int:
        """What a queue may hold of one of them now, at most `most`."""

    def given_to_others(
        self, account: "AccountReader", card: str, most: int, leaving: Mapping[str, int]
    ) -> int:
        """Of what it gives back of one of them, how much is not for itself."""

    def numbers(self, account: "AccountReader", card: str) -> LentNumbers | None:
        """For the words of a shortfall. None: there is nothing to say."""


class _NothingLent:
    cards: Collection[str] = ()

    def charged(self, card: str, queue: str) -> None:
        pass

    def allowed(self, account: "AccountReader", card: str, most: int) -> int:
        return most

    def given_to_others(
        self, account: "AccountReader", card: str, most: int, leaving: Mapping[str, int]
    ) -> int:
        return 0

    def numbers(self, account: "AccountReader", card: str) -> LentNumbers | None:
        return None


NOTHING_LENT: Final[CardLending] = _NothingLent()
OUTSIDE: Final = ""
"""The account of pods that use cards outside every queue: no quota, no limit."""

_NOTHING: Final = Row()


class AccountReader:
    """An account without all that charges it."""

    def __init__(self, name: str, lending: CardLending = NOTHING_LENT) -> None:
        self._lending = lending
        self.name = name
        """The queue's; OUTSIDE for pods outside every queue."""
        self.facts: QueueFacts | None = None
        """The Queue; None while there is none of this name."""
        self.quota: Amounts = NO_AMOUNTS
        """Cards, the last good one (Q4)."""
        self.rows: Mapping[str, Row] = {}
        """The counters of each dimension that has any."""
        self.cards: tuple[str, ...] = ()
        """The cards of the quota, sorted."""
        self.quota_mark = object()
        """Another object whenever the quota is another."""
        self.changes = 0
        """Changes whenever a row does, and when the queue may hold more of a card than it was told
        (L2)."""
        self.unstamped: set[str] = set()
        """Uids of the pods without a stamp of ours that are charged here, or name this queue: that
        may still change. Who waits, and who came past us."""
        self.unadmitted = UnadmittedPods()
        """Pods that are released or bound although we did not open their gate (I3).

        Pods that audit mode admitted passed by design. They are not among these, now or later.
        """
        self.pending = PendingQueue(name)
        """The pods that wait."""

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

    def allowed(self, dimension: str, beyond: int = 0) -> int | None:
        """What the queue may hold of a dimension now: its limit, and so many cards `beyond` that
        (R6); but of a card that is lent no more than there is for it (L2). None: not limited.
        Whether something fits is judged by this alone; whether it ever could, by `limit`.
        """
        limit = self.limit(dimension)
        if limit is None:
            return None
        if dimension in self._lending.cards:
            return self._lending.allowed(self, dimension, limit + beyond)
        return limit + beyond

    def given_to_others(self, card: str, leaving: Mapping[str, int]) -> int:
        """Of what the queue gives back of a card, how much does not make it room of its own, since
        more is lent than the cluster has (L2). Below zero: so much more it may hold once that is
        gone which is `leaving` other queues.
        """
        return self._lending.given_to_others(self, card, self.quota.get(card, 0), leaving)

    def lent_numbers(self, dimension: str) -> LentNumbers | None:
        """Of a card that somebody lends, or says that it is owed: why it may hold no more."""
        return self._lending.numbers(self, dimension) if is_card(dimension) else None

    def lent(self, card: str) -> int:
        """How many of a card rolling updates may borrow beyond the quota (R6)."""
        surge = self.facts.surge if self.facts else None
        return surge.of(card) if surge and card in self.quota else 0

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
        charged = ((self.row(d).charged, self.allowed(d)) for d in dimensions)
        return any(allowed is not None and amount > allowed for amount, allowed in charged)

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


class Account(AccountReader):
    """One queue's rows, its limits, its pending queue, and the pods that no stamp of ours charges.

    It exists while the queue does or while anything is charged to its name.
    """

    def __init__(self, name: str, lending: CardLending = NOTHING_LENT) -> None:
        super().__init__(name, lending)
        self.rows = self._rows = dict[str, Row]()

    def set_quota(self, quota: Amounts) -> None:
        """Another quota is in force: cards, the last good one (Q4)."""
        self.quota, self.cards = quota, tuple(sorted(quota))
        self.quota_mark = object()

    def add(self, dimension: str, charge_state: ChargeState, amount: int) -> None:
        """Add to the amount in one charge state. A row without amounts is dropped."""
        row = self._writable(dimension)
        row.by_charge_state[charge_state] += amount
        if amount <= 0:
            self._drop_if_empty(dimension, row)

    def add_to(self, dimension: str, counter: RowCounter, amount: int) -> None:
        """Add to one of the other counters."""
        row = self._writable(dimension)
        counted = getattr(row, counter) + amount
        setattr(row, counter, counted)
        if not counted:
            self._drop_if_empty(dimension, row)

    def _writable(self, dimension: str) -> Row:
        self.changes += 1
        if dimension in self._lending.cards:
            self._lending.charged(dimension, self.name)
        row = self._rows.get(dimension)
        if row is None:
            row = self._rows[dimension] = Row()
        return row

    def _drop_if_empty(self, dimension: str, row: Row) -> None:
        parts = row.reserved or row.elastic or row.offline or row.leaving
        if not (parts or any(row.by_charge_state)):
            del self._rows[dimension]


class QuotaTotals:
    """The quotas of all queues together, per card (Q3): kept up to date as quotas change. A change
    costs in proportion to the rows of that quota.
    """

    def __init__(self, *, memory_by_row: bool = False) -> None:
        """`memory_by_row`: whether the memory of cards counts without any row, too: then no queue
        may have some (B9).
        """
        self._memory_by_row = memory_by_row
        self._queues: dict[str, set[str]] = {}
        """By card: the queues that have a row for it."""
        self._cards: Counter[str] = Counter()
        self._memory_rows = 0
        """How many cards with a row are the memory of cards (B10)."""
        self.version = 0
        """Goes up whenever a card gets its first row or loses its last one."""

    def replace(self, queue: str, old: Amounts, new: Amounts) -> set[str]:
        """Set a queue's new quota. Returns the cards that got their first row, or lost the last."""
        changed = old.keys() ^ new.keys()
        had = {card for card in changed if self.has(card)}
        for card, amount in old.items():
            self._cards[card] -= amount
            self._queues[card].discard(queue)
        for card, amount in new.items():
            self._cards[card] += amount
            self._queues.setdefault(card, set()).add(queue)
        for card in old:
            if not self._queues[card]:
                del self._queues[card], self._cards[card]
        has = {card for card in changed if self.has(card)}
        moved = had ^ has
        self._memory_rows += sum(map(is_memory, has)) - sum(map(is_memory, had))
        self.version += bool(moved)
        return moved

    def has(self, card: str) -> bool:
        """Whether some queue has a row for this card."""
        return card in self._queues

    @property
    def limits_memory(self) -> bool:
        """Whether the memory of cards is counted (B9, B10)."""
        return self._memory_by_row or self._memory_rows > 0

    def of(self, card: str) -> int:
        """All quotas of this card together, cards."""
        return self._cards[card]

    def queues(self, card: str) -> Collection[str]:
        """The names of the queues that have a row for this card."""
        return self._queues.get(card, ())
