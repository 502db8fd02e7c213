"""Who could end: an elastic member, a pod without a gang, or a gang as a whole (L4)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE
from ..amounts import is_card
from ..ledger.groups.group_holdings import BoundKey, bound_key
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import PodFacts, State
from ..pods.pod_record import ChargeState, PodRecord
from ..steps import Steps
from ..vocabulary import Mode
from .plan import MOST_VICTIMS, Obstacle
from .slots import Slot, Slots

_PODS: Final = 4_096
"""Pods that one step looks at: some milliseconds."""
_HELD: Final = (ChargeState.ALLOCATED, ChargeState.RELEASED)
_BOUND: Final = State.BOUND
_LAST: Final = BoundKey("~", "", "")
"""Of who has no node yet: later than all that are bound."""


class Member(NamedTuple):
    """A pod of a unit."""

    uid: str
    record: PodRecord
    holds: Sequence[tuple[str, str, int]]
    """Queue, card and amount of what it is charged."""
    gains: Sequence[tuple[Slot, int]]
    """What slots have more when it is gone."""
    bound: bool


@dataclass(slots=True, eq=False)
class Unit:
    """Pods that end together, or not at all."""

    members: tuple[Member, ...]
    queue: str
    """Empty if they are charged in several."""
    elastic: bool
    priority: int
    """The highest of them."""
    bound: BoundKey
    """Of who was bound last."""
    placed: bool
    """Whether one of them has a node."""
    coming: bool
    """Whether one of them has none yet."""
    barrier: Obstacle | None
    """Why they may not end for anybody."""
    reclaimable: bool
    """Whether they may end for other queues, by what their queue says."""
    rank: int
    """By how much its queue is above its share of the card, the most first."""

    @property
    def order(self) -> tuple[bool, int]:
        """Which units end before others, whoever they are of."""
        return not self.elastic, self.priority


@dataclass(slots=True)
class Scope:
    """Whose pods are looked at."""

    cards: Collection[str]
    above: Mapping[tuple[str, str], int]
    """By queue and card: the rank of those that hold more than they deserve."""
    preempting: Collection[str]
    """Queues in which pods of lower priority may end."""
    excluded: Collection[str]
    """Uids of pods whose eviction was refused."""
    past_admission: bool


@dataclass(slots=True)
class Units:
    """All units of a scope, at their slots and in their queues."""

    by_slot: dict[Slot, list[Unit]] = field(default_factory=dict)
    """Where they hold something."""
    by_queue: dict[str, list[Unit]] = field(default_factory=dict)
    """Of the queues in which pods of lower priority may end."""
    barriers: set[Obstacle] = field(default_factory=set)
    """Those of any unit."""


def read_units(ledger: LedgerReader, slots: Slots, scope: Scope) -> Steps[Units]:
    """Find them, and note each at the slots where it holds something. Costs a step for each pod."""
    reader = _UnitReader(ledger, slots, scope)
    queues = {queue for queue, _ in scope.above}.union(scope.preempting)
    records, cards = list(ledger.pods.values()), scope.cards
    for first in range(0, len(records), _PODS):
        for record in records[first : first + _PODS]:
            # The state of one that is gone meanwhile does not change any more.
            if record.queue in queues and record.charge_state in _HELD:
                for card, _ in record.charge:
                    if card in cards:
                        reader.see(record)
                        break
        yield
    return reader.found


class Protection(StrEnum):
    """Why a pod may not end for anybody (L4)."""

    NOT_PREEMPTABLE = "NotPreemptable"
    """It says so, or its group does."""
    PAST_ADMISSION = "PastAdmission"
    """We did not release it."""
    NOT_ENFORCED = "NotEnforced"
    """No quota is enforced in its namespace."""


def protection_of(
    ledger: LedgerReader, record: PodRecord, *, past: bool, enforced: bool
) -> Protection | None:
    """Of a pod that holds something in a queue. `past`: whether pods may end that came past
    admission. `enforced`: whether rules are, in its namespace.
    """
    facts = record.facts
    group = ledger.groups.get(facts.group) if facts.group else None
    of_group = group.facts if group is not None else None
    if not facts.preemptable or (of_group is not None and not of_group.preemptable):
        return Protection.NOT_PREEMPTABLE
    if facts.stamp is None and not (past and facts.state is _BOUND and record.assumed is None):
        return Protection.PAST_ADMISSION
    return None if enforced else Protection.NOT_ENFORCED


class Staying(NamedTuple):
    """The members of a group that hold something and are not being deleted."""

    needed: list[PodRecord]
    """On nodes: those bound first, up to the minimum."""
    elastic: list[PodRecord]
    """On nodes: those beyond it."""
    coming: list[PodRecord]
    """Without a node."""

    @property
    def everybody(self) -> list[PodRecord]:
        """All of them."""
        return [*self.needed, *self.elastic, *self.coming]


def staying_members(group: PodGroupState) -> Staying:
    """Costs by its members."""
    staying = [one for one in group.members.values() if one.held and not one.facts.terminating]
    bound = [one for one in staying if one.facts.state is State.BOUND]
    bound.sort(key=lambda one: bound_key(one.facts))
    coming = [one for one in staying if one.facts.state is not State.BOUND]
    return Staying(bound[: group.minimum], bound[group.minimum :], coming)


class _UnitReader:
    def __init__(self, ledger: LedgerReader, slots: Slots, scope: Scope) -> None:
        self._ledger = ledger
        self._slots = slots
        self._scope = scope
        self._groups: set[str] = set()
        self._enforced: dict[str, bool] = {}
        self._reclaimable: dict[str, bool] = {}
        self.found = Units()

    def see(self, record: PodRecord) -> None:
        facts = record.facts
        if facts.terminating or facts.uid not in self._ledger.pods:
            return
        if facts.group:
            if facts.group not in self._groups:
                self._groups.add(facts.group)
                self._see_group(self._ledger.groups[facts.group])
        elif self._may_be_seen(record):
            self._add_one(record, elastic=False)

    def _may_be_seen(self, record: PodRecord) -> bool:
        """One without a node ends only for its own queue."""
        bound = record.facts.state is _BOUND
        return bound or (record.facts.state is State.OPEN and self._preempts(record))

    def _preempts(self, record: PodRecord) -> bool:
        return record.queue in self._scope.preempting

    def _see_group(self, group: PodGroupState) -> None:
        """Elastic is who is beyond the minimum of those that stay. Of a group that is not known
        none is, and all of them are one unit.
        """
        staying = staying_members(group)
        needed, elastic, coming = staying
        if len(needed) == group.minimum:
            elastic = [*elastic, *filter(self._may_be_seen, coming)]
        for one in elastic:
            self._add_one(one, elastic=True)
        everybody = staying.everybody
        if everybody and (group.gang or group.facts is None):
            self._add_whole(everybody)
        elif everybody:
            alone = needed if len(needed) == group.minimum else [*needed, *coming]
            for one in filter(self._may_be_seen, alone):
                self._add_one(one, elastic=False)

    def _add_one(self, record: PodRecord, *, elastic: bool) -> None:
        facts, member = record.facts, self._member(record)
        barrier, priority, bound = self._barrier_of(record), facts.priority, member.bound
        reclaimable = self._is_reclaimable(record.queue)
        key, rank = _bound(facts), self._rank(member)
        one = (member,)
        self._put(
            Unit(
                one,
                record.queue,
                elastic,
                priority,
                key,
                bound,
                not bound,
                barrier,
                reclaimable,
                rank,
            )
        )

    def _add_whole(self, records: list[PodRecord]) -> None:
        """A gang. One of very many pods can never end."""
        too_many = len(records) > MOST_VICTIMS
        members = tuple(map(self._member, records)) if not too_many else ()
        barriers = {self._barrier_of(one) for one in records}
        barrier = next(
            (one for one in (Obstacle.PROTECTED, Obstacle.BUDGET) if one in barriers), None
        )
        bound = [one.facts.state is _BOUND for one in records]
        queues = {one.queue for one in records}
        unit = Unit(
            members,
            queues.pop() if len(queues) == 1 else "",
            elastic=False,
            priority=max(one.facts.priority for one in records),
            bound=max(_bound(one.facts) for one in records),
            placed=any(bound),
            coming=not all(bound),
            barrier=Obstacle.TOO_MANY if too_many else barrier,
            reclaimable=all(self._is_reclaimable(one.queue) for one in records),
            rank=min(map(self._rank, members), default=0),
        )
        self._put(unit)

    def _put(self, unit: Unit) -> None:
        found = self.found
        if unit.barrier is not None:
            found.barriers.add(unit.barrier)
        if not unit.reclaimable:
            found.barriers.add(Obstacle.PROTECTED)
        for slot in dict.fromkeys([slot for one in unit.members for slot, _ in one.gains]):
            row = found.by_slot.get(slot)
            if row is None:
                found.by_slot[slot] = [unit]
            else:
                row.append(unit)
        if unit.queue in self._scope.preempting:
            found.by_queue.setdefault(unit.queue, []).append(unit)

    def _member(self, record: PodRecord) -> Member:
        queue, facts = record.queue, record.facts
        holds = [(queue, card, n) for card, n in record.charge if n and is_card(card)]
        bound = facts.state is _BOUND
        return Member(facts.uid, record, holds, self._slots.gains(record), bound)

    def _rank(self, member: Member) -> int:
        above = self._scope.above
        last = len(above)
        if len(member.holds) == 1:
            queue, card, _ = member.holds[0]
            return above.get((queue, card), last)
        return min([above.get((q, card), last) for q, card, _ in member.holds], default=last)

    def _barrier_of(self, record: PodRecord) -> Obstacle | None:
        if not self._may_end(record):
            return Obstacle.PROTECTED
        return Obstacle.BUDGET if record.facts.uid in self._scope.excluded else None

    def _may_end(self, record: PodRecord) -> bool:
        facts = record.facts
        enforced = self._enforced.get(facts.namespace)
        if enforced is None:
            enforced = self._ledger.mode_in(facts.namespace) is Mode.ENFORCE
            self._enforced[facts.namespace] = enforced
        past = self._scope.past_admission
        found = protection_of(self._ledger, record, past=past, enforced=enforced)
        return found is None and bool(record.queue)

    def _is_reclaimable(self, queue: str) -> bool:
        found = self._reclaimable.get(queue)
        if found is None:
            account = self._ledger.account(queue)
            facts = account.facts if account is not None and queue != OUTSIDE else None
            found = self._reclaimable[queue] = facts is not None and facts.reclaimable
        return found


def _bound(facts: PodFacts) -> BoundKey:
    return bound_key(facts) if facts.scheduled else _LAST


def in_order(units: list[Unit]) -> list[Unit]:
    """Elastic ones first; of these the lowest priority; then the queue most above its share; then
    who was bound last (L4).
    """
    found = sorted(units, key=attrgetter("bound"), reverse=True)
    found.sort(key=lambda unit: (*unit.order, unit.rank))
    return found
