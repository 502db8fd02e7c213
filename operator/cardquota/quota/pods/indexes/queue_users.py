"""Whose pods use each queue, those that wait included: it cannot be deleted before them (Q8)."""

from collections.abc import Iterator

from ..pod_record import PodRecord


class _Users:
    """Of one queue."""

    __slots__ = ("namespaces", "pods")

    def __init__(self) -> None:
        self.pods = 0
        self.namespaces: dict[str, dict[str, int]] = {}
        """By namespace and workload: how many pods."""


class QueueUsers:
    """Adding a pod costs a few steps; memory has an entry for each workload. Pods outside every
    queue are left out.
    """

    def __init__(self) -> None:
        self._found: dict[str, _Users] = {}

    def add(self, record: PodRecord) -> None:
        """A pod is of this queue."""
        if not record.queue:
            return
        found = self._found.get(record.queue)
        if found is None:
            found = self._found[record.queue] = _Users()
        found.pods += 1
        namespace, workload = record.facts.namespace, record.facts.workload
        workloads = found.namespaces.get(namespace)
        if workloads is None:
            workloads = found.namespaces[namespace] = {}
        workloads[workload] = workloads.get(workload, 0) + 1

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        if not record.queue:
            return
        found = self._found[record.queue]
        found.pods -= 1
        namespace, workload = record.facts.namespace, record.facts.workload
        workloads = found.namespaces[namespace]
        workloads[workload] -= 1
        if not workloads[workload]:
            del workloads[workload]
        if not workloads:
            del found.namespaces[namespace]
        if not found.pods:
            del self._found[record.queue]

    def pods(self, queue: str) -> int:
        """How many pods use it."""
        found = self._found.get(queue)
        return found.pods if found is not None else 0

    def number(self, queue: str) -> int:
        """How many workloads use it. Costs by their namespaces."""
        found = self._found.get(queue)
        return sum(map(len, found.namespaces.values())) if found is not None else 0

    def has(self, queue: str, namespace: str, workload: str) -> bool:
        """Whether a workload of this name uses it."""
        found = self._found.get(queue)
        return found is not None and workload in found.namespaces.get(namespace, ())

    def names(self, queue: str) -> Iterator[str]:
        """`namespace/name` of the workloads, in no order. Stop before a pod changes."""
        found = self._found.get(queue)
        for namespace, workloads in found.namespaces.items() if found is not None else ():
            for workload in workloads:
                yield f"{namespace}/{workload}"

    def all(self) -> Iterator[tuple[tuple[str, str, str], int]]:
        """How many pods, by queue, namespace and workload. Costs by them all."""
        for queue, found in self._found.items():
            for namespace, workloads in found.namespaces.items():
                for workload, pods in workloads.items():
                    yield (queue, namespace, workload), pods
