"""What is remembered of workloads for a while, by queue."""

from collections.abc import Callable, Mapping
from typing import Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")

MOST_OF_QUEUE: Final = 64
"""Workloads. Then the one that was remembered first is forgotten."""


class _Entry(NamedTuple, Generic[T]):
    queue: str
    thing: T
    until: float


class Remembered(Generic[T]):
    """One thing of each workload, for some seconds. One queue's workloads crowd out no other's.

    It is for queues that exist: whoever makes up names of queues would make it grow.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        """`clock`: seconds, monotonic."""
        self._seconds = seconds
        self._clock = clock
        self._found: dict[str, _Entry[T]] = {}
        """By uid, the oldest first."""
        self._by_queue: dict[str, dict[str, T]] = {}
        """The same."""

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, uid: str) -> bool:
        self._forget_old()
        return uid in self._found

    def get(self, uid: str) -> T | None:
        """What is remembered of this workload."""
        self._forget_old()
        found = self._found.get(uid)
        return found.thing if found is not None else None

    def of_queue(self, queue: str) -> Mapping[str, T]:
        """By uid, the oldest first. Good until the next call."""
        self._forget_old()
        return self._by_queue.get(queue, {})

    def put(self, queue: str, uid: str, thing: T) -> None:
        """Remember it from now on, in place of what was remembered of this workload."""
        self._forget_old()
        self.drop(uid)
        of_queue = self._by_queue.get(queue, {})
        if len(of_queue) >= MOST_OF_QUEUE:
            self.drop(next(iter(of_queue)))
        self._found[uid] = _Entry(queue, thing, self._clock() + self._seconds)
        self._by_queue.setdefault(queue, {})[uid] = thing

    def drop(self, uid: str) -> None:
        """Forget it, if it is known."""
        found = self._found.pop(uid, None)
        if found is None:
            return
        of_queue = self._by_queue[found.queue]
        del of_queue[uid]
        if not of_queue:
            del self._by_queue[found.queue]

    def _forget_old(self) -> None:
        now = self._clock()
        while self._found:
            uid, oldest = next(iter(self._found.items()))
            if oldest.until > now:
                return
            self.drop(uid)
