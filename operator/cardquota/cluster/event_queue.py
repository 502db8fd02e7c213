"""Events that wait to be written, namespace by namespace."""

from collections import deque

from .event import Event


class EventQueue:
    """At most `size` events. Those of a namespace leave in order, one at a time; the namespaces by
    turns.

    What is put in, taken and done costs the same however many wait. Dropping looks at the oldest
    of each namespace.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: dict[str, deque[Event]] = {}
        """By namespace; none is empty."""
        self._ready: deque[str] = deque()
        """Namespaces with waiting events, none of which is being written."""
        self._busy: set[str] = set()
        """Namespaces of which an event is being written."""
        self._failing: set[str] = set()
        """Namespaces whose last event was not taken at its last try; only of those known here."""
        self._count = 0

    def __len__(self) -> int:
        """How many wait."""
        return self._count

    def put(self, event: Event) -> bool:
        """Have an event wait; whether another one had to go for it."""
        full = self._count >= self._size
        if full:
            self._drop_one()
        namespace = event.namespace
        found = self._waiting.get(namespace)
        if found is None:
            found = self._waiting[namespace] = deque()
            if namespace not in self._busy:
                self._ready.append(namespace)
        found.append(event)
        self._count += 1
        return full

    def first(self) -> Event | None:
        """The event that `take` would give."""
        return self._waiting[self._ready[0]][0] if self._ready else None

    def take(self) -> Event | None:
        """The next event of the namespace whose turn it is; to be followed by `done`."""
        if not self._ready:
            return None
        namespace = self._ready.popleft()
        self._busy.add(namespace)
        return self._pop(namespace)

    def tried(self, namespace: str, *, taken: bool) -> None:
        """How the last try to write an event of a namespace went."""
        if taken:
            self._failing.discard(namespace)
        else:
            self._failing.add(namespace)

    def done(self, namespace: str) -> None:
        """The event that was taken of this namespace is written, or lost."""
        self._busy.discard(namespace)
        if namespace in self._waiting:
            self._ready.append(namespace)
        else:
            self._failing.discard(namespace)

    def _pop(self, namespace: str) -> Event:
        found = self._waiting[namespace]
        event = found.popleft()
        self._count -= 1
        if not found:
            del self._waiting[namespace]
        return event

    def _drop_one(self) -> None:
        """The oldest of a namespace whose events fail, or else the oldest."""
        among = [name for name in self._failing if name in self._waiting] or self._waiting
        namespace = min(among, key=lambda name: self._waiting[name][0].since)
        self._pop(namespace)
        if namespace not in self._waiting and namespace not in self._busy:
            self._ready.remove(namespace)
            self._failing.discard(namespace)
