"""The pod groups of each queue: those that name it (Q8), or that reserve something in it (T2)."""

from collections.abc import Collection, Iterator


class QueueGroups:
    """By queue, in the order in which they were first seen there; each group in one queue. Each
    event costs a few steps.
    """

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, None]] = {}
        self._queues: dict[str, str] = {}
        """By key: its queue."""

    def see(self, key: str, queue: str) -> None:
        """A group is in this queue; empty: in none."""
        before = self._queues.get(key, "")
        if queue == before:
            return
        if before:
            del self._queues[key]
            keys = self._keys[before]
            del keys[key]
            if not keys:
                del self._keys[before]
        if queue:
            self._queues[key] = queue
            self._keys.setdefault(queue, {})[key] = None

    def of(self, queue: str) -> Collection[str]:
        """`namespace/name` of those in this queue."""
        return self._keys.get(queue, ())

    def all(self) -> Iterator[tuple[str, str]]:
        """Each group, with its queue."""
        return iter(self._queues.items())
