"""What has to end so that those who wait have room (L3, L4).

A round looks at all pods once, if anybody needs that others end, and makes one plan after the
other. Each sees what the ones before it end and take. No sets of units are tried: of each node the
first ones in order count that a queue can afford, and a gang is served member by member. So a plan
may be missed.

How the victims of one member are found: on each node that it may use the first units in order until
there is enough; then those are left out again, the last ones first, that are not needed. The node
is taken whose last unit comes first in the order; then the one with the fewest pods. Units are made
of the pods of a node only when it is looked at, which is not each of very many.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from heapq import heappop, heappush
from typing import Final, NamedTuple

from ..amounts import is_card
from ..decisions.queue_room import QueueRoom
from ..ledger.groups.group_holdings import BoundKey
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_record import ChargeState, PodRecord
from ..steps import Steps
from .beneficiaries import is_owed, waits_for_node
from .plan import MOST_VICTIMS, Beneficiary, NoPlan, Obstacle, Plan, ReclaimWay, Victim
from .slots import CardSlot, CardSlots, Kind, pack
from .victims import Member, Rank, Scope, Unit, Units, gives_quota, in_order

_SLOTS: Final = 32
"""CardSlots that one step looks at: some milliseconds."""
_SEEN: Final = 128
"""CardSlots that are looked at in any case; then only those that may come before the best of these
by what is elastic and by priority."""
_MOST_SEEN: Final = 1_024
"""CardSlots that are looked at: those whose first pods come first in order."""
_UNITS: Final = 1_024
"""Units that one step looks at: the same."""
_NAMED: Final = 5
"""Queues that an obstacle names."""
_RELAXED: Final = (Obstacle.BUDGET, Obstacle.PROTECTED)
"""What is disregarded, one after the other, to find out what is in the way."""

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


def plan_for(
    ledger: LedgerReader,
    one: Beneficiary,
    excluded: Collection[str] = (),
    *,
    past_admission: bool = False,
    now: float | None = None,
) -> Steps[Result | None]:
    """The same for one alone; None where `plans` leaves it out."""
    found = yield from plans(ledger, [one], excluded, past_admission=past_admission, now=now)
    return found[0] if found else None


@dataclass(slots=True)
class _Demand:
    """What a beneficiary needs, with one way to choose its cards."""

    card: str
    """The one that is told: of a choice, or the first that is lacking."""
    kinds: list[Kind]
    short: Mapping[str, int] = field(default_factory=dict)
    """By card: what is lacking of its queue's quota (preempt)."""

    def asked(self, card: str) -> int:
        """Cards that all ask for together."""
        return sum(kind.amount * kind.number for kind in self.kinds if kind.card == card)

    @property
    def signature(self) -> Hashable:
        """Equal for demands that the same would serve."""
        kinds = ((k.card, k.amount, k.number, id(k.slots)) for k in self.kinds)
        return tuple(kinds), tuple(self.short.items())


class _Cost(NamedTuple):
    """The smallest is taken."""

    worst: tuple[bool, int]
    pods: int
    rank: int


@dataclass(slots=True)
class _Offer:
    """What would have to end for one member more on a slot."""

    slot: CardSlot
    units: list[Unit]
    cost: _Cost
    youngest: BoundKey
    """When the oldest of them was bound: of equal ones the latest is taken."""

    def __lt__(self, other: "_Offer") -> bool:
        if self.cost != other.cost:
            return self.cost < other.cost
        return self.youngest > other.youngest


@dataclass(slots=True)
class _PlanTrial:
    """What ends for one beneficiary, so far."""

    party: Beneficiary
    allowed: frozenset[Obstacle] = frozenset()
    """What is disregarded."""
    rooms: dict[CardSlot, int] = field(default_factory=dict)
    chosen: list[Unit] = field(default_factory=list)
    ending: set[str] = field(default_factory=set)
    spent: Counter[tuple[str, str]] = field(default_factory=Counter)
    """What bound ones of these hold, by queue and card."""


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
        self._excluded = excluded
        self._past_admission = past_admission
        self._cards = {card for one in waiting for card in self._cards_of(one)}
        self._slots = CardSlots(ledger, self._cards, now)
        self._units: Units
        self._has_read_pods = False
        self._going = Counter[tuple[str, str]]()
        """What bound pods hold that are being deleted, by queue and card."""
        self._coming = {card: Counter[str]() for card in self._cards}
        """By card and queue: the part of quotas that is free when all are gone that are being
        deleted."""
        self._ended = set[str]()
        """Uids of those that end by a plan of this round."""
        self._spent = Counter[tuple[str, str]]()
        """What these hold, if they are bound, by queue and card."""
        self._owed: dict[str, Counter[str]] = {}
        """By queue: what those get who are owed it, of each card."""
        self._quota = Counter[tuple[str, str]]()
        """By queue and card: what is left more of the quota, by all plans."""
        self._served = set[str]()
        """Uids of those who have room, or get it: none of them ends for another."""
        self._spare: dict[tuple[str, str], int] = {}
        self._above_share: Collection[tuple[str, str]] = ()
        """Queues and cards, of those that hold more than they deserve."""
        self._failed: dict[Hashable, _WhyNot] = {}
        """By what was asked for in vain: what is in the way."""

    def _cards_of(self, one: Beneficiary) -> Iterator[str]:
        for uid in one.uids:
            record = self._ledger.pods.get(uid)
            if record is None:
                continue
            if one.way is ReclaimWay.PREEMPT:
                yield from record.request.cards if record.request is not None else ()
            else:
                yield from (card for card, n in record.charge if n and is_card(card))

    # --- once for all -------------------------------------------------------------------------

    def begin(self) -> Steps[None]:
        """Read nodes."""
        yield from self._slots.read()
        for uid in list(self._ledger.being_deleted):
            record = self._ledger.pods.get(uid)
            if record is not None and record.held:
                self._note_going(record)

    def _read_pods(self) -> Steps[None]:
        """Once somebody needs that others end."""
        above: dict[tuple[str, str], int] = {}
        if any(one.way is ReclaimWay.RECLAIM for one in self._waiting):
            for card in sorted(self._cards):
                above.update(self._above(card))
                yield
        preempting = {one.queue for one in self._waiting if one.way is ReclaimWay.PREEMPT}
        self._above_share = above
        scope = Scope(self._cards, above, preempting, self._excluded, self._past_admission)
        self._units = Units(self._ledger, self._slots, scope)
        yield from self._units.read()
        self._has_read_pods = True

    def _note_going(self, record: PodRecord) -> None:
        certain = self._slots.leaves(record) and gives_quota(self._ledger, record)
        for card, amount in record.charge:
            if record.charge_state is ChargeState.ALLOCATED:
                self._going[record.queue, card] += amount
            if certain and card in self._coming:
                self._coming[card][record.queue] += amount

    def _above(self, card: str) -> dict[tuple[str, str], int]:
        """The queues that hold more of a card than they deserve, by rank: the first are most above
        their share.
        """
        shares: dict[str, Fraction | None] = {}
        for account in self._ledger.accounts():
            # No plan can take what is charged under the name of a queue that does not exist.
            spare = self._left(account.name, card) if account.facts and card in account.rows else 0
            if spare > 0:
                deserved = self._ledger.shares.shown(account.name, card)
                shares[account.name] = Fraction(spare, deserved) if deserved else None
        levels = sorted({one for one in shares.values() if one is not None}, reverse=True)
        ranks: dict[Fraction | None, int] = {share: n for n, share in enumerate(levels, 1)}
        ranks[None] = 0  # above any share: it deserves none
        return {(queue, card): ranks[share] for queue, share in shares.items()}

    def _left(self, queue: str, card: str) -> int:
        """What a queue would still hold beyond what it deserves, of what is bound and stays."""
        key = queue, card
        found = self._spare.get(key)
        if found is None:
            account = self._ledger.account(queue)
            row = account.row(card).by_charge_state if account is not None else (0,)
            found = row[ChargeState.ALLOCATED] - self._going[key]
            found = self._spare[key] = found - self._ledger.shares.shown(queue, card)
        return found - self._spent[key]

    # --- one beneficiary ----------------------------------------------------------------------

    def plan(self, one: Beneficiary) -> Steps[Result | None]:
        """What ends for it; None: nothing needs to, or it waits no longer."""
        members = [self._ledger.pods[uid] for uid in one.uids if uid in self._ledger.pods]
        if len(members) < len(one.uids) or not self._ended.isdisjoint(one.uids):
            return None
        preempts = one.way is ReclaimWay.PREEMPT
        if not all(record.releasable if preempts else waits_for_node(record) for record in members):
            return None
        if not preempts and not is_owed(self._ledger, members, self._owed.get(one.queue)):
            return None
        demands = [*self._demands(one, members)]
        # Nothing ends for a choice of cards if any of them has room, or is about to.
        for demand in demands:
            if not self._short(one, members, demand, now=True) and _fits(demand.kinds, now=True):
                self._serve(one, demand, now=True)
                return None
        for demand in demands:
            demand.short = self._short(one, members, demand)
            if not demand.short and _fits(demand.kinds):
                self._serve(one, demand)
                return NoPlan(_shown(one, demand), Obstacle.LEAVING)
        first: NoPlan | None = None
        for demand in demands:
            result = yield from self._plan(one, demand)
            if isinstance(result, Plan):
                return result
            first = first or result
        return first

    def _demands(self, one: Beneficiary, members: Sequence[PodRecord]) -> Iterator[_Demand]:
        """By the choice of cards at the gate; one if there is none."""
        if one.way is ReclaimWay.RECLAIM:
            cards = [_of_charge(record) for record in members]
            kinds = self._kinds(members, cards)
            lacking = (k.card for k, left in zip(kinds, pack(kinds, {}), strict=True) if left)
            yield _Demand(next(lacking, one.card), kinds)
            return
        account = self._ledger.account(one.queue)
        quota = account.quota if account is not None else {}
        choices: dict[str, None] = {}
        for record in members:
            if record.request is not None and record.request.amount:
                choices.update(dict.fromkeys(record.request.cards))
        seen: set[tuple[tuple[str, int], ...]] = set()
        for choice in [one.card, *(card for card in choices if card != one.card)]:
            cards = []
            for record in members:
                request = record.request
                usable = request.cards if request is not None and request.amount else ()
                first = next((card for card in usable if quota.get(card)), "")
                card = choice if choice in usable else first
                cards.append((card, request.amount if request is not None else 0))
            key = tuple(cards)
            if key not in seen and all(card or not amount for card, amount in cards):
                seen.add(key)
                yield _Demand(choice, self._kinds(members, cards))

    def _kinds(self, members: Sequence[PodRecord], cards: Sequence[tuple[str, int]]) -> list[Kind]:
        found: dict[tuple[str, int, int], Kind] = {}
        for record, (card, amount) in zip(members, cards, strict=True):
            if amount:
                slots = self._slots.for_pod(record.facts, card)
                key = card, amount, id(slots)
                before = found.get(key)
                number = 1 + (before.number if before is not None else 0)
                found[key] = Kind(card, amount, number, slots, len(slots))
        return list(found.values())

    def _short(
        self, one: Beneficiary, members: Sequence[PodRecord], demand: _Demand, *, now: bool = False
    ) -> Mapping[str, int]:
        """How many cards its queue's quota lacks, of each. `now`: without what pods that are being
        deleted give back.
        """
        account = self._ledger.account(one.queue)
        if one.way is ReclaimWay.RECLAIM or account is None:
            return {}
        group = self._ledger.groups.get(members[0].facts.group) if members[0].facts.group else None
        room, found = QueueRoom(account, group), {}
        for card in {kind.card: None for kind in demand.kinds}:
            coming = Counter[str]() if now else self._coming[card]
            left = room.left(card) - account.given_to_others(card, coming)
            left += self._quota[one.queue, card] + coming[one.queue]
            found[card] = demand.asked(card) - left
        return {card: amount for card, amount in found.items() if amount > 0}

    def _serve(self, one: Beneficiary, demand: _Demand, *, now: bool = False) -> None:
        """It has this room from now on: nobody else is promised it. `now`: it is free at once."""
        rooms: dict[CardSlot, int] = {}
        pack(demand.kinds, rooms, now=now)
        for slot, room in rooms.items():
            slot.take((slot.free if now else slot.room) - room)
        self._served.update(one.uids)
        for kind in demand.kinds:
            if one.way is ReclaimWay.PREEMPT:
                self._quota[one.queue, kind.card] -= kind.amount * kind.number
            else:
                owed = self._owed.setdefault(one.queue, Counter())
                owed[kind.card] += kind.amount * kind.number

    def _plan(self, one: Beneficiary, demand: _Demand) -> Steps[Result]:
        own = (one.queue, one.priority) if one.way is ReclaimWay.PREEMPT else None
        key = own, demand.signature
        if not self._has_read_pods:
            yield from self._read_pods()
        if key not in self._failed:
            found = yield from self._solve(_PlanTrial(one), demand)
            if found and len(self._ending(found)) <= MOST_VICTIMS:
                return self._carry_out(one, demand, found)
            if found:
                self._failed[key] = Obstacle.TOO_MANY, _queues_of(found), 0
            else:
                self._failed[key] = yield from self._why_not(one, demand)
        return NoPlan(_shown(one, demand), *self._failed[key])

    def _why_not(self, one: Beneficiary, demand: _Demand) -> Steps[_WhyNot]:
        """What is in the way, and in which queues: without it a plan could be found."""
        allowed = frozenset[Obstacle]()
        for obstacle in _RELAXED:
            if obstacle in self._units.barriers:
                allowed |= {obstacle}
                found = yield from self._solve(_PlanTrial(one, allowed), demand)
                if found:
                    barred = [unit for unit in found if self._barrier_of(unit, one) is obstacle]
                    return obstacle, _queues_of(barred), 0
        if Obstacle.TOO_MANY in self._units.barriers:
            return Obstacle.TOO_MANY, (), 0
        if one.way is ReclaimWay.PREEMPT:
            units = yield from self._units.of(one.queue)
            lower = any(unit.priority < one.priority for unit in units)
            return Obstacle.NO_ROOM_ON_NODES if lower else Obstacle.NOBODY_ABOVE, (), 0
        above = Counter[str]()
        for queue, card in self._above_share:
            above[card] += max(0, self._left(queue, card)) if queue != one.queue else 0
        cards = [kind.card for kind in demand.kinds]
        if not any(above[card] for card in cards):
            return Obstacle.NOBODY_ABOVE, (), 0
        if above[demand.card] < self._least(demand):
            return Obstacle.LITTLE_ABOVE, (), above[demand.card]
        return Obstacle.NO_ROOM_ON_NODES, (), 0

    def _least(self, demand: _Demand) -> int:
        """How many of the card that is told have to come free on some node, at least."""
        kinds = [kind for kind in demand.kinds if kind.card == demand.card and kind.slots]
        rooms = ((kind.amount, max(slot.room for slot in kind.slots)) for kind in kinds)
        return max((amount - max(0, room) for amount, room in rooms), default=0)

    def _ending(self, units: Sequence[Unit]) -> dict[str, Member]:
        """The pods that end with these units, without those that end anyway."""
        members = (member for unit in units for member in unit.members)
        return {one.uid: one for one in members if one.uid not in self._ended}

    def _carry_out(self, one: Beneficiary, demand: _Demand, units: Sequence[Unit]) -> Plan:
        """From now on they count as gone."""
        elastic = _uids([unit for unit in units if unit.elastic])
        ending = self._ending(units)
        for member in ending.values():
            for slot, amount in member.gains:
                slot.room += amount
            for queue, card, amount in member.holds:
                self._quota[queue, card] += amount if member.gives_quota else 0
                self._spent[queue, card] += amount if member.bound else 0
        self._ended.update(ending)
        self._serve(one, demand)
        victims = [_victim(m.record, elastic=m.uid in elastic) for m in ending.values()]
        freed = sum(n for m in ending.values() for _, card, n in m.holds if card == demand.card)
        return Plan(_shown(one, demand), tuple(victims), freed)

    # --- who ends -----------------------------------------------------------------------------

    def _barrier_of(self, unit: Unit, one: Beneficiary) -> Obstacle | None:
        if unit.barrier is None and one.way is ReclaimWay.RECLAIM and not unit.reclaimable:
            return Obstacle.PROTECTED
        return unit.barrier

    def _may_end(self, unit: Unit, trial: _PlanTrial) -> bool:
        one = trial.party
        if one.way is ReclaimWay.RECLAIM:
            if not unit.placed:
                return False
        elif unit.queue != one.queue or unit.priority >= one.priority:
            return False
        barrier = self._barrier_of(unit, one)
        if barrier is not None and barrier not in trial.allowed:
            return False
        return not unit.coming or self._served.isdisjoint([m.uid for m in unit.members])

    def _solve(self, trial: _PlanTrial, demand: _Demand) -> Steps[list[Unit] | None]:
        """Units that make enough room, none of which could be left out; None: none were found."""
        left = pack(demand.kinds, trial.rooms)
        order = sorted(range(len(left)), key=lambda i: -demand.kinds[i].amount)
        for index in order:
            kind = demand.kinds[index]
            if left[index] and not (yield from self._make_room(trial, kind, left[index])):
                return None
        if trial.party.way is ReclaimWay.PREEMPT:
            for card, short in demand.short.items():
                if not (yield from self._make_quota(trial, card, short)):
                    return None
        return (yield from self._without_needless(trial, demand))

    def _make_room(self, trial: _PlanTrial, kind: Kind, number: int) -> Steps[bool]:
        """End units until so many more pods of a kind have room."""
        offers, changed = (yield from self._offers(trial, kind)), dict[CardSlot, None]()
        usable = set(kind.slots)
        while number:
            fitting = next((s for s in changed if self._room(trial, s) >= kind.amount), None)
            if fitting is not None:
                trial.rooms[fitting] = self._room(trial, fitting) - kind.amount
                number -= 1
                continue
            if not offers or len(trial.ending) > 2 * MOST_VICTIMS:
                return False
            taken = heappop(offers)
            # What was free for it may be promised, or what ends for it has ended, since.
            offer = self._offer(trial, taken.slot, kind.amount)
            if offer is None:
                continue
            if offers and offers[0] < offer:
                heappush(offers, offer)
                continue
            for unit in offer.units:
                changed.update((s, None) for s in self._end(trial, unit) if s in usable)
            changed[offer.slot] = None
            for slot in changed:
                if slot is not taken.slot and (again := self._offer(trial, slot, kind.amount)):
                    heappush(offers, again)
            heappush(offers, taken)
            yield
        return True

    def _offers(self, trial: _PlanTrial, kind: Kind) -> Steps[list[_Offer]]:
        """A heap."""
        found: list[_Offer] = []
        for seen, (rank, place) in enumerate(self._promising(trial, kind)):
            if seen >= _SEEN and found and rank[:2] >= found[0].cost.worst:
                break
            if seen % _SLOTS == 0:
                yield
            if offer := self._offer(trial, kind.slots[place], kind.amount):
                heappush(found, offer)
        return found

    def _promising(self, trial: _PlanTrial, kind: Kind) -> list[tuple[Rank, int]]:
        """The places of the slots to be looked at, each after the rank of its first unit."""
        found: list[tuple[Rank, int]] = []
        for place, slot in enumerate(kind.slots):
            rank = self._units.first(slot, kind.amount - self._room(trial, slot))
            if rank is not None:
                found.append((rank, place))
        return sorted(found)[:_MOST_SEEN]

    def _room(self, trial: _PlanTrial, slot: CardSlot) -> int:
        return trial.rooms.get(slot, slot.room)

    def _end(self, trial: _PlanTrial, unit: Unit) -> list[CardSlot]:
        """A unit ends. Returns the slots that have more room."""
        found = []
        trial.chosen.append(unit)
        for member in unit.members:
            if member.uid in trial.ending or member.uid in self._ended:
                continue
            trial.ending.add(member.uid)
            for slot, amount in member.gains:
                trial.rooms[slot] = self._room(trial, slot) + amount
                found.append(slot)
            if member.bound:
                for queue, card, amount in member.holds:
                    trial.spent[queue, card] += amount
        return found

    def _offer(self, trial: _PlanTrial, slot: CardSlot, amount: int) -> _Offer | None:
        need = amount - self._room(trial, slot)
        units = self._units.at(slot) if need > 0 else ()
        if not units:
            return None
        picked = _Picked(self, trial, slot)
        for unit in units:
            if picked.gained >= need:
                break
            if self._may_end(unit, trial):
                picked.add(unit)
        if picked.gained < need:
            return None
        chosen = picked.needed(need)
        pods = _uids(chosen) - trial.ending
        worst = max(unit.order for unit in chosen)
        cost = _Cost(worst, len(pods), max(unit.rank for unit in chosen))
        return _Offer(slot, chosen, cost, min(unit.bound for unit in chosen))

    def _freed(self, units: Sequence[Unit], card: str) -> int:
        """What the quota has more without them."""
        ending = (member for member in self._ending(units).values() if member.gives_quota)
        return sum(n for member in ending for _, c, n in member.holds if c == card)

    def _make_quota(self, trial: _PlanTrial, card: str, short: int) -> Steps[bool]:
        """End units of its queue until there is enough of the quota."""
        first: list[Unit] = []
        units = yield from self._units.of(trial.party.queue)
        for begin in range(0, len(units), _UNITS):
            some = [
                unit
                for unit in units[begin : begin + _UNITS]
                if self._may_end(unit, trial) and self._freed([unit], card)
            ]
            first = in_order([*first, *some])[: 2 * MOST_VICTIMS]
            yield
        for unit in first:
            if self._freed(trial.chosen, card) >= short:
                break
            self._end(trial, unit)
        return self._freed(trial.chosen, card) >= short

    def _without_needless(self, trial: _PlanTrial, demand: _Demand) -> Steps[list[Unit]]:
        """The units of a trial without those that could be left out: the last in order first."""
        kept = in_order(trial.chosen)
        gain = {slot for unit in kept for member in unit.members for slot, _ in member.gains}
        kinds = [
            kind._replace(slots=[s for s in kind.slots if s in gain or s.room >= kind.amount])
            for kind in demand.kinds
        ]
        for unit in reversed(in_order(trial.chosen)):
            others = [one for one in kept if one is not unit]
            short = any(self._freed(others, card) < n for card, n in demand.short.items())
            if not short and self._fits_with(others, kinds):
                kept = others
            yield
        return kept

    def _fits_with(self, units: Sequence[Unit], kinds: Sequence[Kind]) -> bool:
        """Whether there is enough room on nodes once these have ended."""
        rooms: dict[CardSlot, int] = {}
        for member in self._ending(units).values():
            for slot, amount in member.gains:
                rooms[slot] = rooms.get(slot, slot.room) + amount
        return not any(pack(kinds, rooms))

    def fresh(self, trial: _PlanTrial, unit: Unit) -> list[Member]:
        """Its pods that do not end anyway."""
        ending, ended = trial.ending, self._ended
        return [one for one in unit.members if one.uid not in ending and one.uid not in ended]

    def affords(self, trial: _PlanTrial, more: Mapping[tuple[str, str], int]) -> bool:
        """Whether queues still hold what they deserve without `more`, by queue and card."""
        spent = trial.spent
        return all(self._left(*key) - spent.get(key, 0) >= amount for key, amount in more.items())


class _Picked:
    """Units that end on one slot, for one member more."""

    __slots__ = ("_ending", "_gains", "_round", "_slot", "_spent", "_trial", "gained", "units")

    def __init__(self, round_: _PlanRound, trial: _PlanTrial, slot: CardSlot) -> None:
        self._round = round_
        self._trial = trial
        self._slot = slot
        self._ending: dict[str, Member] = {}
        self._gains: list[int] = []
        self._spent: dict[tuple[str, str], int] = {}
        self.units: list[Unit] = []
        self.gained = 0

    def add(self, unit: Unit) -> None:
        """Take it, if that makes room and its queue still holds what it deserves."""
        slot, ending = self._slot, self._ending
        fresh = [m for m in self._round.fresh(self._trial, unit) if m.uid not in ending]
        gain = sum([n for member in fresh for where, n in member.gains if where is slot])
        if not gain:
            return
        if self._trial.party.way is ReclaimWay.RECLAIM:
            more = dict(self._spent)
            for member in fresh:
                if member.bound:
                    for queue, card, amount in member.holds:
                        more[queue, card] = more.get((queue, card), 0) + amount
            if not self._round.affords(self._trial, more):
                return
            self._spent = more
        for member in fresh:
            ending[member.uid] = member
        self.units.append(unit)
        self._gains.append(gain)
        self.gained += gain

    def _gain_of(self, units: Iterable[Unit]) -> int:
        slot = self._slot
        fresh = {m.uid: m for unit in units for m in self._round.fresh(self._trial, unit)}
        return sum([n for m in fresh.values() for where, n in m.gains if where is slot])

    def needed(self, need: int) -> list[Unit]:
        """Those of them that are needed: the last ones in order are left out first."""
        if all(len(unit.members) == 1 for unit in self.units):
            beyond, found = self.gained - need, list[Unit]()
            for unit, gain in zip(reversed(self.units), reversed(self._gains), strict=True):
                if gain <= beyond:
                    beyond -= gain
                else:
                    found.append(unit)
            return found[::-1]
        kept = list(self.units)  # a gang as a whole may be there, and members of it
        for unit in reversed(self.units):
            others = [one for one in kept if one is not unit]
            if self._gain_of(others) >= need:
                kept = others
        return kept


def _fits(kinds: Sequence[Kind], *, now: bool = False) -> bool:
    return not any(pack(kinds, {}, now=now))


def _of_charge(record: PodRecord) -> tuple[str, int]:
    """The card that it was released for, and how many."""
    return next(((card, n) for card, n in record.charge if n and is_card(card)), ("", 0))


def _shown(one: Beneficiary, demand: _Demand) -> Beneficiary:
    return replace(one, card=demand.card, amount=demand.asked(demand.card))


def _uids(units: Sequence[Unit]) -> set[str]:
    return {member.uid for unit in units for member in unit.members}


def _queues_of(units: Sequence[Unit]) -> tuple[str, ...]:
    queues = {member.record.queue for unit in units for member in unit.members}
    return tuple(sorted(queues)[:_NAMED])


def _victim(record: PodRecord, *, elastic: bool) -> Victim:
    facts = record.facts
    return Victim(
        uid=facts.uid,
        namespace=facts.namespace,
        name=facts.name,
        queue=record.queue,
        group=facts.group,
        node=facts.node,
        priority=facts.priority,
        elastic=elastic,
        charge=record.charge,
    )
