"""What the ledger holds of one pod group: reservation, members, elastic part (T2, section 6)."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, cast

from ...accounts.account import Account
from ...amounts import LARGEST, Charge, canonical
from ...pending.gang import GangQueue
from ...pending.readiness import Readiness
from ...pods.pod_facts import PodFacts
from ...pods.pod_record import PodRecord, SortKey
from ...pods.pod_request import CardChoice
from ...stamp import Reservation
from ...vocabulary import GroupPhase
from .group_facts import GroupFacts
from .group_request import NO_REQUEST, GroupRequest
from .task_members import TaskMembers

_UNKNOWN_MINIMUM = 2**62
"""The minimum of a group that was not seen yet: none of its members is elastic."""
_BEYOND: Final = 2**62
"""The share of who holds something of which nothing is allowed: above all others."""


_NO_TASKS: Final[Mapping[str, int]] = {}
_NO_AMOUNTS: Final[Mapping[str, int]] = {}
_NO_HOLDINGS: Final[Mapping[tuple[str, str], int]] = {}


class BoundKey(NamedTuple):
    """A bound member's place in the order in which they were bound."""

    scheduled: str
    created: str
    uid: str


class Asks(NamedTuple):
    """A group that waits to be enqueued, before its pods are there (E1)."""

    queue: str
    sort_key: SortKey
    request: GroupRequest


class PodGroupState:
    """What is known of a group, and what it holds. Exists while the group does, or pods name it."""

    __slots__ = (
        "_bound",
        "_bound_charges",
        "_held",
        "_held_members",
        "_judged",
        "_leaving",
        "_posted",
        "_posted_leaving",
        "_priorities",
        "_replaced",
        "_tasks",
        "_unwritten",
        "asked",
        "asks",
        "assumed",
        "backed_off",
        "facts",
        "failed",
        "key",
        "lost_place",
        "members",
        "queues",
        "rejected",
        "settled_revision",
        "succeeded",
        "voted_on",
        "waiting",
    )

    def __init__(self, key: str) -> None:
        self.key = key
        self.facts: GroupFacts | None = None
        self.members: dict[str, PodRecord] = {}
        """Unfinished pods that name the group, by uid."""
        self.succeeded: dict[str, str] = {}
        """By uid of members that succeeded and still exist: their task. They count as started."""
        self.failed: set[str] = set()
        """Uids of members that failed and still exist. They are only counted."""
        self._tasks = TaskMembers()
        self.waiting: dict[CardChoice, int] = {}
        """What members at the gate ask for, and how many members ask for it."""
        self.queues: dict[GangQueue, None] = {}
        """If it is a gang: the pending queues in which members wait."""
        self.lost_place = False
        """Whether its last reservation was not used in time (E8)."""
        self.backed_off = False
        """Whether it must not start before it is put back."""
        self.voted_on = False
        """Whether a scheduler has asked about it in this term (V3)."""
        self.asked: GroupRequest | None = None
        """What is asked for it since a scheduler wants to enqueue it (V3). None: none does, or it
        has begun since."""
        self.rejected = False
        """Whether a scheduler was told not to enqueue it, and no place is kept for it (V3)."""
        self.asks: Asks | None = None
        """In which queue, and for what, it waits to be enqueued. None: it does not."""
        self.assumed: Reservation | None = None
        self.settled_revision = 0
        self._held: dict[tuple[str, str], int] = {}
        """By queue and dimension."""
        self._held_members = 0
        self._leaving: dict[tuple[str, str], int] = {}
        """The part of it of members that are being deleted (T4)."""
        self._posted_leaving: Mapping[tuple[str, str], int] = _NO_HOLDINGS
        """As much of it as the accounts count."""
        self._bound: list[BoundKey] = []
        """Bound members in the order of binding. The first `minMember` are the minimum."""
        self._bound_charges: dict[BoundKey, tuple[str, Charge]] = {}
        self._posted: tuple[str, Charge] = ("", ())
        """The queue whose account counts the rest of the reservation, and that rest; without
        amounts no account counts any."""
        self._replaced: tuple[str, Charge] = ("", ())
        """The same of the reservation that this one replaces, until it is known to be written."""
        self._judged: tuple[Reservation, Charge] | None = None
        self._unwritten: list[Reservation] = []
        """Reservations that are charged, not known to be written, and not taken back. Kept when the
        group is gone: the members that were to start with one are still charged."""
        self._priorities = Counter[int]()
        """How many unfinished members have which priority."""

    @property
    def reservation(self) -> Reservation | None:
        """What is reserved for the members, whether they exist or not (T2)."""
        return self.assumed or (self.facts.reservation if self.facts else None)

    @property
    def replaced(self) -> Reservation | None:
        """The reservation that is written now, while it is not known whether the one that replaces
        it was. Nobody may have its room before: the write may be late, or in vain.
        """
        written = self.facts.reservation if self.facts else None
        unsure = any(one is self.assumed for one in self._unwritten)
        return written if unsure and written != self.assumed else None

    @property
    def priority(self) -> int | None:
        """The lowest of its unfinished pods: one of a high class lifts no others. None without."""
        return min(self._priorities, default=None)

    @property
    def minimum(self) -> int:
        """`minMember`. A group whose minimum is at most one is no gang."""
        return self.facts.min_member if self.facts else _UNKNOWN_MINIMUM

    @property
    def gang(self) -> bool:
        """Whether its pods must start together (section 2: minMember > 1)."""
        return self.facts is not None and self.facts.min_member > 1

    @property
    def reserved_elsewhere(self) -> bool:
        """Whether its reservation is in another queue than the group is now."""
        facts, reserved = self.facts, self.reservation
        return bool(facts and reserved and facts.queue not in ("", reserved.queue))

    @property
    def judged(self) -> Charge | None:
        """What the group may hold in the queue of its reservation, as judged when the reservation
        was made. None: there is no reservation, or another replica made it.
        """
        if self._judged is None or self._judged[0] != self.reservation:
            return None
        return self._judged[1]

    @property
    def being_reserved(self) -> bool:
        """Whether members are charged that start once their reservation is written. Until then no
        gate of the group may open as if these members had started already. And what was reserved
        before they came must have been seen: it is replaced under the version that has it.
        """
        return bool(self._unwritten) or (self.assumed is not None and self.to_be_replaced)

    @property
    def unwritten(self) -> Sequence[Reservation]:
        """Reservations that are charged and not yet known to be written."""
        return tuple(self._unwritten)

    def decided(self, reservation: Reservation) -> bool:
        """Take in that the outcome of one of these writes is known. Returns whether it was one."""
        left = [one for one in self._unwritten if one is not reservation]
        found = len(left) < len(self._unwritten)
        self._unwritten = left
        return found

    @property
    def enqueued(self) -> bool:
        """Whether its reservation was made before its pods were there (E1)."""
        reservation = self.reservation
        return reservation is not None and bool(reservation.request)

    @property
    def to_be_replaced(self) -> bool:
        """Whether its reservation holds the room, and is replaced when its first members start: it
        was made before they were there (E1), or nothing of it was let through. Members may have
        gone since, or its minimum may be another one: what is there now is judged, whole (E2).
        """
        unused = self.reservation is not None and self.gang and not self.let_through
        return unused or self.enqueued

    @property
    def to_be_enqueued(self) -> bool:
        """Whether nothing of it has begun: no reservation, not all pods of its minimum, none that
        holds anything. Whose time was over asks again when a pod of it is there (E8), or when a
        scheduler asks again (V3).
        """
        facts = self.facts
        if facts is None or not facts.queue or self.backed_off or self.begun:
            return False
        return bool(self.members) or self.asked is not None or not self.lost_place

    @property
    def request(self) -> GroupRequest:
        """What is asked for it before its pods are there: by itself, or for a scheduler (V3)."""
        return self.asked or (self.facts.request if self.facts is not None else NO_REQUEST)

    @property
    def begun(self) -> bool:
        """Whether something is reserved for it, all pods of its minimum are there, or something of
        it holds anything or has ended.
        """
        if self.reservation is not None or self._unwritten or self.complete:
            return True
        ended = self.facts is not None and self.facts.phase == GroupPhase.COMPLETED
        return bool(self.succeeded or self._held_members or ended)

    @property
    def begun_here(self) -> bool:
        """Whether we reserve something for it, or members of it hold something or have ended."""
        return bool(self.assumed is not None or self._unwritten or self.let_through)

    @property
    def started(self) -> bool:
        """Whether a part of it was let through and the rest is reserved, or its minimum is held, or
        it is no gang. From then on its members start one by one.
        """
        reserved = self._reserved_here and not self.to_be_replaced
        return reserved or self.missing <= 0 or not self.gang

    @property
    def _reserved_here(self) -> bool:
        """Whether its pods were there when what they ask for was reserved, in its present queue."""
        return self.reservation is not None and not self.reserved_elsewhere and not self.enqueued

    @property
    def readiness(self) -> Readiness:
        """Whether it needs its waiting members (E6). One that has lost its place (E8) does not go
        before others, though it has begun.
        """
        if not self.gang:
            return Readiness.NOT_BEGUN
        if self.missing <= 0:
            return Readiness.COMPLETE
        begun = self._reserved_here or self.let_through > 0
        return Readiness.INCOMPLETE if begun and not self.lost_place else Readiness.NOT_BEGUN

    def share_in(self, queue: str, limit: Callable[[str], int | None]) -> int:
        """The largest part that its members hold of what a queue may hold, of any dimension that is
        limited there, in whole percent, rounded down (E6).
        """
        held = ((n, limit(d)) for (name, d), n in self._held.items() if name == queue)
        parts = (100 * n // most if most else _BEYOND for n, most in held if most is not None)
        return max(parts, default=0)

    @property
    def one_by_one(self) -> Hashable:
        """While this value stays the same, news of the gang changes nothing for a member that
        starts alone and did not change itself. None: members start together, or the part of the
        reservation that one of them may use depends on all others.
        """
        if not self.started or self._posted[1]:
            return None
        return (
            self.facts is None,
            self.reservation is None,
            self.being_reserved,
            self.waits_for_nodes,
        )

    @property
    def missing(self) -> int:
        """How many members must still be let through for the minimum."""
        return max(self.minimum - self.let_through, sum(self.missing_by_task.values()))

    @property
    def tasks(self) -> Mapping[str, int]:
        """By task: how many of its pods a gang starts with; without those of no minimum."""
        return self.facts.tasks if self.facts is not None and self.gang else _NO_TASKS

    @property
    def missing_by_task(self) -> Mapping[str, int]:
        """By task: how many of its members must be among those that `missing` counts. Where it is
        empty any members will do.
        """
        return self._tasks.to_start(self.tasks) if self.tasks else _NO_TASKS

    @property
    def tasks_to_come(self) -> list[tuple[str, int, int]]:
        """Tasks of a gang of which too few members exist: task, minimum, how many exist."""
        return self._tasks.to_come(self.tasks) if self.tasks else []

    @property
    def complete(self) -> bool:
        """Whether all pods of its minimum exist, by number and by task."""
        return self.there >= max(1, self.minimum) and not self.tasks_to_come

    @property
    def let_through(self) -> int:
        """How many members were let through, are bound, or have succeeded."""
        return self._held_members + len(self.succeeded)

    @property
    def there(self) -> int:
        """How many members exist, including those that succeeded."""
        return len(self.members) + len(self.succeeded)

    @property
    def bound(self) -> int:
        """How many members are bound."""
        return len(self._bound)

    @property
    def waits_for_nodes(self) -> bool:
        """Whether a gang has let its minimum through, and that is not on nodes yet."""
        on_nodes = self.bound + len(self.succeeded)
        return self.gang and self.missing <= 0 and on_nodes < self.minimum

    @property
    def loses_members(self) -> bool:
        """Whether members that hold something are being deleted."""
        return bool(self._leaving)

    @property
    def waits(self) -> bool:
        """Whether it waits to be enqueued, was told that it has to, or a member of it waits."""
        told = self.backed_off or self.lost_place or self.rejected
        return told or self.asks is not None or len(self.members) > self._held_members

    @property
    def holds(self) -> Mapping[tuple[str, str], int]:
        """What its let-through and bound members are charged, by queue and dimension."""
        return self._held

    def held(self, queue: str, dimension: str) -> int:
        """The charge of its let-through and bound members in a queue."""
        return self._held.get((queue, dimension), 0)

    def outstanding(self, dimension: str) -> int:
        """What it still reserves of a dimension, as its queue's account counts it."""
        return dict(self._posted[1]).get(dimension, 0)

    def rest_in(self, queue: str) -> Charge:
        """What it still reserves in a queue, as that queue's account counts it."""
        posted_in, amounts = self._posted
        return amounts if posted_in == queue else ()

    @property
    def rests_in(self) -> str:
        """The queue in which it still reserves anything; empty: nothing is left."""
        queue, amounts = self._posted
        return queue if amounts else ""

    def covers(self, queue: str, dimension: str, amount: int) -> int:
        """How much of an amount that a member asks for is reserved already.

        A member's request uses up its group's reservation; it is not added to it (E2).
        """
        reservation = self.reservation
        if reservation is None or reservation.queue != queue:
            return 0
        return max(0, min(self.outstanding(dimension), amount))

    def reserve(self, queue: str, term: str, asked: Charge) -> Reservation:
        """The reservation for members that start and ask for `asked`, which was just judged (E2).

        It holds `asked`, and what members hold *in this queue* already, but never what they hold in
        other queues. So the group's charge in the queue grows by what was judged, and by no more.
        """
        total, judged = dict(asked), dict(asked)
        for (name, dimension), amount in self._held.items():
            if name == queue:
                total[dimension] = total.get(dimension, 0) + amount
        # No member of a gang that starts holds anything, and there may be thousands.
        for record in self.members.values() if self._held_members else ():
            for dimension, amount in record.charge if record.held and record.queue == queue else ():
                judged[dimension] = judged.get(dimension, 0) + amount
        # An unlimited dimension may exceed what an annotation can hold and be read from again.
        amounts = canonical({dimension: min(n, LARGEST) for dimension, n in total.items()})
        self.assumed = Reservation(queue, term, amounts)
        self._unwritten.append(self.assumed)
        self._judged = self.assumed, canonical(judged)
        self.lost_place = False
        return self.assumed

    def enqueue(self, queue: str, term: str, amounts: Charge, mark: str) -> Reservation:
        """The reservation of a group whose pods are not there, which was just judged (E1)."""
        self.assumed = Reservation(queue, term, amounts, mark)
        self._unwritten.append(self.assumed)
        self._judged = self.assumed, amounts
        return self.assumed

    def join(self, record: PodRecord) -> None:
        """An unfinished pod is a member."""
        self.members[record.facts.uid] = record
        self._priorities[record.facts.priority] += 1
        self._tasks.come(record.facts.task)

    def succeed(self, uid: str, task: str) -> None:
        """A member succeeded. It no longer counts as unfinished."""
        self.succeeded[uid] = task
        self._tasks.come(task)
        self._tasks.start(task)

    def leave(self, uid: str) -> None:
        """A member left the group, or is gone. An unfinished one: with the facts it joined with."""
        record = self.members.pop(uid, None)
        if record is not None:
            self._tasks.come(record.facts.task, -1)
            self._priorities[record.facts.priority] -= 1
            if not self._priorities[record.facts.priority]:
                del self._priorities[record.facts.priority]
        task = self.succeeded.pop(uid, "")
        self._tasks.come(task, -1)
        self._tasks.start(task, -1)
        self.failed.discard(uid)

    def wait(self, choice: CardChoice, sign: int) -> None:
        """Count in (`sign` 1) or out (-1) a member at the gate that asks for this."""
        left = self.waiting.get(choice, 0) + sign
        if left:
            self.waiting[choice] = left
        else:
            del self.waiting[choice]

    def hold(self, record: PodRecord, sign: int) -> None:
        """Count in (`sign` 1) or out (-1) a member that holds its charge in its queue."""
        self._held_members += sign
        if sign > 0:
            self.asked = None  # it has begun; once its pods have failed somebody has to ask again
        self._tasks.start(record.facts.task, sign)
        _count_in(self._held, record, sign)
        if record.facts.terminating and record.leaves:
            _count_in(self._leaving, record, sign)

    def repost(self, account_of: Callable[[str], Account]) -> set[str]:
        """Bring the rest of the reservation up to date in the accounts, what there is of one that
        it replaces beyond it, and what members leave. Returns their queues.
        """
        reservation, replaced = self.reservation, self.replaced
        before, nothing = (self._posted, self._replaced), ("", cast("Charge", ()))
        self._posted = self._replaced = nothing
        if reservation is not None:
            self._posted = reservation.queue, self._not_held(reservation)
        if replaced is not None and reservation is not None:
            beside = dict(reservation.amounts) if reservation.queue == replaced.queue else {}
            self._replaced = replaced.queue, self._not_held(replaced, beside)
        touched = self._post_leaving(account_of)
        after = (self._posted, self._replaced)
        if after == before:
            return touched
        for postings, sign in ((before, -1), (after, 1)):
            for name, amounts in postings:
                for dimension, amount in amounts:
                    account_of(name).add_reserved(dimension, sign * amount)
                    touched.add(name)
        return touched

    def _post_leaving(self, account_of: Callable[[str], Account]) -> set[str]:
        """What members leave is certain to be free only while nothing is reserved for them (T4)."""
        before = self._posted_leaving
        free = self._leaving and self.reservation is None
        after = dict(self._leaving) if free else _NO_HOLDINGS
        if before == after:
            return set()
        self._posted_leaving = after
        for holdings, sign in ((before, -1), (after, 1)):
            for (queue, dimension), amount in holdings.items():
                account_of(queue).add_leaving(dimension, sign * amount)
        return {queue for queue, _ in before.keys() | after.keys()}

    def _not_held(
        self, reservation: Reservation, beside: Mapping[str, int] = _NO_AMOUNTS
    ) -> Charge:
        """What is reserved beyond what members hold. `beside`: what is reserved for them besides;
        it counts like what they hold.
        """
        queue = reservation.queue
        held = {d: max(self.held(queue, d), beside.get(d, 0)) for d, _ in reservation.amounts}
        return tuple((d, n - held[d]) for d, n in reservation.amounts if n > held[d])

    def bind(self, record: PodRecord, account_of: Callable[[str], Account]) -> None:
        """A member was bound. It is elastic, or the one that it displaces from the minimum is."""
        key = bound_key(record.facts)
        insort(self._bound, key)
        self._bound_charges[key] = (record.queue, record.charge)
        if bisect_left(self._bound, key) >= self.minimum:
            self._add_elastic([key], 1, account_of)
        else:
            self._add_elastic(self._bound[self.minimum : self.minimum + 1], 1, account_of)

    def unbind(self, record: PodRecord, account_of: Callable[[str], Account]) -> None:
        """The inverse of `bind`. `record`: as it was when bound."""
        key = bound_key(record.facts)
        place = bisect_left(self._bound, key)
        if place >= self.minimum:
            self._add_elastic([key], -1, account_of)
        else:
            self._add_elastic(self._bound[self.minimum : self.minimum + 1], -1, account_of)
        del self._bound[place]
        del self._bound_charges[key]

    def see(self, facts: GroupFacts | None, account_of: Callable[[str], Account]) -> set[str]:
        """Take in new facts. Returns the queues whose elastic part changed with the minimum."""
        minimum = self.minimum
        if facts is None or self.facts is None or _asked(facts) != _asked(self.facts):
            self.lost_place, self.asked, self.rejected = False, None, False
        self.facts = facts
        if minimum == self.minimum:
            return set()
        less, more = sorted((minimum, self.minimum))
        moved = self._bound[less:more]
        if not moved:
            return set()
        self._add_elastic(moved, -1 if minimum < self.minimum else 1, account_of)
        return {self._bound_charges[key][0] for key in moved}

    @property
    def unused(self) -> bool:
        """Whether neither group nor member is left."""
        used = self.facts or self.members or self.succeeded or self.failed or self.assumed
        return not used

    def _add_elastic(
        self, keys: Iterable[BoundKey], sign: int, account_of: Callable[[str], Account]
    ) -> None:
        for key in keys:
            queue, charge = self._bound_charges[key]
            for dimension, amount in charge:
                account_of(queue).add_elastic(dimension, sign * amount)


def _count_in(amounts: dict[tuple[str, str], int], record: PodRecord, sign: int) -> None:
    """Add what a pod is charged, or take it away. What is zero is not kept."""
    queue = record.queue
    for dimension, amount in record.charge:
        left = amounts.get((queue, dimension), 0) + sign * amount
        if left:
            amounts[queue, dimension] = left
        else:
            del amounts[queue, dimension]


def _asked(facts: GroupFacts) -> Hashable:
    """What a reservation is judged by, before pods are there."""
    return facts.queue, facts.min_member, tuple(facts.tasks.items()), facts.request


def bound_key(facts: PodFacts) -> BoundKey:
    """Of a bound pod."""
    return BoundKey(facts.scheduled, facts.created, facts.uid)
