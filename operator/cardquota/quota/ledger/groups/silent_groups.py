"""Pod groups that say nothing of what they will ask for: who is to be looked at when a queue opens,
closes or admits others, or a namespace changes its mode (E1).
"""

from collections.abc import Collection

from .group_facts import GroupFacts


class SilentGroups:
    """By queue and by namespace. Each event costs the groups that it returns."""

    def __init__(self) -> None:
        self._by_queue: dict[str, set[str]] = {}
        self._by_namespace: dict[str, set[str]] = {}
        self._places: dict[str, tuple[str, str]] = {}
        """By key: the queue and the namespace under which it stands."""

    def see(self, key: str, facts: GroupFacts | None) -> None:
        """A group is as these facts say; None: it is gone."""
        silent = facts is not None and facts.queue and not facts.request
        place = (facts.queue, facts.namespace) if facts is not None and silent else None
        before = self._places.get(key)
        if place == before:
            return
        if before is not None:
            del self._places[key]
            _take_out(self._by_queue, before[0], key)
            _take_out(self._by_namespace, before[1], key)
        if place is not None:
            self._places[key] = place
            self._by_queue.setdefault(place[0], set()).add(key)
            self._by_namespace.setdefault(place[1], set()).add(key)

    def in_queue(self, queue: str) -> Collection[str]:
        """Keys of those that name this queue."""
        return self._by_queue.get(queue, ())

    def in_namespace(self, namespace: str) -> Collection[str]:
        """Keys of those in this namespace."""
        return self._by_namespace.get(namespace, ())


def _take_out(keys: dict[str, set[str]], name: str, key: str) -> None:
    keys[name].discard(key)
    if not keys[name]:
        del keys[name]
