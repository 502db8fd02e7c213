"""What has to end so that those who wait have room (L3, L4).

A round looks at all pods once, if anybody needs that others end, and makes one plan after the
other. Each sees what the ones before it end and take.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from typing import Final

from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_record import PodRecord
from ..steps import Steps
from .balances import QueueBalances
from .beneficiaries import waits_for_node
from .demands import Demand, cards_of, demands_of
from .plan import MOST_VICTIMS, Beneficiary, NoPlan, Obstacle, Plan, ReclaimWay, Victim
from .search import VictimSearch
from .slots import CardSlot, CardSlots, pack
from .victims import QueueCard, Scope, Unit, Units, members_of

_LEAVING: Final = 1_024
"""Pods that are being deleted that one step looks at: some milliseconds."""
_NAMED: Final = 5
"""Queues that an obstacle names."""

Result = Plan | NoPlan
_WhyNot = tuple[Obstacle, tuple[str, ...], int]
"""What a `NoPlan` says beside for whom."""


def plans(
    ledger: LedgerReader,
    waiting: Sequence[Beneficiary],
    excluded: Collection[str] = (),
    *,
    past_admission: bool = False,
    now: float | None = None,
) -> Steps[list[Result]]:
    """What is to end for each of these, in their order: the first ones have the first choice, so
    put those before others whose plan is being carried out.

    `excluded`: uids of pods whose eviction was refused. `past_admission`: whether pods may end that
    came past us. `now`: seconds since 1970, by which the cards of a pod that is being
    deleted may be no room that comes (`LATE`, `AWAITED`); None: they all are.

    Left out of the result is who has room at once, waits no longer, or is owed no more than what
    others of its queue get first. Not guaranteed: that what happens in the ledger between two steps
    is seen. A step takes some milliseconds.
    """
    if not waiting:
        return []
    round_ = _PlanRound(ledger, waiting, excluded, past_admission=past_admission, now=now)
    yield from round_.begin()
    found: list[Result] = []
    for one in waiting:
        result = yield from round_.plan(one)
        if result is not None:
            found.append(result)
        yield
    return found


class _PlanRound:
    def __init__(
        self,
        ledger: LedgerReader,
        waiting: Sequence[Beneficiary],
        excluded: Collection[str],
        *,
        past_admission: bool,
        now: float | None,
    ) -> None:
        self._ledger = ledger
        self._waiting = waiting
        self._cards = {card for one in waiting for card in cards_of(ledger, one)}
        self._slots = CardSlots(ledger, self._cards, now)
        self._balances = QueueBalances(ledger)
        self._above: dict[QueueCard, int] = {}
        """Those that hold more than they deserve, by rank."""
        self._excluded = excluded
        self._past_admission = past_admission
        self._read_units: Units | None = None
        self._ended = set[str]()
        """Uids of those that end by a plan of this round."""
        self._served = set[str]()
        """Uids of those who have room, or get it: none of them ends for another."""
        self._failed: dict[Hashable, _WhyNot] = {}
        """By what was asked for in vain: what is in the way."""

    # --- once for all -------------------------------------------------------------------------

    def begin(self) -> Steps[None]:
        """Read nodes and queues."""
        yield from self._slots.read()
        for number, uid in enumerate(list(self._ledger.being_deleted), 1):
            if number % _LEAVING == 0:
                yield
            record = self._ledger.pods.get(uid)
            if record is not None and record.held:
                self._balances.note_leaving(record, is_room=self._slots.leaves(record))
        if any(one.way is ReclaimWay.RECLAIM for one in self._waiting):
            for card in sorted(self._cards):
                self._above.update(self._balances.above(card))
                yield

    def _units(self) -> Steps[Units]:
        """Pods are read once somebody needs that others end."""
        if self._read_units is None:
            scope = Scope(
                cards=self._cards,
                above=self._above,
                preempting={one.queue for one in self._waiting if one.way is ReclaimWay.PREEMPT},
                excluded=self._excluded,
                past_admission=self._past_admission,
            )
            self._read_units = Units(self._ledger, self._slots, scope)
            yield from self._read_units.read()
        return self._read_units

    # --- one beneficiary ----------------------------------------------------------------------

    def plan(self, one: Beneficiary) -> Steps[Result | None]:
        """What ends for it; None: nothing needs to, or it waits no longer."""
        members = [self._ledger.pods[uid] for uid in one.uids if uid in self._ledger.pods]
        if len(members) < len(one.uids) or not self._still_waits(one, members):
            return None
        demands = [*demands_of(self._ledger, self._slots, one, members)]
        lacking = self._balances.lacking
        owed = one.way is ReclaimWay.PREEMPT or self._balances.is_owed(members)
        # Nothing ends for a choice of cards if any of them has room, or is about to.
        for demand in demands:
            if not lacking(one, members, demand.asked, now=True) and demand.fits(now=True):
                self._serve(one, demand, now=True)
                return None
        for demand in demands:
            demand.short = lacking(one, members, demand.asked)
            if not demand.short and demand.fits():
                self._serve(one, demand)
                return NoPlan(_shown(one, demand), Obstacle.LEAVING) if owed else None
        if not owed:
            return None
        first: NoPlan | None = None
        for demand in demands:
            result = yield from self._plan(one, demand)
            if isinstance(result, Plan):
                return result
            first = first or result
        return first

    def _still_waits(self, one: Beneficiary, members: Sequence[PodRecord]) -> bool:
        if not self._ended.isdisjoint(one.uids):
            return False
        if one.way is ReclaimWay.PREEMPT:
            return all(record.releasable for record in members)
        return all(map(waits_for_node, members))

    def _serve(self, one: Beneficiary, demand: Demand, *, now: bool = False) -> None:
        """It has this room from now on: nobody else is promised it. `now`: it is free at once."""
        rooms: dict[CardSlot, int] = {}
        pack(demand.kinds, rooms, now=now)
        for slot, room in rooms.items():
            slot.take((slot.free if now else slot.room) - room)
        self._served.update(one.uids)
        self._balances.promise(one, demand.asked)

    def _plan(self, one: Beneficiary, demand: Demand) -> Steps[Result]:
        own = (one.queue, one.priority) if one.way is ReclaimWay.PREEMPT else None
        key = own, demand.signature
        failed = self._failed.get(key) or self._hopeless(one, demand)
        if failed is None:
            units = yield from self._units()
            found = yield from self._search(units, one, demand).solve()
            if found and len(members_of(found, self._ended)) <= MOST_VICTIMS:
                return self._carry_out(one, demand, found)
            if found:
                failed = Obstacle.TOO_MANY, _queues_of(found), 0
            else:
                failed = yield from self._why_not(units, one, demand)
        self._failed[key] = failed
        return NoPlan(_shown(one, demand), *failed)

    def _search(
        self, units: Units, one: Beneficiary, demand: Demand, *, disregards_barriers: bool = False
    ) -> VictimSearch:
        return VictimSearch(
            units,
            self._balances,
            one,
            demand,
            self._ended,
            self._served,
            disregards_barriers=disregards_barriers,
        )

    def _carry_out(self, one: Beneficiary, demand: Demand, units: Sequence[Unit]) -> Plan:
        """From now on they count as gone."""
        ending = members_of(units, self._ended)
        for slot, amount in (gain for member in ending.values() for gain in member.gains):
            slot.room += amount
        self._balances.give_back(ending.values())
        self._ended.update(ending)
        self._serve(one, demand)
        victims = [_victim(member.record) for member in ending.values()]
        freed = sum(n for m in ending.values() for (_, c), n in m.holds if c == demand.card)
        return Plan(_shown(one, demand), tuple(victims), freed)

    # --- why there is no plan -----------------------------------------------------------------

    def _hopeless(self, one: Beneficiary, demand: Demand) -> _WhyNot | None:
        """Why there is no plan, whoever may end; None: there may be one."""
        if one.way is ReclaimWay.RECLAIM:
            above = dict.fromkeys(demand.asked, 0)
            for queue, card in self._above:
                if queue != one.queue and card in above:
                    above[card] += max(0, self._balances.beyond((queue, card)))
            if not any(above.values()):
                return Obstacle.NOBODY_ABOVE, (), 0
            if above.get(demand.card, 0) < demand.least:
                return Obstacle.LITTLE_ABOVE, (), above.get(demand.card, 0)
        if not all(kind.slots for kind in demand.kinds):
            return Obstacle.NO_ROOM_ON_NODES, (), 0
        return None

    def _why_not(self, units: Units, one: Beneficiary, demand: Demand) -> Steps[_WhyNot]:
        """What is in the way, and in which queues: without it a plan could be found."""
        if not units.barriers.isdisjoint((Obstacle.BUDGET, Obstacle.PROTECTED)):
            search = self._search(units, one, demand, disregards_barriers=True)
            barred = [u for u in (yield from search.solve()) or () if u.barrier_to(one.way)]
            if barred:
                refused = all(unit.barrier is Obstacle.BUDGET for unit in barred)
                obstacle = Obstacle.BUDGET if refused else Obstacle.PROTECTED
                return obstacle, _queues_of(barred), 0
        if Obstacle.TOO_MANY in units.barriers:
            return Obstacle.TOO_MANY, (), 0
        if one.way is ReclaimWay.PREEMPT:
            own = yield from units.of(one.queue)
            if not any(unit.priority < one.priority for unit in own):
                return Obstacle.NOBODY_ABOVE, (), 0
        return Obstacle.NO_ROOM_ON_NODES, (), 0


def _shown(one: Beneficiary, demand: Demand) -> Beneficiary:
    return replace(one, card=demand.card, amount=demand.asked.get(demand.card, 0))


def _queues_of(units: Sequence[Unit]) -> tuple[str, ...]:
    queues = {member.record.queue for unit in units for member in unit.members}
    return tuple(sorted(queues)[:_NAMED])


def _victim(record: PodRecord) -> Victim:
    facts = record.facts
    return Victim(facts.uid, facts.namespace, facts.name, record.queue, record.charge)
