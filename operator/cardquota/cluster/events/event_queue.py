"""Events that wait to be written, by namespace."""

from collections import OrderedDict, deque

from .event import Event


class EventQueue:
    """At most `size` events. Those of a namespace leave in order, one at a time; namespaces take
    turns.

    Putting, taking and finishing cost the same however many wait. Putting one into a full queue
    drops another one, and costs a step for each namespace.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: dict[str, deque[Event]] = {}
        """By namespace, in the order of arrival; none is empty."""
        self._ready: OrderedDict[str, None] = OrderedDict()
        """Namespaces with waiting events, none of them being written."""
        self._busy: set[str] = set()
        """Namespaces with an event that is being written."""
        self._failing: set[str] = set()
        """Namespaces known here whose last event failed at its last try."""
        self._count = 0

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
        return self._count - sum(len(self._waiting.get(name, ())) for name in self._failing)

    def put(self, event: Event) -> bool:
        """Have an event wait. Returns whether another one was dropped for it."""
        full = self._count >= self._size
        if full:
            self._drop_one()
        namespace = event.namespace
        if namespace not in self._waiting:
            self._waiting[namespace] = deque()
            if namespace not in self._busy:
                self._ready[namespace] = None
        self._waiting[namespace].append(event)
        self._count += 1
        return full

    def first(self) -> Event | None:
        """The event that `take` would return."""
        return self._waiting[next(iter(self._ready))][0] if self._ready else None

    def take(self) -> Event | None:
        """The next event of the namespace whose turn it is. Call `done` after it."""
        if not self._ready:
            return None
        namespace, _ = self._ready.popitem(last=False)
        self._busy.add(namespace)
        return self._pop(namespace)

    def tried(self, namespace: str, *, taken: bool) -> None:
        """Note the result of the last try to write an event of a namespace."""
        if taken:
            self._failing.discard(namespace)
        else:
            self._failing.add(namespace)

    def done(self, namespace: str) -> None:
        """The event that was taken from this namespace is written, or lost."""
        self._busy.discard(namespace)
        if namespace in self._waiting:
            self._ready[namespace] = None
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
        """Drop the oldest event of the namespace with the most: of one whose events fail, if there
        is any.
        """
        failing = [name for name in self._failing if name in self._waiting]
        namespace = max(failing or self._waiting, key=lambda name: len(self._waiting[name]))
        self._pop(namespace)
        if namespace not in self._waiting and namespace not in self._busy:
            del self._ready[namespace]
            self._failing.discard(namespace)
