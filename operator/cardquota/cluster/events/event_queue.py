"""Events that wait to be written, by namespace."""

import heapq
from collections import OrderedDict, deque
from typing import Final, NamedTuple

from .event import Event

_SLACK: Final = 64
"""Outdated entries that are allowed beyond twice the number of namespaces."""


class _Head(NamedTuple):
    """The oldest event of a namespace."""

    since: float
    number: int
    namespace: str


class EventQueue:
    """At most `size` events. Those of a namespace leave in order, one at a time; namespaces take
    turns.

    Putting, taking and finishing cost the same however many wait. Finding the event to drop costs,
    on average, the logarithm of the number of namespaces.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: dict[str, deque[tuple[int, Event]]] = {}
        """By namespace, numbered in the order of arrival; none is empty."""
        self._ready: OrderedDict[str, None] = OrderedDict()
        """Namespaces with waiting events, none of them being written."""
        self._busy: set[str] = set()
        """Namespaces with an event that is being written."""
        self._failing: set[str] = set()
        """Namespaces known here whose last event failed at its last try."""
        self._oldest: list[_Head] = []
        """A heap. Entries that are no longer the oldest event of their namespace are skipped."""
        self._oldest_failing: list[_Head] = []
        """The same for namespaces whose events fail."""
        self._count = 0
        self._count_failing = 0
        self._numbers = 0

    def __len__(self) -> int:
        """How many events wait."""
        return self._count

    @property
    def namespaces(self) -> int:
        """How many are remembered: those with events that wait, are written, or fail."""
        return len(self._waiting.keys() | self._busy | self._failing)

    @property
    def sound(self) -> int:
        """How many events wait in namespaces whose events do not fail."""
        return self._count - self._count_failing

    def put(self, event: Event) -> bool:
        """Have an event wait. Returns whether another one was dropped for it."""
        full = self._count >= self._size
        if full:
            self._drop_one()
        namespace = event.namespace
        self._numbers += 1
        found = self._waiting.get(namespace)
        if found is None:
            found = self._waiting[namespace] = deque()
            if namespace not in self._busy:
                self._ready[namespace] = None
        found.append((self._numbers, event))
        if len(found) == 1:
            self._note_head(namespace)
        self._count += 1
        self._count_failing += namespace in self._failing
        return full

    def first(self) -> Event | None:
        """The event that `take` would return."""
        return self._waiting[next(iter(self._ready))][0][1] if self._ready else None

    def take(self) -> Event | None:
        """The next event of the namespace whose turn it is. Call `done` after it."""
        if not self._ready:
            return None
        namespace, _ = self._ready.popitem(last=False)
        self._busy.add(namespace)
        return self._pop(namespace)

    def tried(self, namespace: str, *, taken: bool) -> None:
        """Note the result of the last try to write an event of a namespace."""
        if taken is (namespace not in self._failing):
            return
        waiting = len(self._waiting.get(namespace, ()))
        if taken:
            self._failing.discard(namespace)
            self._count_failing -= waiting
        else:
            self._failing.add(namespace)
            self._count_failing += waiting
            if waiting:
                self._note(self._oldest_failing, namespace)

    def done(self, namespace: str) -> None:
        """The event that was taken from this namespace is written, or lost."""
        self._busy.discard(namespace)
        if namespace in self._waiting:
            self._ready[namespace] = None
        else:
            self._failing.discard(namespace)

    def _pop(self, namespace: str) -> Event:
        found = self._waiting[namespace]
        _, event = found.popleft()
        self._count -= 1
        self._count_failing -= namespace in self._failing
        if found:
            self._note_head(namespace)
        else:
            del self._waiting[namespace]
        return event

    def _note_head(self, namespace: str) -> None:
        self._note(self._oldest, namespace)
        if namespace in self._failing:
            self._note(self._oldest_failing, namespace)

    def _note(self, heap: list[_Head], namespace: str) -> None:
        heapq.heappush(heap, self._head(namespace))
        if len(heap) > 2 * len(self._waiting) + _SLACK:
            # Events that are written leave their entries here.
            failing = heap is self._oldest_failing
            heap[:] = [self._head(n) for n in self._waiting if not failing or n in self._failing]
            heapq.heapify(heap)

    def _head(self, namespace: str) -> _Head:
        number, event = self._waiting[namespace][0]
        return _Head(event.since, number, namespace)

    def _drop_one(self) -> None:
        """Drop the oldest event of a namespace whose events fail, else the oldest of all."""
        namespace = self._oldest_in(self._oldest_failing, failing=True) or self._oldest_in(
            self._oldest, failing=False
        )
        self._pop(namespace)
        if namespace not in self._waiting and namespace not in self._busy:
            del self._ready[namespace]
            self._failing.discard(namespace)

    def _oldest_in(self, heap: list[_Head], *, failing: bool) -> str:
        """The namespace with the oldest event; empty if there is none."""
        while heap:
            _, number, namespace = heap[0]
            found = self._waiting.get(namespace)
            if found and found[0][0] == number and (not failing or namespace in self._failing):
                return namespace
            heapq.heappop(heap)
        return ""
