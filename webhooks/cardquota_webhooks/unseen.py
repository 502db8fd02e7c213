"""Pods that were let by a moment ago and have not shown up in the ledger yet.

A refusal counts only pods that have been seen, so these are never charged. They are known here for
one purpose: where they would turn a yes into a no, the review waits a moment for them to show up.
"""

from collections import deque
from collections.abc import Callable, Collection
from typing import NamedTuple

from cardquota.quota.stamp import Charge


class _Passed(NamedTuple):
    until: float
    charge: Charge


class Unseen:
    """Remembers each pod for `lifetime` seconds at most, so it is bounded by the create rate.

    A review costs in proportion to those of its own queue, and to those that are too old by now.
    """

    def __init__(
        self, seen: Callable[[str], bool], *, lifetime: float, clock: Callable[[], float]
    ) -> None:
        self._seen = seen
        self._lifetime = lifetime
        self._clock = clock
        self._ages: deque[tuple[float, str, str]] = deque()
        """When they are too old, queue and uid, in that order; also of those seen since."""
        self._queues: dict[str, dict[str, _Passed]] = {}
        """By queue and uid."""

    def add(self, uid: str, queue: str, charge: Charge) -> None:
        """A pod was let by."""
        self._forget_old()
        if uid and not self._seen(uid):
            until = self._clock() + self._lifetime
            self._ages.append((until, queue, uid))
            self._queues.setdefault(queue, {})[uid] = _Passed(until, charge)

    def of(self, queue: str, but: str) -> Collection[str]:
        """Uids let by into a queue and not seen, except one."""
        self._forget_old()
        for uid in [uid for uid in self._queues.get(queue, ()) if self._seen(uid)]:
            self._forget(queue, uid)
        return [uid for uid in self._queues.get(queue, ()) if uid != but]

    def amounts(self, queue: str, uids: Collection[str]) -> dict[str, int]:
        """What these pods would be charged together, as far as they are remembered."""
        passed = self._queues.get(queue, {})
        total: dict[str, int] = {}
        for uid in uids:
            for dimension, amount in passed[uid].charge if uid in passed else ():
                total[dimension] = total.get(dimension, 0) + amount
        return total

    def _forget_old(self) -> None:
        now = self._clock()
        while self._ages and self._ages[0][0] <= now:
            until, queue, uid = self._ages.popleft()
            passed = self._queues.get(queue, {}).get(uid)
            if passed is not None and passed.until <= until:  # else it was let by once more
                self._forget(queue, uid)

    def _forget(self, queue: str, uid: str) -> None:
        passed = self._queues[queue]
        del passed[uid]
        if not passed:
            del self._queues[queue]
