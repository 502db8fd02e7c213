"""Pods that were admitted a moment ago and that the ledger has not seen yet.

A refusal counts only seen pods, so these are never charged. They serve one purpose: if they would
turn a yes into a no, the review waits a moment for them to be seen.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from cardquota.quota.amounts import Amounts, Charge, MutableAmounts


@dataclass(slots=True, eq=False)
class _Passed:
    """A pod that was admitted. From each one of a queue a chain leads to those admitted later, and
    skips no unseen pod. Each search shortens the chain for later ones.
    """

    uid: str
    queue: str
    number: int
    until: float
    charge: Charge
    seen: bool = False
    later: "_Passed | None" = None


@dataclass(slots=True, eq=False)
class _Waiting:
    """A waiting review: for all pods up to number `last`, except the pod that it is about."""

    but: str
    last: int
    over: asyncio.Future[None]
    at: _Passed
    """The oldest pod that it still waits for."""


@dataclass(slots=True)
class _Queue:
    """Pods that were admitted into one queue."""

    newest: _Passed
    passed: dict[str, _Passed] = field(default_factory=dict)
    """By uid, the oldest first; without pods known to be seen, or too old."""


class RecentAdmissions:
    """Remembers each pod for at most `lifetime` seconds, so it is bounded by the create rate.

    A review costs in proportion to the pods of its own queue, and to those that are now too old.
    While reviews wait, each change of the ledger costs in proportion to the pods that reviews wait
    for next: usually one of each queue.
    """

    def __init__(
        self, seen: Callable[[str], bool], *, lifetime: float, clock: Callable[[], float]
    ) -> None:
        self._seen = seen
        self._lifetime = lifetime
        self._clock = clock
        self._number = 0
        self._ages: deque[_Passed] = deque()
        """The oldest first; includes pods that have been seen since."""
        self._queues: dict[str, _Queue] = {}
        self._awaited: dict[_Passed, dict[_Waiting, None]] = {}
        """Waiting reviews, by the pod that each waits for next."""

    def __len__(self) -> int:
        """Pods that are remembered, also those seen since."""
        return len(self._ages)

    @property
    def awaited(self) -> int:
        """Pods that reviews wait for next."""
        return len(self._awaited)

    def add(self, uid: str, queue: str, charge: Charge) -> None:
        """A pod was admitted."""
        self._forget_old()
        if not uid or self._seen(uid):
            return
        self._number += 1
        passed = _Passed(uid, queue, self._number, self._clock() + self._lifetime, charge)
        self._ages.append(passed)
        if (found := self._queues.get(queue)) is None:
            found = self._queues[queue] = _Queue(passed)
        else:
            found.newest.later = passed
            found.newest = passed
            found.passed.pop(uid, None)  # admitted once more: it becomes the newest
        found.passed[uid] = passed

    def of(self, queue: str, but: str) -> Collection[str]:
        """Uids of unseen pods that were admitted into a queue, except one."""
        self._forget_old()
        known = self._queues.get(queue)
        if known is None:
            return []
        for passed in [one for one in known.passed.values() if self._was_seen(one)]:
            self._forget(passed)
        return [uid for uid in known.passed if uid != but]

    def amounts(self, queue: str, uids: Collection[str]) -> Amounts:
        """What these pods would be charged together, as far as they are remembered."""
        known = self._queues.get(queue)
        passed = known.passed if known is not None else {}
        total: MutableAmounts = {}
        for uid in uids:
            for dimension, amount in passed[uid].charge if uid in passed else ():
                total[dimension] = total.get(dimension, 0) + amount
        return total

    async def all_seen(self, queue: str, but: str, timeout: float) -> None:
        """Return once all pods that `of` returns now were seen, or after `timeout` seconds."""
        self._forget_old()
        known = self._queues.get(queue)
        if known is None:
            return
        over = asyncio.get_running_loop().create_future()
        oldest = next(iter(known.passed.values()))
        waiting = _Waiting(but, known.newest.number, over, oldest)
        self._wait_for_next(waiting)
        if over.done():
            return
        try:
            async with asyncio.timeout(timeout):
                await over
        except TimeoutError:
            return
        finally:
            self._give_up(waiting)

    def look(self) -> None:
        """The ledger changed: some pods may have been seen."""
        for passed in [one for one in self._awaited if self._was_seen(one)]:
            for waiting in self._awaited.pop(passed):
                self._wait_for_next(waiting)

    def _wait_for_next(self, waiting: _Waiting) -> None:
        found = self._first_unseen(waiting.at)
        while found is not None and found.uid == waiting.but:
            found = self._first_unseen(found.later)
        if found is not None and found.number <= waiting.last:
            waiting.at = found
            self._awaited.setdefault(found, {})[waiting] = None
        elif not waiting.over.done():
            waiting.over.set_result(None)

    def _give_up(self, waiting: _Waiting) -> None:
        others = self._awaited.get(waiting.at, {})
        others.pop(waiting, None)
        if not others:
            self._awaited.pop(waiting.at, None)

    def _first_unseen(self, passed: _Passed | None) -> _Passed | None:
        """The first unseen pod among this one and those admitted later into its queue."""
        if passed is None:
            return None
        found = passed
        while self._was_seen(found) and found.later is not None:
            found = found.later
        while passed is not found:  # the newest stays in the chain: others may follow it
            step, passed.later = passed.later, found
            passed = step or found
        return None if found.seen else found

    def _was_seen(self, passed: _Passed) -> bool:
        passed.seen = passed.seen or self._seen(passed.uid)
        return passed.seen

    def _forget_old(self) -> None:
        now = self._clock()
        while self._ages and self._ages[0].until <= now:
            passed = self._ages.popleft()
            known = self._queues.get(passed.queue)
            if known is not None and known.passed.get(passed.uid) is passed:
                self._forget(passed)

    def _forget(self, passed: _Passed) -> None:
        known = self._queues[passed.queue]
        del known.passed[passed.uid]
        if not known.passed:
            del self._queues[passed.queue]
