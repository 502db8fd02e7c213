"""Pods that were let by a moment ago and have not shown up in the ledger yet.

A refusal counts only pods that have been seen, so these are never charged. They are known here for
one purpose: where they would turn a yes into a no, the review waits a moment for them to show up.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from cardquota.quota.stamp import Charge


@dataclass(slots=True, frozen=True)
class _Passed:
    queue: str
    charge: Charge
    until: float


class Unseen:
    """Remembers each pod for `lifetime` seconds at most, so it is bounded by the create rate."""

    def __init__(
        self, seen: Callable[[str], bool], *, lifetime: float, clock: Callable[[], float]
    ) -> None:
        self._seen = seen
        self._lifetime = lifetime
        self._clock = clock
        self._passed: dict[str, _Passed] = {}

    def add(self, uid: str, queue: str, charge: Charge) -> None:
        """A pod was let by."""
        self._forget_old()
        if uid and not self._seen(uid):
            self._passed[uid] = _Passed(queue, charge, self._clock() + self._lifetime)

    def of(self, queue: str, but: str) -> Collection[str]:
        """Uids let by into a queue and not seen, except one."""
        self._forget_old()
        return [uid for uid, passed in self._passed.items() if passed.queue == queue and uid != but]

    def amounts(self, uids: Collection[str]) -> dict[str, int]:
        """What these pods would be charged together."""
        total: dict[str, int] = {}
        for uid in uids:
            for dimension, amount in self._passed[uid].charge if uid in self._passed else ():
                total[dimension] = total.get(dimension, 0) + amount
        return total

    def _forget_old(self) -> None:
        """Drop those that have been seen or are too old; they stand in order of age."""
        now = self._clock()
        for uid in list(self._passed):
            if self._seen(uid) or self._passed[uid].until <= now:
                del self._passed[uid]
