"""How many gates are opened at a time, whose turn it is, and when what failed is tried again.

Single pods are sent one by one, whenever a slot is free. A gang claims as many slots as it has
members, and gets some of them at a time. A webhook may refuse, or not answer, every patch of a pod
in one namespace: so where gates do not open, few slots are spent on them.
"""

import asyncio
import heapq
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from itertools import count
from typing import Final, Generic, NamedTuple, TypeVar

from ...loop.timing import Backoff

K = TypeVar("K", bound=Hashable)

_PIECE: Final = 8
"""Slots that a gang gets at once: each makes a patch in the same turn of the loop."""
_AT_ONCE: Final = 16
"""Slots that all gangs together get at once."""
_ENOUGH: Final = 3
"""Failures in a row after which the breaker of a namespace trips."""
_SHARE: Final = 4
"""All tripped namespaces together may have one in this many slots."""
_PRUNE_EVERY: Final = 64
"""Deleted namespaces are forgotten each time this many more have failures."""


class Start:
    """A gang of a namespace that is being started."""

    def __init__(self, starts: Counter[str], namespace: str) -> None:
        self._starts = starts
        self._namespace = namespace
        self._ended = False
        starts[namespace] += 1

    def end(self) -> None:
        """It needs no more slots now, or does not start. Only the first call counts."""
        if self._ended:
            return
        self._ended = True
        self._starts[self._namespace] -= 1
        if not self._starts[self._namespace]:
            del self._starts[self._namespace]


class NamespaceCircuitBreaker:
    """Counts failures by namespace, and the patches under way to tripped ones.

    One success resets a namespace.
    """

    def __init__(self, slots: int, exists: Callable[[str], bool]) -> None:
        """`slots`: patches that may be under way at the same time. `exists`: whether a namespace
        still exists.
        """
        self._exists = exists
        self._slots = slots
        self._most = max(1, slots // _SHARE)
        self._failures: dict[str, int] = {}
        self._sending = 0
        self._starts: Counter[str] = Counter()
        """Gangs that are being started, by namespace."""

    def __len__(self) -> int:
        """Namespaces whose failures are remembered."""
        return len(self._failures)

    def tripped(self, namespace: str) -> bool:
        """Whether the last tries to open its gates have all failed."""
        return self._failures.get(namespace, 0) >= _ENOUGH

    def failures(self, namespace: str) -> int:
        """How many of its gates in a row did not open."""
        return self._failures.get(namespace, 0)

    def slots_left(self, namespace: str) -> int:
        """How many more patches may go to this namespace now, as far as the breaker decides."""
        return self._most - self._sending if self.tripped(namespace) else self._slots

    def allows_patch(self, namespace: str) -> bool:
        """Whether one more patch may go to this namespace now."""
        return self.slots_left(namespace) > 0

    def allows_gang(self, namespace: str) -> bool:
        """Whether a gang of this namespace may start now. A tripped one starts one at a time."""
        if not self.tripped(namespace):
            return True
        return self.allows_patch(namespace) and namespace not in self._starts

    def start(self, namespace: str) -> Start:
        """A gang starts. End the result, at the latest when the start has ended."""
        return Start(self._starts, namespace)

    def begin(self, namespace: str) -> bool:
        """A patch is sent. Pass the result to `end`."""
        tripped = self.tripped(namespace)
        self._sending += tripped
        return tripped

    def end(self, namespace: str, *, begun: bool, worked: bool | None) -> None:
        """The patch was answered. `worked` None: that says nothing about the namespace."""
        self._sending -= begun
        if worked:
            self._failures.pop(namespace, None)
        elif worked is False:
            if namespace not in self._failures and len(self._failures) % _PRUNE_EVERY == 0:
                self._failures = {n: c for n, c in self._failures.items() if self._exists(n)}
            self._failures[namespace] = self._failures.get(namespace, 0) + 1


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
        """From now on only gangs with a written reservation get slots. Those that ask for dry runs
        hear so some at a time: each then takes its charges back.
        """
        self.draining = True
        self.wake()

    @property
    def free(self) -> int:
        """How many slots may be taken now."""
        return self._number - self._taken

    @property
    def taken(self) -> int:
        """How many slots are taken."""
        return self._taken

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
        if self.draining:
            for claim in [one for one in self._claims if one.asks and one.found is not None]:
                if left <= 0:
                    return True
                left -= 1
                self._refuse(claim)
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

    @staticmethod
    def _refuse(claim: SlotClaim) -> None:
        found, claim.found = claim.found, None
        if found is not None and not found.done():
            found.set_result([])

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


TRY_AGAIN: Final = 1.0
"""Seconds before the first retry of what failed, if no news of it comes earlier."""
AT_MOST: Final = 60.0
"""Seconds between two tries, at most."""
_AT_A_TIME: Final = 100
"""Keys that are retried, or forgotten, before other work in the loop has a turn: a large gang may
fail as a whole."""


class Retries(Generic[K]):
    """Calls `again` for what failed, after a while.

    A key is remembered from its first failure until it `worked`, or until it has not failed for
    twice the longest delay. There is one timer for all keys, and due keys are tried some at a time.
    Belongs to the loop it is used in.
    """

    def __init__(self, again: Callable[[K], None]) -> None:
        """`again` should do no more than note that the key is due."""
        self._again = again
        self._backoffs: dict[K, Backoff] = {}
        self._waiting: dict[K, int] = {}
        """Keys to be tried again, and the number of their entry in `_line`."""
        self._line: list[tuple[float, int, K]] = []
        """A heap: when each key is tried. A key that has worked since stays until then."""
        self._tried: OrderedDict[K, float] = OrderedDict()
        """All other keys, and when they are forgotten. The latest is put last."""
        self._numbers = count()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._backoffs)

    def __contains__(self, key: K) -> bool:
        """Whether it waits to be tried again."""
        return key in self._waiting

    def failed(self, key: K) -> None:
        """Have a key tried again after a while, unless it is already waiting for that."""
        if key in self._waiting:
            return
        backoff = self._backoffs.get(key)
        if backoff is None:
            backoff = self._backoffs[key] = Backoff(TRY_AGAIN, AT_MOST)
        self._tried.pop(key, None)
        number = self._waiting[key] = next(self._numbers)
        due = asyncio.get_running_loop().time() + backoff.next()
        heapq.heappush(self._line, (due, number, key))
        self._set_timer()

    def worked(self, key: K) -> None:
        """The key worked or is gone: it is not tried again."""
        self._backoffs.pop(key, None)
        self._waiting.pop(key, None)
        self._tried.pop(key, None)

    def stop(self) -> Iterator[None]:
        """Try nothing again from now on.

        Iterate over the result: each step forgets one key. Forgetting very many in one go would
        hold up the loop.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return self._forget()

    def _forget(self) -> Iterator[None]:
        while self._line:
            self._line.pop()
            yield
        while self._backoffs:
            self.worked(next(reversed(self._backoffs)))
            yield

    def _fire(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        try:
            for _ in range(_AT_A_TIME):
                if self._line and self._line[0][0] <= now:
                    self._try_first(now)
                elif self._tried and next(iter(self._tried.values())) <= now:
                    self.worked(next(iter(self._tried)))
                else:
                    break
        finally:
            self._set_timer()

    def _try_first(self, now: float) -> None:
        _, number, key = heapq.heappop(self._line)
        if self._waiting.get(key) == number:
            del self._waiting[key]
            self._tried[key] = now + 2 * AT_MOST
            self._again(key)

    def _set_timer(self) -> None:
        """For the key that is due first. Call this when that may have changed."""
        times = [self._line[0][0]] if self._line else []
        if self._tried:
            times.append(next(iter(self._tried.values())))
        if not times:
            return
        due = min(times)
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(due, self._fire)
