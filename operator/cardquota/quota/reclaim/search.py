"""The search for those who end so that one who waits has enough (L4).

No sets of units are tried: of each node the first ones in order count that a queue can afford, and
a gang is served member by member. So a plan may be missed.

For one member, on each node that it may use the first units in order are picked until there is
enough; then those are left out again, the last ones first, that are not needed. The node is taken
whose last unit comes first in the order; then the one with the fewest pods. Units are made of the
pods of a node only when it is looked at, which is not each of very many.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from ..ledger.groups.group_holdings import BoundKey
from ..steps import Steps
from .balances import QueueBalances
from .demands import Demand
from .plan import MOST_VICTIMS, Beneficiary, ReclaimWay
from .slots import CardSlot, Kind, pack
from .victims import Member, QueueCard, Unit, Units, in_order, members_of

_COMPARED: Final = 64
"""CardSlots with room that are compared in any case; then only those that may come before the best
of these by what is elastic and by priority."""
_UNITS: Final = 1_024
"""Units that one step looks at: the same."""


@dataclass(slots=True)
class _Offer:
    """What would have to end for one member more on a slot."""

    slot: CardSlot
    units: list[Unit]
    cost: tuple[int, int, int]
    """The smallest is taken: by the level of the last unit, by pods, by the last share."""
    youngest: BoundKey
    """When the oldest of them was bound: of equal ones the latest is taken."""

    def __lt__(self, other: "_Offer") -> bool:
        if self.cost != other.cost:
            return self.cost < other.cost
        return self.youngest > other.youngest


class VictimSearch:
    """For one beneficiary and one demand. What ends is tried out here: nothing else is changed."""

    def __init__(
        self,
        units: Units,
        balances: QueueBalances,
        one: Beneficiary,
        demand: Demand,
        ended: Collection[str],
        served: AbstractSet[str],
        *,
        disregards_barriers: bool = False,
    ) -> None:
        """`ended`: uids of those that end by other plans. `served`: of who has room, or gets it.
        `disregards_barriers`: to find out whether these are in the way.
        """
        self._units = units
        self._balances = balances
        self._one = one
        self._reclaims = one.way is ReclaimWay.RECLAIM
        self._demand = demand
        self._ended = ended
        self._served = served
        self._disregards_barriers = disregards_barriers
        self._gone = set(ended)
        self._chosen: list[Unit] = []
        self._rooms: dict[CardSlot, int] = {}
        self._spent: dict[QueueCard, int] = {}
        """What bound ones of the chosen hold."""

    def solve(self) -> Steps[list[Unit] | None]:
        """Units that make enough room, none of which could be left out; None: none were found."""
        kinds = self._demand.kinds
        left = pack(kinds, self._rooms)
        for index in sorted(range(len(kinds)), key=lambda i: -kinds[i].amount):
            if left[index] and not (yield from self._make_room(kinds[index], left[index])):
                return None
        for card, short in self._demand.short.items():
            if not (yield from self._make_quota(card, short)):
                return None
        return (yield from self._without_needless())

    def _may_end(self, unit: Unit) -> bool:
        one = self._one
        if not self._reclaims and (unit.queue != one.queue or unit.priority >= one.priority):
            return False
        if not self._disregards_barriers and unit.barrier_to(one.way) is not None:
            return False
        return not self._served or self._served.isdisjoint([m.uid for m in unit.members])

    def _fresh(self, unit: Unit) -> list[Member]:
        """Its pods that do not end anyway."""
        return [one for one in unit.members if one.uid not in self._gone]

    def _end(self, unit: Unit) -> list[CardSlot]:
        """A unit ends. Returns the slots that have more room."""
        fresh = self._fresh(unit)
        self._chosen.append(unit)
        self._gone.update([member.uid for member in fresh])
        self._spent = _with_holds(self._spent, fresh)
        for slot, amount in (gain for member in fresh for gain in member.gains):
            self._rooms[slot] = self._room(slot) + amount
        return [slot for member in fresh for slot, _ in member.gains]

    def _room(self, slot: CardSlot) -> int:
        return self._rooms.get(slot, slot.room)

    # --- room on nodes ------------------------------------------------------------------------

    def _make_room(self, kind: Kind, number: int) -> Steps[bool]:
        """End units until so many more pods of a kind have room."""
        offers, usable = (yield from self._offers(kind)), set(kind.slots)
        # What is left over from other kinds is there without an offer.
        changed = {slot: None for slot in self._rooms if slot in usable}
        while number:
            fitting = next((s for s in changed if self._room(s) >= kind.amount), None)
            if fitting is not None:
                self._rooms[fitting] = self._room(fitting) - kind.amount
                number -= 1
                if again := self._offer(fitting, kind):
                    heappush(offers, again)
                continue
            if not offers or len(self._gone) - len(self._ended) > 2 * MOST_VICTIMS:
                return False
            taken = heappop(offers)
            # What was free for it may be promised, or what ends for it has ended, since.
            offer = self._offer(taken.slot, kind)
            if offer is None:
                continue
            if offers and offers[0] < offer:
                heappush(offers, offer)
                continue
            more = {offer.slot: None}
            for unit in offer.units:
                more.update((slot, None) for slot in self._end(unit) if slot in usable)
            changed.update(more)
            for slot in more:
                if again := self._offer(slot, kind):
                    heappush(offers, again)
                yield
        return True

    def _offers(self, kind: Kind) -> Steps[list[_Offer]]:
        """A heap."""
        found: list[_Offer] = []
        for slot in self._units.in_order(kind.slots):
            yield  # its pods may be of large gangs
            if len(found) >= _COMPARED and self._units.level(slot) >= found[0].cost[0]:
                break
            if offer := self._offer(slot, kind):
                heappush(found, offer)
        return found

    def _offer(self, slot: CardSlot, kind: Kind) -> _Offer | None:
        need = kind.amount - self._room(slot)
        if need <= 0 or not (self._disregards_barriers or self._units.any_may_end(slot)):
            return None
        chosen = self._pick(slot, need)
        if not chosen:
            return None
        worst = max([unit.order.level for unit in chosen])
        pods, share = members_of(chosen, self._gone), max([unit.order.share for unit in chosen])
        youngest = min([unit.bound for unit in chosen])
        return _Offer(slot, chosen, (worst, len(pods), share), youngest)

    def _spare(self, key: QueueCard) -> int:
        """What a queue still holds beyond what it deserves."""
        return self._balances.beyond(key) - self._spent.get(key, 0)

    def _pick(self, slot: CardSlot, need: int) -> list[Unit]:
        """The first units of a slot that make so much room and leave their queues what these
        deserve, without those that are not needed; none if that is not enough.
        """
        picked, gained = list[Unit](), 0
        ending, spent = set[str](), dict[QueueCard, int]()
        for unit in self._units.at(slot):
            if gained >= need:
                break
            fresh = [member for member in self._fresh(unit) if member.uid not in ending]
            gain = _gain(fresh, slot)
            if not gain or not self._may_end(unit):
                continue
            more = _with_holds(spent, fresh)
            if self._reclaims and any(self._spare(key) < amount for key, amount in more.items()):
                continue
            spent = more
            picked.append(unit)
            ending.update([member.uid for member in fresh])
            gained += gain
        return self._needed(slot, picked, gained - need) if gained >= need else []

    def _needed(self, slot: CardSlot, units: Sequence[Unit], beyond: int) -> list[Unit]:
        """Without units that make no more than the room that is too much: the last in order are
        left out first. A gang as a whole may be there, and members of it.
        """
        times = Counter(member.uid for unit in units for member in unit.members)
        kept: list[Unit] = []
        for unit in reversed(units):
            gain = _gain([one for one in self._fresh(unit) if times[one.uid] == 1], slot)
            if gain > beyond:
                kept.append(unit)
            else:
                beyond -= gain
                times.subtract(member.uid for member in unit.members)
        return kept[::-1]

    # --- the quota ----------------------------------------------------------------------------

    def _make_quota(self, card: str, short: int) -> Steps[bool]:
        """End units of its queue until there is enough of the quota."""
        first: list[Unit] = []
        units = yield from self._units.of(self._one.queue)
        for begin in range(0, len(units), _UNITS):
            some = units[begin : begin + _UNITS]
            able = [one for one in some if self._may_end(one) and self._freed([one], card)]
            first = in_order([*first, *able])[: 2 * MOST_VICTIMS]
            yield
        for unit in first:
            if self._freed(self._chosen, card) >= short:
                break
            self._end(unit)
        return self._freed(self._chosen, card) >= short

    def _freed(self, units: Iterable[Unit], card: str) -> int:
        """What the quota has more without them."""
        ending = members_of(units, self._ended).values()
        return sum([n for m in ending if m.gives_quota for (_, c), n in m.holds if c == card])

    # --- all of it ----------------------------------------------------------------------------

    def _without_needless(self) -> Steps[list[Unit]]:
        """Those that were chosen, without those that could be left out: the last in order first."""
        kept = in_order(self._chosen)
        gain = {slot for unit in kept for member in unit.members for slot, _ in member.gains}
        kinds = [
            kind._replace(slots=[s for s in kind.slots if s in gain or s.room >= kind.amount])
            for kind in self._demand.kinds
        ]
        for unit in reversed(in_order(self._chosen)):
            others = [one for one in kept if one is not unit]
            if self._is_enough(others, kinds):
                kept = others
            yield
        return kept

    def _is_enough(self, units: Sequence[Unit], kinds: Sequence[Kind]) -> bool:
        """Whether there is enough of the quota, and of room on nodes, once these have ended."""
        if any(self._freed(units, card) < short for card, short in self._demand.short.items()):
            return False
        rooms: dict[CardSlot, int] = {}
        for member in members_of(units, self._ended).values():
            for slot, amount in member.gains:
                rooms[slot] = rooms.get(slot, slot.room) + amount
        return not any(pack(kinds, rooms))


def _gain(members: Iterable[Member], slot: CardSlot) -> int:
    return sum([n for member in members for where, n in member.gains if where is slot])


def _with_holds(before: Mapping[QueueCard, int], members: Iterable[Member]) -> dict[QueueCard, int]:
    """With what those of these hold that are bound."""
    found = dict(before)
    for member in members:
        if member.bound:
            for key, amount in member.holds:
                found[key] = found.get(key, 0) + amount
    return found
