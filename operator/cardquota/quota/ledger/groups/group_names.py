"""The names of pod groups, by namespace: to find the group that a pod meant."""

from ...names.known_names import KnownNames


class GroupNames:
    """Kept up to date as groups come and go, in some ten microseconds each."""

    def __init__(self) -> None:
        self._by_namespace: dict[str, KnownNames] = {}

    def see(self, key: str, *, exists: bool) -> None:
        """A group was added or changed, or is gone. `key`: `namespace/name`."""
        namespace, _, name = key.partition("/")
        names = self._by_namespace.get(namespace)
        if exists:
            if names is None:
                names = self._by_namespace[namespace] = KnownNames()
            names.add(name)
        elif names is not None:
            names.discard(name)
            if not names:
                del self._by_namespace[namespace]

    def near(self, key: str) -> tuple[str, ...]:
        """Names of groups of the same namespace that are near to the one of this key, the nearest
        first.
        """
        namespace, _, name = key.partition("/")
        names = self._by_namespace.get(namespace)
        return tuple(one.name for one in names.near(name)) if names is not None else ()
