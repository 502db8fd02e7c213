"""Who could end: an elastic member, a pod without a gang, or a gang as a whole (L4)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE
from ..amounts import is_card
from ..ledger.groups.group_holdings import BoundKey, bound_key
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import State
from ..pods.pod_record import ChargeState, PodRecord
from ..steps import Steps
from ..vocabulary import Mode
from .plan import MOST_VICTIMS, Obstacle
from .slots import Slot, Slots

_PODS: Final = 4_096
"""Pods that one step looks at: some milliseconds."""
_LAST: Final = BoundKey("~", "", "")
"""Of who has no node yet: later than all that are bound."""


class Member(NamedTuple):
    """A pod of a unit."""

    uid: str
    record: PodRecord
    holds: tuple[tuple[str, str, int], ...]
    """Queue, card and amount of what it is charged."""
    gains: tuple[tuple[Slot, int], ...]
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
    barrier: Obstacle | None
    """Why they may not end for anybody."""
    reclaimable: bool
    """Whether they may end for other queues, by what their queue says."""
    rank: int = 0
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
    records = list(ledger.pods.values())
    for first in range(0, len(records), _PODS):
        for record in records[first : first + _PODS]:
            # The state of one that is gone meanwhile does not change any more.
            if record.queue in queues and record.charge_state <= ChargeState.RELEASED:
                for card, amount in record.charge:
                    if amount and card in scope.cards:
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


def protection_of(ledger: LedgerReader, record: PodRecord, *, past: bool) -> Protection | None:
    """Of a pod that holds something in a queue. `past`: whether pods may end that came past
    admission.
    """
    facts = record.facts
    group = ledger.groups.get(facts.group) if facts.group else None
    of_group = group.facts if group is not None else None
    if not facts.preemptable or (of_group is not None and not of_group.preemptable):
        return Protection.NOT_PREEMPTABLE
    if facts.stamp is None and not (past and facts.state is State.BOUND and record.assumed is None):
        return Protection.PAST_ADMISSION
    enforced = ledger.mode_in(facts.namespace) is Mode.ENFORCE
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
            self._add([record], elastic=False)

    def _may_be_seen(self, record: PodRecord) -> bool:
        """One without a node ends only for its own queue."""
        bound = record.facts.state is State.BOUND
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
            self._add([one], elastic=True)
        if group.gang or group.facts is None:
            self._add(staying.everybody, elastic=False)
        else:
            alone = needed if len(needed) == group.minimum else [*needed, *coming]
            for one in filter(self._may_be_seen, alone):
                self._add([one], elastic=False)

    def _add(self, records: list[PodRecord], *, elastic: bool) -> None:
        if not records:
            return
        queues = {one.queue for one in records}
        last = max(
            (bound_key(one.facts) if one.facts.scheduled else _LAST for one in records),
            default=_LAST,
        )
        barrier = self._barrier(records)
        unit = Unit(
            members=tuple(map(self._member, records)) if barrier is not Obstacle.TOO_MANY else (),
            queue=queues.pop() if len(queues) == 1 else "",
            elastic=elastic,
            priority=max(one.facts.priority for one in records),
            bound=last,
            placed=any(one.facts.state is State.BOUND for one in records),
            barrier=barrier,
            reclaimable=all(map(self._is_reclaimable, records)),
        )
        unit.rank = min(
            (
                self._scope.above.get((queue, card), len(self._scope.above))
                for member in unit.members
                for queue, card, _ in member.holds
            ),
            default=0,
        )
        if barrier is not None:
            self.found.barriers.add(barrier)
        if not unit.reclaimable:
            self.found.barriers.add(Obstacle.PROTECTED)
        slots = {slot for member in unit.members for slot, _ in member.gains}
        for slot in slots:
            self.found.by_slot.setdefault(slot, []).append(unit)
        if unit.queue in self._scope.preempting:
            self.found.by_queue.setdefault(unit.queue, []).append(unit)

    def _member(self, record: PodRecord) -> Member:
        holds = tuple((record.queue, card, n) for card, n in record.charge if n and is_card(card))
        facts = record.facts
        bound = facts.state is State.BOUND
        return Member(facts.uid, record, holds, tuple(self._slots.gains(record)), bound)

    def _barrier(self, records: list[PodRecord]) -> Obstacle | None:
        if len(records) > MOST_VICTIMS:
            return Obstacle.TOO_MANY
        if not all(map(self._may_end, records)):
            return Obstacle.PROTECTED
        excluded = self._scope.excluded
        if any(one.facts.uid in excluded for one in records):
            return Obstacle.BUDGET
        return None

    def _may_end(self, record: PodRecord) -> bool:
        past = self._scope.past_admission
        return bool(record.queue) and protection_of(self._ledger, record, past=past) is None

    def _is_reclaimable(self, record: PodRecord) -> bool:
        account = self._ledger.account(record.queue)
        facts = account.facts if account is not None and record.queue != OUTSIDE else None
        return facts is not None and facts.reclaimable


def in_order(units: list[Unit]) -> list[Unit]:
    """Elastic ones first; of these the lowest priority; then the queue most above its share; then
    who was bound last (L4).
    """
    found = sorted(units, key=attrgetter("bound"), reverse=True)
    found.sort(key=lambda unit: (*unit.order, unit.rank))
    return found
