"""Who could end: an elastic member, a pod without a gang, or a gang as a whole (L4)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
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
from .slots import CardSlot, CardSlots

_PODS: Final = 4_096
"""Pods that one step looks at: some milliseconds."""
_UNITS: Final = 256
"""Pods of which one step makes units: the same."""
_HELD: Final = (ChargeState.ALLOCATED, ChargeState.RELEASED)
_BOUND: Final = State.BOUND
_LAST: Final = BoundKey("~", "", "")
"""Of who has no node yet: later than all that are bound."""


Rank = tuple[bool, int, int]
"""Whether it is not elastic, its priority, and the rank of its queue: the smallest ends first."""


class Member(NamedTuple):
    """A pod of a unit."""

    uid: str
    record: PodRecord
    holds: Sequence[tuple[str, str, int]]
    """Queue, card and amount of what it is charged."""
    gains: Sequence[tuple[CardSlot, int]]
    """What slots have more when it is gone."""
    bound: bool
    gives_quota: bool
    """Whether its queue has more of its quota when it is gone."""


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


class Units:
    """All units of a scope. They are made once somebody asks for those of a slot, or of a queue."""

    def __init__(self, ledger: LedgerReader, slots: CardSlots, scope: Scope) -> None:
        self._ledger = ledger
        self._slots = slots
        self._scope = scope
        self._on_node: dict[str, list[PodRecord]] = {}
        """By node: those of which no unit was made yet."""
        self._in_queue: dict[str, list[PodRecord]] = {}
        """By queue in which pods of lower priority may end: the same."""
        self._ranks: dict[str, dict[str, int]] = {card: {} for card in scope.cards}
        """By card and queue: that of the scope."""
        self._last = len(scope.above)
        """The rank of all others."""
        self._first: dict[str, Rank] = {}
        """By node: the smallest of its pods."""
        self._most: dict[str, int] = {}
        """By node: how much its pods may hold together."""
        self._seen: set[str] = set()
        """Uids of pods that were looked at."""
        self._roles: dict[str, dict[str, bool]] = {}
        """By group of which a pod was looked at, and by uid of those of its members that end one by
        one: whether they are elastic."""
        self._by_slot: dict[CardSlot, list[Unit]] = {}
        self._by_queue: dict[str, list[Unit]] = {}
        self._ordered: dict[CardSlot, list[Unit]] = {}
        self._enforced: dict[str, bool] = {}
        self._reclaimable: dict[str, bool] = {}
        self.barriers: set[Obstacle] = set()
        """Those of any unit that was made."""

    def read(self) -> Steps[None]:
        """To be called once, before all else. Costs a step for each pod."""
        scope = self._scope
        queues = {queue for queue, _ in scope.above}.union(scope.preempting)
        for (queue, card), place in scope.above.items():
            self._ranks[card][queue] = place
        cards, note = self._ranks, self._note
        records = list(self._ledger.pods.values())
        for begin in range(0, len(records), _PODS):
            for record in records[begin : begin + _PODS]:
                # The state of one that is gone meanwhile does not change any more.
                if record.queue in queues and record.charge_state in _HELD:
                    for card, amount in record.charge:
                        if card in cards:
                            note(record, card, amount)
                            break
            yield

    def _note(self, record: PodRecord, card: str, amount: int) -> None:
        queue, facts = record.queue, record.facts
        if facts.terminating:
            return
        if queue in self._scope.preempting:
            self._in_queue.setdefault(queue, []).append(record)
        node = facts.node
        if not node:
            return
        if len(facts.devices) > 1:  # it may hold several cards
            amount = sum(n for _, n in facts.devices)
        group = self._ledger.groups.get(facts.group) if facts.group else None
        elastic = group is not None and group.bound > group.minimum
        rank = not elastic, facts.priority, self._ranks[card].get(queue, self._last)
        row = self._on_node.get(node)
        if row is None:
            self._on_node[node], self._first[node], self._most[node] = [record], rank, amount
            return
        row.append(record)
        self._most[node] += amount
        if rank < self._first[node]:
            self._first[node] = rank

    def first(self, slot: CardSlot, need: int) -> "Rank | None":
        """No unit of a slot comes before this; None: its units cannot make so much room."""
        return self._first[slot.node] if self._most.get(slot.node, 0) >= need else None

    def at(self, slot: CardSlot) -> list[Unit]:
        """Those that hold some of a slot, in order."""
        for record in self._on_node.pop(slot.node, ()):
            self._see(record)
        found = self._ordered.get(slot)
        if found is None:
            found = self._ordered[slot] = in_order(self._by_slot.get(slot, []))
        return found

    def of(self, queue: str) -> Steps[list[Unit]]:
        """Those of a queue in which pods of lower priority may end, in no order."""
        records = self._in_queue.pop(queue, [])
        for begin in range(0, len(records), _UNITS):
            for record in records[begin : begin + _UNITS]:
                self._see(record)
            yield
        return self._by_queue.get(queue, [])

    # --- how they are made --------------------------------------------------------------------

    def _see(self, record: PodRecord) -> None:
        facts = record.facts
        if facts.terminating or facts.uid not in self._ledger.pods or facts.uid in self._seen:
            return
        self._seen.add(facts.uid)
        if facts.group:
            self._see_member(record, self._ledger.groups[facts.group])
        elif self._may_be_seen(record):
            self._add_one(record, elastic=False)

    def _may_be_seen(self, record: PodRecord) -> bool:
        """One without a node ends only for its own queue."""
        bound = record.facts.state is _BOUND
        return bound or (record.facts.state is State.OPEN and self._preempts(record))

    def _preempts(self, record: PodRecord) -> bool:
        return record.queue in self._scope.preempting

    def _see_member(self, record: PodRecord, group: PodGroupState) -> None:
        """Elastic is who is beyond the minimum of those that stay. Of a group that is not known
        none is, and all of them are one unit.
        """
        roles = self._roles.get(group.key)
        if roles is None:
            roles = self._roles[group.key] = self._see_group(group)
        elastic = roles.get(record.facts.uid)
        if elastic is not None and self._may_be_seen(record):
            self._add_one(record, elastic=elastic)

    def _see_group(self, group: PodGroupState) -> dict[str, bool]:
        """By uid of the members that end one by one: whether they are elastic."""
        staying = staying_members(group)
        needed, elastic, coming = staying
        full = len(needed) == group.minimum and not group.tasks
        found = {one.facts.uid: True for one in [*elastic, *(coming if full else ())]}
        if group.gang or group.facts is None:
            if staying.everybody:
                self._add_whole(staying.everybody)
        else:
            found |= {one.facts.uid: False for one in [*needed, *(() if full else coming)]}
        return found

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
        if len(records) > MOST_VICTIMS:
            self.barriers.add(Obstacle.TOO_MANY)
            return
        members = tuple(map(self._member, records))
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
            barrier=barrier,
            reclaimable=all(self._is_reclaimable(one.queue) for one in records),
            rank=min(map(self._rank, members)),
        )
        self._put(unit)

    def _put(self, unit: Unit) -> None:
        if unit.barrier is not None:
            self.barriers.add(unit.barrier)
        if not unit.reclaimable:
            self.barriers.add(Obstacle.PROTECTED)
        for slot in dict.fromkeys([slot for one in unit.members for slot, _ in one.gains]):
            self._by_slot.setdefault(slot, []).append(unit)
            self._ordered.pop(slot, None)
        if unit.queue in self._scope.preempting:
            self._by_queue.setdefault(unit.queue, []).append(unit)

    def _member(self, record: PodRecord) -> Member:
        queue, facts = record.queue, record.facts
        holds = [(queue, card, n) for card, n in record.charge if n and is_card(card)]
        bound = facts.state is _BOUND
        gains, gives = self._slots.gains(record), gives_quota(self._ledger, record)
        return Member(facts.uid, record, holds, gains, bound, gives)

    def _rank(self, member: Member) -> int:
        above, last = self._scope.above, self._last
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
