"""Gates that may be on their way at the same time, and whose turn it is to send the next.

Pods of their own are sent one by one, where there is a free slot. A gang claims as many slots as it
has members, and gets some of them at a time.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from .namespace_circuit_breaker import NamespaceCircuitBreaker

_PIECE: Final = 8
"""Slots that a gang gets at once: for each a patch is made in the same turn of the loop."""
_AT_ONCE: Final = 16
"""Slots that all gangs get at once."""


class Slot(NamedTuple):
    """One that is taken."""

    namespace: str
    tripped: bool
    """What `NamespaceCircuitBreaker.begin` said."""
    gang: bool


class SlotClaim:
    """The slots that a gang needs for one patch of each of its members. To be closed."""

    def __init__(
        self, slots: "Slots", queue: str, namespace: str, number: int, *, asks: bool
    ) -> None:
        self.asks = asks
        """Whether nothing is written with these: then they are refused once we drain."""
        self.queue = queue
        """Empty: one that holds up nobody of its queue."""
        self.namespace = namespace
        self.left = number
        """How many it did not get yet."""
        self.found: asyncio.Future[list[Slot]] | None = None
        """What it waits for; None: it does not ask for any now."""
        self._slots = slots

    async def some(self) -> list[Slot]:
        """Wait for a turn; at least one, and never more than are left. None: there will be none."""
        if self.asks and self._slots.draining:
            return []
        self.found = asyncio.get_running_loop().create_future()
        self._slots.wake()
        return await self.found

    def close(self) -> None:
        """No more are needed."""
        self._slots.close(self)


class Slots:
    """Belongs to the ledger's loop.

    Guarantees: never more are taken than there are, as long as `take` is called only while some are
    `free`; tripped namespaces together have no more than their share; gangs take turns, some slots
    each; while others wait gangs together take no more than half, and nobody else takes that half
    from them. Where nobody else wants them a gang has all.
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
        """Those that want more, in the order of their turns."""
        self._claimed: Counter[str] = Counter()
        """Slots that gangs want, by queue."""
        self.draining = False
        """Whether who would only ask gets no more."""

    def drain(self) -> None:
        """From now on only those get slots whose gangs have been written ahead."""
        self.draining = True
        for claim in self._claims:
            if claim.asks and claim.found is not None and not claim.found.done():
                claim.found.set_result([])
                claim.found = None

    @property
    def free(self) -> int:
        """How many may be taken now."""
        return self._number - self._taken

    @property
    def taken(self) -> int:
        """How many gates are on their way."""
        return self._taken

    def take(self, namespace: str, *, gang: bool = False) -> Slot:
        """To be given back."""
        self._taken += 1
        self._by_gangs += gang
        self._gang_was_last = gang
        return Slot(namespace, self._breaker.begin(namespace), gang)

    def give_back(self, slot: Slot, *, worked: bool | None) -> None:
        """`worked` None: that says nothing about the namespace."""
        self._taken -= 1
        self._by_gangs -= slot.gang
        before = self._breaker.tripped(slot.namespace)
        self._breaker.end(slot.namespace, begun=slot.tripped, worked=worked)
        if not before and self._breaker.tripped(slot.namespace):
            self._let_others_by(slot.namespace)
        self.wake()

    def may_start(self, queue: str) -> bool:
        """Whether one more gang of a queue may begin: not while others of it want all slots."""
        claimed = self._claimed[queue]
        return not claimed or claimed < self.free

    def claim(self, queue: str, namespace: str, number: int, *, asks: bool = False) -> SlotClaim:
        """For a gang that starts. `asks`: for dry runs."""
        # As in `_let_others_by`.
        queue = "" if self._breaker.tripped(namespace) else queue
        claim = SlotClaim(self, queue, namespace, number, asks=asks)
        self._claims[claim] = None
        self._claimed[claim.queue] += number
        return claim

    def close(self, claim: SlotClaim) -> None:
        """It wants no more."""
        self._give(claim, claim.left)
        self._claims.pop(claim, None)

    def hand_out(self, *, others_wait: bool) -> bool:
        """Let gangs have their turns; whether more can be handed out at once, in another call.

        `others_wait`: whether pods of their own may want a slot, too.
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
        """Of gangs, while others wait. Of a single slot they have every other turn."""
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
        """Gangs of a tripped one may wait for long; others of their queue do not wait for them."""
        for claim in self._claims:
            if claim.namespace == namespace and claim.queue:
                left = claim.left
                self._give(claim, left)
                claim.queue, claim.left = "", left
                self._claimed[""] += left

    def _give(self, claim: SlotClaim, number: int) -> None:
        claim.left -= number
        self._claimed[claim.queue] -= number
        if not self._claimed[claim.queue]:
            del self._claimed[claim.queue]
