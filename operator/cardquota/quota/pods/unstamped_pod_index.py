"""The pods without our stamp that an event about another object can change."""

from collections.abc import Collection
from typing import Final

from .pod_facts import PodFacts

_FEW: Final = 4
"""A pod with more devices is not indexed by device. Each name may be unique, with a set of its own:
too much memory for pods with as many devices as they may ask for."""


class UnstampedPodIndex:
    """Uids by what their reading depends on besides their queue and node."""

    def __init__(self) -> None:
        self._by_device: dict[str, set[str]] = {}
        self._of_many: set[str] = set()
        """Pods with more than `_FEW` devices: returned for every resource."""
        self._by_namespace: dict[str, set[str]] = {}

    @property
    def size(self) -> int:
        """Entries: one for each pod and each name that it is found by."""
        found = (*self._by_device.values(), self._of_many, *self._by_namespace.values())
        return sum(map(len, found))

    def add(self, facts: PodFacts) -> None:
        """A pod without a stamp is charged."""
        self._by_namespace.setdefault(facts.namespace, set()).add(facts.uid)
        if len(facts.devices) > _FEW:
            self._of_many.add(facts.uid)
            return
        for resource, _ in facts.devices:
            self._by_device.setdefault(resource, set()).add(facts.uid)

    def discard(self, facts: PodFacts) -> None:
        """The inverse of `add`. May be called again."""
        _discard(self._by_namespace, facts.namespace, facts.uid)
        if len(facts.devices) > _FEW:
            self._of_many.discard(facts.uid)
            return
        for resource, _ in facts.devices:
            _discard(self._by_device, resource, facts.uid)

    def asking_for(self, resource: str) -> Collection[str]:
        """Pods that ask for a resource, and some that may not. May change as pods change."""
        found = self._by_device.get(resource, ())
        return self._of_many.union(found) if self._of_many else found

    def depending_on(self, namespace: str) -> Collection[str]:
        """Pods that may get their queue or mode from their namespace. Changes as pods change."""
        return self._by_namespace.get(namespace, ())


def _discard(index: dict[str, set[str]], key: str, uid: str) -> None:
    found = index.get(key)
    if found is not None:
        found.discard(uid)
        if not found:
            del index[key]
