"""The part of a pod group that accounts count: what its members hold, what of it is elastic, and
what is reserved beyond it (T2, T4, section 6).
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar

from ...accounts.account import RowCounter
from ...amounts import NO_AMOUNTS, Amounts, Charge
from ...pods.pod_facts import PodFacts
from ...pods.pod_record import PodRecord
from ...stamp import Reservation

_Key = TypeVar("_Key")
UNKNOWN_MINIMUM: Final = 2**62
"""The minimum of a group that was not seen yet: none of its members is elastic."""
_BEYOND: Final = 2**62
"""The share of who holds something of which nothing is allowed: above all others."""
_NOTHING: Final[tuple[str, Charge]] = "", ()
_ELASTIC: Final[RowCounter] = "elastic"
_LEAVING: Final[RowCounter] = "leaving"
_RESERVED: Final[RowCounter] = "reserved"


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
    """Kept up to date with each member, in steps that cost by its dimensions. `to_post` costs by
    those of all members, in each queue.
    """

    __slots__ = (
        "_bound",
        "_bound_charges",
        "_elastic",
        "_posted",
        "_rest",
        "held_members",
        "holds",
        "leaving",
        "minimum",
    )

    def __init__(self) -> None:
        self.minimum = UNKNOWN_MINIMUM
        """`minMember`. A group whose minimum is at most one is no gang."""
        self.held_members = 0
        """How many members are released or bound."""
        self.holds: dict[tuple[str, str], int] = {}
        """What these are charged, by queue and dimension."""
        self.leaving: dict[tuple[str, str], int] = {}
        """The part of it of members that are being deleted (T4)."""
        self._bound: list[BoundKey] = []
        """Bound members in the order of binding. The first `minMember` are the minimum."""
        self._bound_charges: dict[BoundKey, tuple[str, Charge]] = {}
        self._elastic: dict[tuple[str, str], int] = {}
        """What the others are charged, by queue and dimension."""
        self._rest = _NOTHING
        """The queue of the reservation, and what is reserved beyond what members hold."""
        self._posted: dict[tuple[str, str, RowCounter], int] = {}
        """What accounts count of the group, by queue, dimension and counter."""

    # --- what members hold --------------------------------------------------------------------

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
        leaves = record.leaves
        for dimension, amount in record.charge:
            count(self.holds, (record.queue, dimension), sign * amount)
            if leaves:
                count(self.leaving, (record.queue, dimension), sign * amount)

    # --- what is elastic ----------------------------------------------------------------------

    @property
    def bound(self) -> int:
        """How many members are bound."""
        return len(self._bound)

    def bind(self, record: PodRecord) -> None:
        """A member was bound. It is elastic, or the one that it displaces from the minimum is."""
        key = bound_key(record.facts)
        insort(self._bound, key)
        self._bound_charges[key] = (record.queue, record.charge)
        self._count_elastic(self._displaced(key), 1)

    def unbind(self, record: PodRecord) -> None:
        """The inverse of `bind`. `record`: as it was when bound."""
        key = bound_key(record.facts)
        self._count_elastic(self._displaced(key), -1)
        del self._bound[bisect_left(self._bound, key)]
        del self._bound_charges[key]

    def _displaced(self, key: BoundKey) -> list[BoundKey]:
        """Who is elastic since this member is bound: itself, or the first beyond the minimum."""
        if bisect_left(self._bound, key) >= self.minimum:
            return [key]
        return self._bound[self.minimum : self.minimum + 1]

    def set_minimum(self, minimum: int) -> None:
        """Costs in proportion to the bound members that are elastic now and were not, or were."""
        less, more = sorted((self.minimum, minimum))
        self._count_elastic(self._bound[less:more], -1 if self.minimum < minimum else 1)
        self.minimum = minimum

    def _count_elastic(self, keys: Iterable[BoundKey], sign: int) -> None:
        for key in keys:
            queue, charge = self._bound_charges[key]
            for dimension, amount in charge:
                count(self._elastic, (queue, dimension), sign * amount)

    # --- what accounts count of it ------------------------------------------------------------

    def rest_in(self, queue: str) -> Charge:
        """What it still reserves in a queue beyond what its members hold."""
        reserved_in, amounts = self._rest
        return amounts if reserved_in == queue else ()

    @property
    def rests_in(self) -> str:
        """The queue in which it still reserves anything; empty: nothing is left."""
        queue, amounts = self._rest
        return queue if amounts else ""

    def outstanding(self, dimension: str) -> int:
        """What it still reserves of a dimension."""
        return dict(self._rest[1]).get(dimension, 0)

    def to_post(
        self, reservation: Reservation | None, replaced: Reservation | None
    ) -> list[tuple[str, str, RowCounter, int]]:
        """Queue, dimension, counter and amount: what is to be added so that the accounts count what
        is elastic, the rest of the reservation, what there is beyond it of one that it replaces
        until it is known to be written, and what members leave.
        """
        wanted = {(queue, d, _ELASTIC): n for (queue, d), n in self._elastic.items()}
        self._rest = _NOTHING
        if reservation is None:
            # What members leave is certain to be free only while nothing is reserved for them (T4).
            for (queue, dimension), amount in self.leaving.items():
                wanted[queue, dimension, _LEAVING] = amount
        else:
            queue = reservation.queue
            self._rest = queue, self._not_held(reservation)
            for dimension, amount in self._rest[1]:
                wanted[queue, dimension, _RESERVED] = amount
            if replaced is not None:
                extra = dict(reservation.amounts) if queue == replaced.queue else {}
                for dimension, amount in self._not_held(replaced, extra):
                    count(wanted, (replaced.queue, dimension, _RESERVED), amount)
        before, self._posted = self._posted, wanted
        had = before.get
        changes = [(*key, n - had(key, 0)) for key, n in wanted.items() if had(key) != n]
        return changes + [(*key, -n) for key, n in before.items() if key not in wanted]

    def _not_held(self, reservation: Reservation, extra: Amounts = NO_AMOUNTS) -> Charge:
        """What is reserved beyond what members hold. `extra`: what is reserved for them besides; it
        counts like what they hold.
        """
        queue, holds = reservation.queue, self.holds
        rest = (
            (d, n - max(holds.get((queue, d), 0), extra.get(d, 0))) for d, n in reservation.amounts
        )
        return tuple([one for one in rest if one[1] > 0])
