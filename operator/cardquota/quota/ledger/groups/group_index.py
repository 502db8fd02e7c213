"""Pod groups by one thing that each of them has: the queue that it names, say."""

from collections.abc import Collection, Iterator


class GroupIndex:
    """In the order in which they were first seen there; each group in one place. Each event costs a
    few steps.
    """

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, None]] = {}
        self._where: dict[str, str] = {}
        """By key of a group: where it is."""

    def see(self, key: str, where: str) -> None:
        """A group, by its `namespace/name`, is there now; empty: nowhere."""
        before = self._where.get(key, "")
        if where == before:
            return
        if before:
            del self._where[key]
            keys = self._keys[before]
            del keys[key]
            if not keys:
                del self._keys[before]
        if where:
            self._where[key] = where
            self._keys.setdefault(where, {})[key] = None

    def of(self, where: str) -> Collection[str]:
        """`namespace/name` of those that are there."""
        return self._keys.get(where, ())

    def all(self) -> Iterator[tuple[str, str]]:
        """Each group, with where it is."""
        return iter(self._where.items())
