"""Pods that the mutating review has answered alone: no validating review follows.

A validating review knows the pod's uid, so it can tell when a pod that it admitted is seen. Where
the queue has room for many more pods like this one, that does not matter, and the second call is
saved. It matters again once the queue is nearly full: for a moment, what was answered alone then
counts as not yet seen. Like what was admitted (`recent_admissions`) it is never charged, and nobody
is refused for it: at worst a review waits a moment, or a pod is reviewed twice.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from cardquota.quota.amounts import Amounts, Charge, MutableAmounts

PODS_OF_ROOM: Final = 100
"""The queue must have room for this many more pods like the one that is answered alone: more than
controllers and people create within the moment that a pod takes to be seen."""


@dataclass(slots=True)
class _Answered:
    """What such pods of one queue will hold together."""

    pods: int = 0
    amounts: MutableAmounts = field(default_factory=dict)
    until: float = 0.0
    """When the newest of them is too old."""

    def add(self, charge: Charge, times: int) -> None:
        self.pods += times
        for dimension, amount in charge:
            self.amounts[dimension] = self.amounts.get(dimension, 0) + amount * times


class SingleReviews:
    """What such pods will hold, by queue, each for `lifetime` seconds. So it is bounded by the rate
    of creates, as are the steps of a call: those of pods that are now too old.

    Not known: whether they were created after all. A pod that is reviewed again counts twice.
    """

    def __init__(self, *, lifetime: float, clock: Callable[[], float]) -> None:
        self._lifetime = lifetime
        self._clock = clock
        self._ages: deque[tuple[float, str, Charge]] = deque()
        """Until when, queue, and what it will hold; the oldest first."""
        self._queues: dict[str, _Answered] = {}

    def __len__(self) -> int:
        """Pods that are remembered."""
        return len(self._ages)

    def add(self, queue: str, charge: Charge) -> None:
        """A pod was answered alone."""
        self._forget_old()
        until = self._clock() + self._lifetime
        self._ages.append((until, queue, charge))
        known = self._queues.setdefault(queue, _Answered())
        known.add(charge, 1)
        known.until = until

    def amounts(self, queue: str) -> Amounts:
        """What such pods of a queue will hold together."""
        self._forget_old()
        known = self._queues.get(queue)
        return {} if known is None else dict(known.amounts)

    async def all_old(self, queue: str) -> None:
        """Return once all that are remembered of this queue are too old: they were seen, or were
        never created. Takes at most `lifetime` seconds.
        """
        self._forget_old()
        known = self._queues.get(queue)
        if known is not None:
            await asyncio.sleep(known.until - self._clock())

    def _forget_old(self) -> None:
        now = self._clock()
        while self._ages and self._ages[0][0] <= now:
            _, queue, charge = self._ages.popleft()
            known = self._queues[queue]
            known.add(charge, -1)
            if not known.pods:
                del self._queues[queue]
