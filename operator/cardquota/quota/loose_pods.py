"""Which pods an event about something else can change: those that no stamp of ours charges."""

from collections.abc import Collection

from .pod_facts import PodFacts


class LoosePods:
    """Uids by what their reading depends on beside their queue and node."""

    def __init__(self) -> None:
        self._by_device: dict[str, set[str]] = {}
        self._by_namespace: dict[str, set[str]] = {}

    def add(self, facts: PodFacts) -> None:
        """A pod without a stamp is charged."""
        self._by_namespace.setdefault(facts.namespace, set()).add(facts.uid)
        for resource, _ in facts.devices:
            self._by_device.setdefault(resource, set()).add(facts.uid)

    def discard(self, facts: PodFacts) -> None:
        """The inverse of `add`; may repeat."""
        _discard(self._by_namespace, facts.namespace, facts.uid)
        for resource, _ in facts.devices:
            _discard(self._by_device, resource, facts.uid)

    def asking_for(self, resource: str) -> Collection[str]:
        """Pods that ask for a resource; changes with them."""
        return self._by_device.get(resource, ())

    def depending_on(self, namespace: str) -> Collection[str]:
        """Pods that may get their queue or their mode from their namespace; changes with them."""
        return self._by_namespace.get(namespace, ())


def _discard(index: dict[str, set[str]], key: str, uid: str) -> None:
    found = index.get(key)
    if found is not None:
        found.discard(uid)
        if not found:
            del index[key]
