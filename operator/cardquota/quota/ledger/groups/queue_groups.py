"""The pod groups of each queue: while there are some it cannot be deleted (Q8)."""

from collections.abc import Collection, Iterator

from .group_facts import GroupFacts


class QueueGroups:
    """By queue, in the order in which they were first seen there. Each event costs a few steps."""

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, None]] = {}
        self._queues: dict[str, str] = {}
        """By key: the queue that it names."""

    def see(self, key: str, facts: GroupFacts | None) -> None:
        """A group is as these facts say; None: it is gone."""
        queue = facts.queue if facts is not None else ""
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
        """`namespace/name` of those that name this queue."""
        return self._keys.get(queue, ())

    def all(self) -> Iterator[tuple[str, str]]:
        """Each group, with the queue that it names."""
        return iter(self._queues.items())
