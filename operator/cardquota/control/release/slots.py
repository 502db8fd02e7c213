"""Slots for gates that are opened at the same time, and whose turn it is to send the next patch.

Single pods are sent one by one, whenever a slot is free. A gang claims as many slots as it has
members, and gets some of them at a time.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from .namespace_circuit_breaker import NamespaceCircuitBreaker

_PIECE: Final = 8
"""Slots that a gang gets at once: each makes a patch in the same turn of the loop."""
_AT_ONCE: Final = 16
"""Slots that all gangs together get at once."""


class Slot(NamedTuple):
    """A slot that is taken."""

    namespace: str
    tripped: bool
    """The result of `NamespaceCircuitBreaker.begin`."""
    gang: bool


class SlotClaim:
    """The slots that a gang needs for one patch of each of its members. Close it after use."""

    def __init__(
        self, slots: "Slots", queue: str | None, namespace: str, number: int, *, asks: bool
    ) -> None:
        self.asks = asks
        """Whether these are for dry runs, which write nothing: they are refused once we drain."""
        self.queue = queue
        """None: the claim holds up no other gang of its queue."""
        self.namespace = namespace
        self.left = number
        """How many slots it has not got yet."""
        self.found: asyncio.Future[list[Slot]] | None = None
        """What it waits for. None: it does not ask for any now."""
        self._slots = slots

    async def some(self) -> list[Slot]:
        """Wait for a turn. At least one slot, never more than `left`. Empty: there will be none."""
        if self.asks and self._slots.draining:
            return []
        self.found = asyncio.get_running_loop().create_future()
        self._slots.wake()
        return await self.found

    def want(self, number: int) -> None:
        """From now on at most so many more are wanted."""
        self._slots.lower(self, number)

    def close(self) -> None:
        """No more slots are needed."""
        self._slots.close(self)


class Slots:
    """Belongs to the ledger's loop.

    Guarantees: no more slots are taken than there are, as long as `take` is called only while some
    are `free`. Tripped namespaces together have no more than their share. Gangs take turns, some
    slots each. While single pods wait, gangs together take at most half, and single pods do not
    take that half from them. If nothing else waits, gangs may have all slots.
    """

    def __init__(
        self, number: int, breaker: NamespaceCircuitBreaker, wake: Callable[[], None]
    ) -> None:
        """`wake`: have `hand_out` called."""
        self.wake = wake
        self._number = number
        self._breaker = breaker
        self._taken = 0
        self._by_gangs = 0
        self._gang_was_last = False
        self._claims: dict[SlotClaim, None] = {}
        """Claims that want more, in the order of their turns."""
        self._claimed: Counter[str | None] = Counter()
        """Slots that gangs want, by queue; None: those that hold up nobody."""
        self.draining = False
        """Whether dry runs get no more slots."""

    def drain(self) -> None:
        """From now on only gangs with a written reservation get slots."""
        self.draining = True
        for claim in self._claims:
            if claim.asks and claim.found is not None and not claim.found.done():
                claim.found.set_result([])
                claim.found = None

    @property
    def free(self) -> int:
        """How many slots may be taken now."""
        return self._number - self._taken

    @property
    def taken(self) -> int:
        """How many slots are taken."""
        return self._taken

    @property
    def wanted(self) -> int:
        """How many gangs want that they do not have yet."""
        return sum(self._claimed.values())

    def take(self, namespace: str, *, gang: bool = False) -> Slot:
        """Take a slot. Give it back later."""
        self._taken += 1
        self._by_gangs += gang
        self._gang_was_last = gang
        return Slot(namespace, self._breaker.begin(namespace), gang)

    def give_back(self, slot: Slot, *, worked: bool | None) -> None:
        """Give back a slot. `worked` None: that says nothing about the namespace."""
        self._taken -= 1
        self._by_gangs -= slot.gang
        before = self._breaker.tripped(slot.namespace)
        self._breaker.end(slot.namespace, begun=slot.tripped, worked=worked)
        if not before and self._breaker.tripped(slot.namespace):
            self._let_others_by(slot.namespace)
        self.wake()

    def may_start(self, queue: str) -> bool:
        """Whether one more gang of a queue may start: not while others of it want all slots."""
        claimed = self._claimed[queue]
        return not claimed or claimed < self.free

    def claim(self, queue: str, namespace: str, number: int, *, asks: bool = False) -> SlotClaim:
        """Claim slots for a gang that starts. `asks`: for dry runs."""
        # As in `_let_others_by`.
        holds_up = None if self._breaker.tripped(namespace) else queue
        claim = SlotClaim(self, holds_up, namespace, number, asks=asks)
        self._claims[claim] = None
        self._claimed[claim.queue] += number
        return claim

    def lower(self, claim: SlotClaim, number: int) -> None:
        """The claim wants at most so many more slots."""
        self._give(claim, max(0, claim.left - number))

    def close(self, claim: SlotClaim) -> None:
        """The claim wants no more slots."""
        self.lower(claim, 0)
        self._claims.pop(claim, None)

    def hand_out(self, *, others_wait: bool) -> bool:
        """Give slots to gangs in turn. Returns whether another call can hand out more at once.

        `others_wait`: whether single pods may want a slot, too.
        """
        most = self._share if others_wait else self._number
        left = _AT_ONCE
        for claim in list(self._claims):
            room = min(self.free, most - self._by_gangs)
            if room <= 0:
                return False
            if left <= 0:
                return True
            if claim.found is None:
                continue
            number = min(room, left, _PIECE, max(1, self._number // 2), claim.left)
            number = min(number, self._breaker.slots_left(claim.namespace))
            if number > 0:
                left -= number
                self._let_have(claim, number)
        return False

    @property
    def _share(self) -> int:
        """The slots for gangs while others wait. A single slot goes to them every other time."""
        return self._number // 2 or int(not self._gang_was_last)

    def _let_have(self, claim: SlotClaim, number: int) -> None:
        found, claim.found = claim.found, None
        del self._claims[claim]
        self._give(claim, number)
        if claim.left:
            self._claims[claim] = None
        if found is not None and not found.done():
            found.set_result([self.take(claim.namespace, gang=True) for _ in range(number)])

    def _let_others_by(self, namespace: str) -> None:
        """Gangs of a tripped namespace may wait for long: others of their queue need not wait."""
        for claim in self._claims:
            if claim.namespace == namespace and claim.queue is not None:
                left = claim.left
                self._give(claim, left)
                claim.queue, claim.left = None, left
                self._claimed[None] += left

    def _give(self, claim: SlotClaim, number: int) -> None:
        claim.left -= number
        self._claimed[claim.queue] -= number
        if not self._claimed[claim.queue]:
            del self._claimed[claim.queue]
