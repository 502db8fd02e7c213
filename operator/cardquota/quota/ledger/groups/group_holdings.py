"""The part of a pod group that accounts count: what its members hold, what of it is elastic, and
what is reserved beyond it (T2, T4, section 6).
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from ...accounts.account import Account
from ...amounts import NO_AMOUNTS, Amounts, Charge
from ...pods.pod_facts import PodFacts
from ...pods.pod_record import PodRecord
from ...stamp import Reservation

_Key = TypeVar("_Key")
UNKNOWN_MINIMUM: Final = 2**62
"""The minimum of a group that was not seen yet: none of its members is elastic."""
_BEYOND: Final = 2**62
"""The share of who holds something of which nothing is allowed: above all others."""
_NO_HOLDINGS: Final[Mapping[tuple[str, str], int]] = {}
_NOTHING: Final[tuple[str, Charge]] = "", ()


class BoundKey(NamedTuple):
    """A bound member's place in the order in which they were bound."""

    scheduled: str
    created: str
    uid: str


def bound_key(facts: PodFacts) -> BoundKey:
    """Of a bound pod."""
    return BoundKey(facts.scheduled, facts.created, facts.uid)


def count(counts: dict[_Key, int], key: _Key, number: int) -> None:
    """Add to a count, or take away from it. What is zero is not kept."""
    left = counts.get(key, 0) + number
    if left:
        counts[key] = left
    else:
        counts.pop(key, None)


class GroupHoldings:
    """Kept up to date with each member, in steps that cost by its dimensions."""

    __slots__ = (
        "_bound",
        "_bound_charges",
        "_posted",
        "_posted_leaving",
        "_replaced",
        "held_members",
        "holds",
        "leaving",
        "minimum",
    )

    def __init__(self) -> None:
        self.minimum = UNKNOWN_MINIMUM
        """`minMember`. A group whose minimum is at most one is no gang."""
        self.held_members = 0
        """How many members are let through or bound."""
        self.holds: dict[tuple[str, str], int] = {}
        """What these are charged, by queue and dimension."""
        self.leaving: dict[tuple[str, str], int] = {}
        """The part of it of members that are being deleted (T4)."""
        self._posted_leaving: Mapping[tuple[str, str], int] = _NO_HOLDINGS
        """As much of it as the accounts count."""
        self._bound: list[BoundKey] = []
        """Bound members in the order of binding. The first `minMember` are the minimum."""
        self._bound_charges: dict[BoundKey, tuple[str, Charge]] = {}
        self._posted = _NOTHING
        """The queue whose account counts the rest of the reservation, and that rest; without
        amounts no account counts any."""
        self._replaced = _NOTHING
        """The same of the reservation that this one replaces, until it is known to be written."""

    # --- what members hold --------------------------------------------------------------------

    def held(self, queue: str, dimension: str) -> int:
        """The charge of its let-through and bound members in a queue."""
        return self.holds.get((queue, dimension), 0)

    def share_in(self, queue: str, limit: Callable[[str], int | None]) -> int:
        """The largest part that its members hold of what a queue may hold, of any dimension that is
        limited there, in whole percent, rounded down (E6).
        """
        held = ((n, limit(d)) for (name, d), n in self.holds.items() if name == queue)
        parts = (100 * n // most if most else _BEYOND for n, most in held if most is not None)
        return max(parts, default=0)

    def hold(self, record: PodRecord, sign: int) -> None:
        """Count in (`sign` 1) or out (-1) a member that holds its charge in its queue."""
        self.held_members += sign
        leaves = record.facts.terminating and record.leaves
        for dimension, amount in record.charge:
            count(self.holds, (record.queue, dimension), sign * amount)
            if leaves:
                count(self.leaving, (record.queue, dimension), sign * amount)

    # --- what is elastic ----------------------------------------------------------------------

    @property
    def bound(self) -> int:
        """How many members are bound."""
        return len(self._bound)

    def bind(self, record: PodRecord, account_of: Callable[[str], Account]) -> None:
        """A member was bound. It is elastic, or the one that it displaces from the minimum is."""
        key = bound_key(record.facts)
        insort(self._bound, key)
        self._bound_charges[key] = (record.queue, record.charge)
        self._add_elastic(self._displaced(key), 1, account_of)

    def unbind(self, record: PodRecord, account_of: Callable[[str], Account]) -> None:
        """The inverse of `bind`. `record`: as it was when bound."""
        key = bound_key(record.facts)
        self._add_elastic(self._displaced(key), -1, account_of)
        del self._bound[bisect_left(self._bound, key)]
        del self._bound_charges[key]

    def _displaced(self, key: BoundKey) -> list[BoundKey]:
        """Who is elastic since this member is bound: itself, or the first beyond the minimum."""
        if bisect_left(self._bound, key) >= self.minimum:
            return [key]
        return self._bound[self.minimum : self.minimum + 1]

    def set_minimum(self, minimum: int, account_of: Callable[[str], Account]) -> set[str]:
        """Returns the queues whose elastic part changed with it."""
        less, more = sorted((self.minimum, minimum))
        moved = self._bound[less:more]
        self._add_elastic(moved, -1 if self.minimum < minimum else 1, account_of)
        self.minimum = minimum
        return {self._bound_charges[key][0] for key in moved}

    def _add_elastic(
        self, keys: Iterable[BoundKey], sign: int, account_of: Callable[[str], Account]
    ) -> None:
        for key in keys:
            queue, charge = self._bound_charges[key]
            for dimension, amount in charge:
                account_of(queue).add_elastic(dimension, sign * amount)

    # --- what is reserved beyond what they hold -----------------------------------------------

    def rest_in(self, queue: str) -> Charge:
        """What it still reserves in a queue, as that queue's account counts it."""
        posted_in, amounts = self._posted
        return amounts if posted_in == queue else ()

    @property
    def rests_in(self) -> str:
        """The queue in which it still reserves anything; empty: nothing is left."""
        queue, amounts = self._posted
        return queue if amounts else ""

    def outstanding(self, dimension: str) -> int:
        """What it still reserves of a dimension, as its queue's account counts it."""
        return dict(self._posted[1]).get(dimension, 0)

    def post(
        self,
        reservation: Reservation | None,
        replaced: Reservation | None,
        account_of: Callable[[str], Account],
    ) -> set[str]:
        """Bring the rest of the reservation up to date in the accounts, what there is of one that
        it replaces beyond it, and what members leave. Returns their queues.
        """
        before = self._posted, self._replaced
        self._posted = self._replaced = _NOTHING
        if reservation is not None:
            self._posted = reservation.queue, self._not_held(reservation)
        if replaced is not None and reservation is not None:
            extra = dict(reservation.amounts) if reservation.queue == replaced.queue else {}
            self._replaced = replaced.queue, self._not_held(replaced, extra)
        touched = self._post_leaving(account_of, free=reservation is None)
        after = self._posted, self._replaced
        if after == before:
            return touched
        for postings, sign in ((before, -1), (after, 1)):
            for name, amounts in postings:
                for dimension, amount in amounts:
                    account_of(name).add_reserved(dimension, sign * amount)
                    touched.add(name)
        return touched

    def _post_leaving(self, account_of: Callable[[str], Account], *, free: bool) -> set[str]:
        """What members leave is certain to be free only while nothing is reserved for them (T4)."""
        before, after = self._posted_leaving, dict(self.leaving) if free else _NO_HOLDINGS
        if before == after:
            return set()
        self._posted_leaving = after
        for holdings, sign in ((before, -1), (after, 1)):
            for (queue, dimension), amount in holdings.items():
                account_of(queue).add_leaving(dimension, sign * amount)
        return {queue for queue, _ in before.keys() | after.keys()}

    def _not_held(self, reservation: Reservation, extra: Amounts = NO_AMOUNTS) -> Charge:
        """What is reserved beyond what members hold. `extra`: what is reserved for them besides; it
        counts like what they hold.
        """
        queue = reservation.queue
        held = {d: max(self.held(queue, d), extra.get(d, 0)) for d, _ in reservation.amounts}
        return tuple((d, n - held[d]) for d, n in reservation.amounts if n > held[d])
