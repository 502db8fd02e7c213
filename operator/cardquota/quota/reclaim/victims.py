"""Who could end: an elastic member, a pod without a gang, or a gang as a whole (L4)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from ..pods.pod_record import PodRecord
from ..steps import Steps
from ..vocabulary import Mode
from .plan import MOST_VICTIMS, Obstacle, ReclaimWay
from .slots import CardSlot, CardSlots

_PODS: Final = 4_096
"""Pods that one step looks at: some milliseconds."""
_UNITS: Final = 32
"""Pods of which one step makes units: the same."""
_BOUND: Final = State.BOUND
_LAST: Final = BoundKey("~", "", "")
"""Of who has no node yet: later than all that are bound."""

QueueCard = tuple[str, str]
"""A queue, and a card of it."""
_ELASTIC: Final = 2**32
"""More than priorities differ."""


class Order(NamedTuple):
    """Of two units the smaller ends first; of equal ones, who was bound last (L4)."""

    level: int
    """The highest priority of its pods; of elastic ones below all others."""
    share: int
    """The rank of its queue: the most above its share has the smallest."""


class Member(NamedTuple):
    """A pod of a unit."""

    uid: str
    record: PodRecord
    holds: Sequence[tuple[QueueCard, int]]
    """What it is charged."""
    gains: Sequence[tuple[CardSlot, int]]
    """What slots have more when it is gone."""
    bound: bool
    gives_quota: bool
    """Whether its queue has more of its quota when it is gone."""


@dataclass(slots=True, eq=False, kw_only=True)
class Unit:
    """Pods that end together, or not at all."""

    members: tuple[Member, ...]
    queue: str
    """Empty if they are charged in several."""
    elastic: bool
    priority: int
    """The highest of its pods."""
    order: Order
    bound: BoundKey
    """Of who was bound last."""
    barrier: Obstacle | None
    """Why they may not end for anybody."""
    reclaimable: bool
    """Whether they may end for other queues, by what their queue says."""

    def holds_some(self, slot: CardSlot) -> bool:
        """Whether that has more room without them."""
        return any(where is slot for one in self.members for where, _ in one.gains)

    def barrier_to(self, way: ReclaimWay) -> Obstacle | None:
        """Why they may not end now."""
        if self.barrier is None and way is ReclaimWay.RECLAIM and not self.reclaimable:
            return Obstacle.PROTECTED
        return self.barrier


@dataclass(slots=True, kw_only=True)
class Scope:
    """Whose pods are looked at."""

    cards: Collection[str]
    above: Mapping[QueueCard, int]
    """The rank of those that hold more than they deserve."""
    preempting: Collection[str]
    """Queues in which pods of lower priority may end."""
    excluded: Collection[str]
    """Uids of pods whose eviction was refused."""
    past_admission: bool


class Protection(StrEnum):
    """Why a pod may not end for anybody (L4)."""

    NOT_PREEMPTABLE = "NotPreemptable"
    """It says so, or its group does."""
    PAST_ADMISSION = "PastAdmission"
    """We did not release it."""
    STATIC_POD = "StaticPod"
    """The kubelet would start it again."""
    NOT_ENFORCED = "NotEnforced"
    """No quota is enforced in its namespace."""


def protection_of(
    ledger: LedgerReader, record: PodRecord, *, past: bool, enforced: bool
) -> Protection | None:
    """Of a pod that holds something in a queue. `past`: whether pods may end that came past
    admission. `enforced`: whether rules are, in its namespace.
    """
    facts = record.facts
    if facts.mirror:
        return Protection.STATIC_POD
    group = ledger.groups.get(facts.group) if facts.group else None
    of_group = group.facts if group is not None else None
    if not facts.preemptable or (of_group is not None and not of_group.preemptable):
        return Protection.NOT_PREEMPTABLE
    came_past = facts.state is _BOUND and record.assumed is None
    if facts.stamp is None and not (past and came_past):
        return Protection.PAST_ADMISSION
    return None if enforced else Protection.NOT_ENFORCED


def gives_quota(ledger: LedgerReader, record: PodRecord) -> bool:
    """Whether it is certain that its queue has more of its quota when a pod is gone: what is
    reserved for its group may stand in its place.
    """
    group = ledger.groups.get(record.facts.group) if record.facts.group else None
    return group is None or group.reservation is None


class Staying(NamedTuple):
    """The members of a group that hold something and are not being deleted."""

    needed: list[PodRecord]
    """On nodes: those bound first, up to the minimum; all, where it says a minimum of each task."""
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
    bound = [one for one in staying if one.facts.state is _BOUND]
    bound.sort(key=lambda one: bound_key(one.facts))
    coming = [one for one in staying if one.facts.state is not _BOUND]
    least = len(bound) if group.tasks else group.minimum
    return Staying(bound[:least], bound[least:], coming)


@dataclass(slots=True)
class _NodePods:
    """The pods of a node that may be units."""

    level: int = 2**62
    share: int = 0
    """No unit of them comes before these (`Order`)."""
    records: list[PodRecord] = field(default_factory=list)


class Units:
    """All units of a scope. They are made once somebody asks for those of a slot, or of a queue."""

    def __init__(self, ledger: LedgerReader, slots: CardSlots, scope: Scope) -> None:
        self._ledger = ledger
        self._slots = slots
        self._scope = scope
        self._last = len(scope.above)
        """The rank of queues that are not above their share."""
        self._nodes = {node: _NodePods() for node in slots.nodes}
        self._places: dict[str, int] = {}
        """By node with pods that may be units: its place among these, by their first."""
        self._in_order: dict[int, list[CardSlot]] = {}
        """By identity of the slots that a pod may use."""
        self._in_queue: dict[str, list[PodRecord]] = {name: [] for name in scope.preempting}
        """By queue in which pods of lower priority may end."""
        self._made: dict[str, list[Unit]] = {}
        """By uid: the units that it is of. An elastic member is one itself, and of its gang's."""
        self._groups: dict[str, tuple[Mapping[str, bool], list[Unit]]] = {}
        """By group: by uid of the members that end one by one whether they are elastic; and the
        unit of all together, if they may end so."""
        self._at: dict[CardSlot, list[Unit]] = {}
        self._of: dict[str, list[Unit]] = {}
        self._enforced: dict[str, bool] = {}
        self._reclaimable: dict[str, bool] = {}
        self.barriers: set[Obstacle] = set()
        """What is in the way of any that somebody has asked about."""

    def read(self) -> Steps[None]:
        """To be called once, before all else. Costs a step for each pod."""
        ranks = dict.fromkeys(self._scope.preempting, self._last)
        for (queue, _), rank in self._scope.above.items():
            ranks[queue] = min(rank, ranks.get(queue, self._last))
        records = list(self._ledger.pods.values())
        nodes, in_queue = self._nodes, self._in_queue
        for begin in range(0, len(records), _PODS):
            for record in records[begin : begin + _PODS]:
                # Of very many pods: no calls, and as few steps as possible.
                queue = record.queue
                share = ranks.get(queue)
                if share is None:
                    continue
                facts = record.facts
                pods = nodes.get(facts.node)
                if pods is not None and facts.devices:
                    pods.records.append(record)
                    level = facts.priority
                    if facts.group and self._may_be_elastic(facts.group):
                        level -= _ELASTIC
                    if level < pods.level:
                        pods.level, pods.share = level, share
                    elif level == pods.level and share < pods.share:
                        pods.share = share
                if queue in in_queue and self._may_preempt(record):
                    in_queue[queue].append(record)
            yield
        used = [(one.level, one.share, node) for node, one in nodes.items() if one.records]
        self._places = {node: place for place, (_, _, node) in enumerate(sorted(used))}
        yield

    def _may_be_elastic(self, key: str) -> bool:
        group = self._ledger.groups.get(key)
        return group is not None and group.bound > group.minimum

    def _may_preempt(self, record: PodRecord) -> bool:
        """Also one without a node ends for its own queue."""
        facts, cards = record.facts, self._scope.cards
        seen = facts.state is _BOUND or facts.state is State.OPEN
        return seen and not facts.terminating and any(card in cards for card, _ in record.charge)

    def in_order(self, slots: Sequence[CardSlot]) -> list[CardSlot]:
        """Those of these slots on whose nodes are units, the one with the first before others.
        `slots`: as `CardSlots.for_pod` gave them.
        """
        places, found = self._places, self._in_order.get(id(slots))
        if found is None:
            found = sorted([s for s in slots if s.node in places], key=lambda s: places[s.node])
            self._in_order[id(slots)] = found
        return found

    def level(self, slot: CardSlot) -> int:
        """No unit of a slot is below this (`Order`)."""
        return self._nodes[slot.node].level

    def any_may_end(self, slot: CardSlot) -> bool:
        """Whether anybody on its node may end for somebody. Costs less than to make units."""
        records = self._nodes[slot.node].records
        return any(self._barrier_of(one) is None and self._may_give(one.queue) for one in records)

    def at(self, slot: CardSlot) -> list[Unit]:
        """Those that hold some of a slot, in order."""
        found = self._at.get(slot)
        if found is None:
            records = self._nodes[slot.node].records
            units = {unit: None for record in records for unit in self._make(record)}
            here = [one for one in units if one.holds_some(slot)]
            found = self._at[slot] = in_order(here)
        return found

    def of(self, queue: str) -> Steps[list[Unit]]:
        """Those of a queue in which pods of lower priority may end, in no order."""
        if queue not in self._of:
            found: dict[Unit, None] = {}
            for number, record in enumerate(self._in_queue[queue], 1):
                if number % _UNITS == 0:
                    yield
                found |= {unit: None for unit in self._make(record) if unit.queue == queue}
            self._of[queue] = list(found)
        return self._of[queue]

    # --- how they are made --------------------------------------------------------------------

    def _make(self, record: PodRecord) -> list[Unit]:
        """Those that a pod is of."""
        facts = record.facts
        if facts.terminating or facts.uid not in self._ledger.pods:
            return []
        found = self._made.get(facts.uid)
        if found is None:
            alone = [] if facts.group else [self._one(record, elastic=False)]
            found = self._made[facts.uid] = alone or self._of_group(record)
        return found

    def _of_group(self, record: PodRecord) -> list[Unit]:
        """Elastic is who is beyond the minimum of those that stay. Of a group that is not known
        none is, and all of them are one unit.
        """
        key = record.facts.group
        if key not in self._groups:
            self._groups[key] = self._split(self._ledger.groups[key])
        alone, whole = self._groups[key]
        elastic = alone.get(record.facts.uid)
        return whole if elastic is None else [self._one(record, elastic=elastic), *whole]

    def _split(self, group: PodGroupState) -> tuple[Mapping[str, bool], list[Unit]]:
        staying = staying_members(group)
        needed, elastic, coming = staying
        full = len(needed) == group.minimum and not group.tasks
        alone = {one.facts.uid: True for one in [*elastic, *(coming if full else ())]}
        if not group.gang and group.facts is not None:
            return {one.facts.uid: False for one in staying.everybody} | alone, []
        if len(staying.everybody) > MOST_VICTIMS:
            self.barriers.add(Obstacle.TOO_MANY)  # one of very many pods can never end
            return alone, []
        return alone, [self._whole(staying.everybody)] if staying.everybody else []

    def _one(self, record: PodRecord, *, elastic: bool) -> Unit:
        queue, facts = record.queue, record.facts
        holds = [((queue, card), n) for card, n in record.charge if n and is_card(card)]
        bound = facts.state is _BOUND
        gains, gives = self._slots.gains(record), gives_quota(self._ledger, record)
        above, last = self._scope.above, self._last
        share = min([above.get(key, last) for key, _ in holds], default=last)
        return Unit(
            members=(Member(facts.uid, record, holds, gains, bound, gives),),
            queue=queue,
            elastic=elastic,
            priority=facts.priority,
            order=Order(facts.priority - _ELASTIC if elastic else facts.priority, share),
            bound=bound_key(facts) if facts.scheduled else _LAST,
            barrier=self._barrier_of(record),
            reclaimable=self._is_reclaimable(queue),
        )

    def _whole(self, records: Sequence[PodRecord]) -> Unit:
        """A gang, with those without a node."""
        units = [self._one(record, elastic=False) for record in records]
        queues, barriers = {one.queue for one in units}, {one.barrier for one in units}
        priority = max(one.priority for one in units)
        barred = (one for one in (Obstacle.PROTECTED, Obstacle.BUDGET) if one in barriers)
        return Unit(
            members=tuple(one.members[0] for one in units),
            queue=queues.pop() if len(queues) == 1 else "",
            elastic=False,
            priority=priority,
            order=Order(priority, min(one.order.share for one in units)),
            bound=max(one.bound for one in units),
            barrier=next(barred, None),
            reclaimable=all(one.reclaimable for one in units),
        )

    def _may_give(self, queue: str) -> bool:
        """Whether pods of a queue may end for anybody, as far as the queue says."""
        return self._is_reclaimable(queue) or queue in self._in_queue

    def _is_reclaimable(self, queue: str) -> bool:
        found = self._reclaimable.get(queue)
        if found is None:
            account = self._ledger.account(queue)
            facts = account.facts if account is not None and queue != OUTSIDE else None
            found = self._reclaimable[queue] = facts is not None and facts.reclaimable
        if not found:
            self.barriers.add(Obstacle.PROTECTED)
        return found

    def _barrier_of(self, record: PodRecord) -> Obstacle | None:
        facts, scope = record.facts, self._scope
        enforced = self._enforced.get(facts.namespace)
        if enforced is None:
            enforced = self._ledger.mode_in(facts.namespace) is Mode.ENFORCE
            self._enforced[facts.namespace] = enforced
        past, found = scope.past_admission, None
        protection = protection_of(self._ledger, record, past=past, enforced=enforced)
        if protection is not None or not record.queue:
            found = Obstacle.PROTECTED
        elif facts.uid in scope.excluded:
            found = Obstacle.BUDGET
        if found is not None:
            self.barriers.add(found)
        return found


def members_of(units: Iterable[Unit], without: Collection[str] = ()) -> dict[str, Member]:
    """By uid: the pods of units, each once, but for some."""
    members = (member for unit in units for member in unit.members)
    return {one.uid: one for one in members if one.uid not in without}


def in_order(units: Iterable[Unit]) -> list[Unit]:
    """Elastic ones first; of these the lowest priority; then the queue most above its share; then
    who was bound last (L4).
    """
    found = sorted(units, key=attrgetter("bound"), reverse=True)
    found.sort(key=attrgetter("order"))
    return found
