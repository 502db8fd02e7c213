"""What the ledger knows of one pod group: its members, its reservation, and its stage (E1, E2, T2).

A group is at one `Stage`, which follows from what is reserved for it and from its members. What is
asked of a group besides (`started`, `to_be_replaced`, `readiness`) follows from the stage.
"""

from collections.abc import Hashable, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

from ...amounts import LARGEST, Charge, canonical
from ...pending.candidate import Readiness
from ...pods.pod_record import PodRecord, SortKey
from ...pods.pod_request import CardChoice
from ...stamp import Reservation
from ...vocabulary import GroupPhase
from .group_facts import NO_REQUEST, GroupFacts, GroupRequest
from .group_holdings import UNKNOWN_MINIMUM, GroupHoldings, count

_NO_TASKS: Final[Mapping[str, int]] = {}


class Stage(Enum):
    """How far a group has come. A pod is released once it holds its charge, or has succeeded."""

    WAITING = "Waiting"
    """Not all pods of its minimum are there, and nothing is reserved for it or released."""
    PRESENT = "Present"
    """They are there."""
    RESERVED = "Reserved"
    """Something is reserved for it, and nothing was released: its pods are to come (E1), or they
    start now, or those that did are gone. They replace what is reserved."""
    STARTING = "Starting"
    """A part of its minimum was released, and the rest is reserved for it in its queue."""
    INCOMPLETE = "Incomplete"
    """A part of its minimum was released, and for the rest nothing is reserved."""
    RUNNING = "Running"
    """Its minimum was released; what comes besides is elastic."""
    COMPLETED = "Completed"
    """It says that it is over, and nothing of it is left."""


class Asks(NamedTuple):
    """A group that waits to be enqueued, before its pods are there (E1)."""

    queue: str
    sort_key: SortKey
    request: GroupRequest


class PodGroupState(GroupHoldings):
    """What is known of a group, and what it holds. Exists while the group does, or pods name it."""

    __slots__ = (
        "_existing_by_task",
        "_judged",
        "_priorities",
        "_started_by_task",
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
        "unwritten",
        "voted_on",
        "waiting",
    )

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key
        self.facts: GroupFacts | None = None
        self.members: dict[str, PodRecord] = {}
        """Unfinished pods that name the group, by uid."""
        self.succeeded: dict[str, str] = {}
        """By uid of members that succeeded and still exist: their task. They count as started."""
        self.failed: set[str] = set()
        """Uids of members that failed and still exist. They are only counted."""
        self._existing_by_task: dict[str, int] = {}
        """How many members of each task there are, those that succeeded included."""
        self._started_by_task: dict[str, int] = {}
        """How many of them were released."""
        self._priorities: dict[int, int] = {}
        """How many unfinished members have which priority."""
        self.waiting: dict[CardChoice, int] = {}
        """What members at the gate ask for, and how many members ask for it."""
        self.queues: dict[str, None] = {}
        """If it is a gang: the queues in which members wait."""
        self.lost_place = False
        """Whether its last reservation was not used in time (E8), whatever its stage."""
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
        self.unwritten: Sequence[Reservation] = ()
        """Reservations that are charged, not known to be written, and not taken back. Kept when the
        group is gone: the members that were to start with one are still charged."""
        self._judged: tuple[Reservation, Charge] | None = None

    # --- the stage ----------------------------------------------------------------------------

    @property
    def stage(self) -> Stage:
        """How far it has come. What is reserved or released counts before what it says."""
        if self.released:
            if self.missing <= 0:
                return Stage.RUNNING
            return Stage.STARTING if self._reserved_here else Stage.INCOMPLETE
        if self.reservation is not None or self.unwritten:
            return Stage.RESERVED
        if self.facts is not None and self.facts.phase == GroupPhase.COMPLETED:
            return Stage.COMPLETED
        return Stage.PRESENT if self.complete else Stage.WAITING

    @property
    def started(self) -> bool:
        """Whether its members start one by one: those of a gang once a part of it was released
        and the rest is reserved, or all of its minimum was.
        """
        return not self.gang or self.stage in (Stage.STARTING, Stage.RUNNING)

    @property
    def to_be_replaced(self) -> bool:
        """Whether its reservation holds the room, and is replaced when its first members start: it
        was made before they were there (E1), or nothing of it was released. Members may have
        gone since, or its minimum may be another one: what is there now is judged, whole (E2).
        """
        return self.enqueued or (self.gang and self.stage is Stage.RESERVED)

    @property
    def to_be_enqueued(self) -> bool:
        """Whether it waits to be enqueued. Whose time was over asks again when a pod of it is there
        (E8), or when a scheduler asks again (V3).
        """
        facts = self.facts
        if facts is None or not facts.queue or self.backed_off or self.stage is not Stage.WAITING:
            return False
        return bool(self.members) or self.asked is not None or not self.lost_place

    @property
    def readiness(self) -> Readiness:
        """Whether it needs its waiting members (E6). One that has lost its place (E8) does not go
        before others, though it has begun.
        """
        if not self.gang:
            return Readiness.NOT_BEGUN
        if self.stage is Stage.RUNNING:
            return Readiness.COMPLETE
        begun = self._reserved_here or self.released
        return Readiness.INCOMPLETE if begun and not self.lost_place else Readiness.NOT_BEGUN

    @property
    def waits_for_nodes(self) -> bool:
        """Whether a gang has released its minimum, and that is not on nodes yet."""
        on_nodes = self.bound + len(self.succeeded)
        return self.gang and self.stage is Stage.RUNNING and on_nodes < self.minimum

    @property
    def waits(self) -> bool:
        """Whether it waits to be enqueued, was told that it has to, or a member of it waits."""
        told = self.backed_off or self.lost_place or self.rejected
        return told or self.asks is not None or len(self.members) > self.held_members

    @property
    def one_by_one(self) -> Hashable:
        """While this value stays the same, news of the gang changes nothing for a member that
        starts alone and did not change itself. None: members start together, or the part of the
        reservation that one of them may use depends on all others.
        """
        if not self.started or self._rest[1]:
            return None
        return (
            self.facts is None,
            self.reservation is None,
            self.being_reserved,
            self.waits_for_nodes,
        )

    # --- its members --------------------------------------------------------------------------

    @property
    def gang(self) -> bool:
        """Whether its pods must start together (section 2: minMember > 1)."""
        return self.facts is not None and self.minimum > 1

    @property
    def priority(self) -> int | None:
        """The lowest of its unfinished pods: one of a high class lifts no others. None without."""
        return min(self._priorities, default=None)

    @property
    def members_existing(self) -> int:
        """How many members exist, including those that succeeded."""
        return len(self.members) + len(self.succeeded)

    @property
    def complete(self) -> bool:
        """Whether all pods of its minimum exist, by number and by task."""
        return self.members_existing >= max(1, self.minimum) and not self.tasks_to_come

    @property
    def released(self) -> int:
        """How many members were released, are bound, or have succeeded."""
        return self.held_members + len(self.succeeded)

    @property
    def missing(self) -> int:
        """How many members must still be released for the minimum."""
        return max(self.minimum - self.released, sum(self.missing_by_task.values()))

    @property
    def tasks(self) -> Mapping[str, int]:
        """By task: how many of its pods a gang starts with; without those of no minimum."""
        return self.facts.tasks if self.facts is not None and self.gang else _NO_TASKS

    @property
    def missing_by_task(self) -> Mapping[str, int]:
        """By task: how many of its members must be among those that `missing` counts. Where it is
        empty any members will do.
        """
        tasks = self.tasks
        if not tasks:
            return _NO_TASKS
        started = self._started_by_task
        found = ((task, least - started.get(task, 0)) for task, least in tasks.items())
        return {task: number for task, number in found if number > 0}

    @property
    def tasks_to_come(self) -> list[tuple[str, int, int]]:
        """Tasks of a gang of which too few members exist: task, minimum, how many exist."""
        there = self._existing_by_task
        found = ((task, least, there.get(task, 0)) for task, least in self.tasks.items())
        return [row for row in found if row[2] < row[1]]

    def join(self, record: PodRecord) -> None:
        """An unfinished pod is a member."""
        self.members[record.facts.uid] = record
        count(self._priorities, record.facts.priority, 1)
        count(self._existing_by_task, record.facts.task, 1)

    def succeed(self, uid: str, task: str) -> None:
        """A member succeeded. It no longer counts as unfinished."""
        self.succeeded[uid] = task
        count(self._existing_by_task, task, 1)
        count(self._started_by_task, task, 1)

    def leave(self, uid: str) -> None:
        """A member left the group, or is gone. An unfinished one: with the facts it joined with."""
        record = self.members.pop(uid, None)
        if record is not None:
            count(self._priorities, record.facts.priority, -1)
            count(self._existing_by_task, record.facts.task, -1)
        elif uid in self.succeeded:
            task = self.succeeded.pop(uid)
            count(self._existing_by_task, task, -1)
            count(self._started_by_task, task, -1)
        self.failed.discard(uid)

    def hold(self, record: PodRecord, sign: int) -> None:
        """Count in (`sign` 1) or out (-1) a member that holds its charge in its queue."""
        super().hold(record, sign)
        if sign > 0:
            self.asked = None  # it has begun; once its pods have failed somebody has to ask again
        count(self._started_by_task, record.facts.task, sign)

    def see(self, facts: GroupFacts | None) -> None:
        """Take in new facts."""
        if facts is None or self.facts is None or _asked(facts) != _asked(self.facts):
            self.lost_place, self.asked, self.rejected = False, None, False
        self.facts = facts
        self.set_minimum(facts.min_member if facts else UNKNOWN_MINIMUM)

    @property
    def unused(self) -> bool:
        """Whether neither group nor member is left."""
        used = self.facts or self.members or self.succeeded or self.failed or self.assumed
        return not used

    # --- its reservation ----------------------------------------------------------------------

    @property
    def request(self) -> GroupRequest:
        """What is asked for it before its pods are there: by itself, or for a scheduler (V3)."""
        return self.asked or (self.facts.request if self.facts is not None else NO_REQUEST)

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
        unsure = any(one is self.assumed for one in self.unwritten)
        return written if unsure and written != self.assumed else None

    @property
    def reserved_elsewhere(self) -> bool:
        """Whether its reservation is in another queue than the group is now."""
        facts, reserved = self.facts, self.reservation
        return bool(facts and reserved and facts.queue not in ("", reserved.queue))

    @property
    def enqueued(self) -> bool:
        """Whether its reservation was made before its pods were there (E1)."""
        reservation = self.reservation
        return reservation is not None and bool(reservation.request)

    @property
    def _reserved_here(self) -> bool:
        """Whether its pods were there when what they ask for was reserved, in its present queue."""
        return self.reservation is not None and not self.reserved_elsewhere and not self.enqueued

    @property
    def being_reserved(self) -> bool:
        """Whether members are charged that start once their reservation is written. Until then no
        gate of the group may open as if these members had started already. And what was reserved
        before they came must have been seen: it is replaced under the version that has it.
        """
        return bool(self.unwritten) or (self.assumed is not None and self.to_be_replaced)

    @property
    def judged(self) -> Charge | None:
        """What the group may hold in the queue of its reservation, as judged when the reservation
        was made. None: there is no reservation, or another replica made it.
        """
        if self._judged is None or self._judged[0] != self.reservation:
            return None
        return self._judged[1]

    def covers(self, queue: str, dimension: str, amount: int) -> int:
        """How much of an amount that a member asks for is reserved already.

        A member's request uses up its group's reservation; it is not added to it (E2).
        """
        return max(0, min(dict(self.rest_in(queue)).get(dimension, 0), amount))

    def reserve(self, queue: str, term: str, asked: Charge) -> Reservation:
        """The reservation for members that start and ask for `asked`, which was just judged (E2).

        It holds `asked`, and what members hold *in this queue* already, but never what they hold in
        other queues. So the group's charge in the queue grows by what was judged, and by no more.
        """
        total, judged = dict(asked), dict(asked)
        for (name, dimension), amount in self.holds.items():
            if name == queue:
                total[dimension] = total.get(dimension, 0) + amount
        # No member of a gang that starts holds anything, and there may be thousands.
        for record in self.members.values() if self.held_members else ():
            for dimension, amount in record.charge if record.held and record.queue == queue else ():
                judged[dimension] = judged.get(dimension, 0) + amount
        # An unlimited dimension may exceed what an annotation can hold and be read from again.
        amounts = canonical({dimension: min(n, LARGEST) for dimension, n in total.items()})
        self.lost_place = False
        return self._assume(Reservation(queue, term, amounts), canonical(judged))

    def enqueue(self, queue: str, term: str, amounts: Charge, mark: str) -> Reservation:
        """The reservation of a group whose pods are not there, which was just judged (E1)."""
        return self._assume(Reservation(queue, term, amounts, mark), amounts)

    def _assume(self, reservation: Reservation, judged: Charge) -> Reservation:
        self.assumed, self._judged = reservation, (reservation, judged)
        self.unwritten = (*self.unwritten, reservation)
        return reservation

    def decided(self, reservation: Reservation) -> bool:
        """Take in that the outcome of one of these writes is known. Returns whether it was one."""
        left = tuple(one for one in self.unwritten if one is not reservation)
        found = len(left) < len(self.unwritten)
        self.unwritten = left
        return found


def _asked(facts: GroupFacts) -> Hashable:
    """What a reservation is judged by, before pods are there."""
    return facts.queue, facts.min_member, tuple(facts.tasks.items()), facts.request
