"""Whose pods use each queue, and who holds its cards, by namespace and workload."""

from collections.abc import Iterator
from heapq import nsmallest
from typing import Final

from ..amounts import is_card
from .pod_record import PodRecord


class _Users:
    """Of one queue."""

    __slots__ = ("namespaces", "pods")

    def __init__(self) -> None:
        self.pods = 0
        self.namespaces: dict[str, dict[str, int]] = {}
        """By namespace and workload: how many pods."""


class QueueUsers:
    """Whose pods use each queue, those that wait included: it cannot be deleted before them (Q8).

    Adding a pod costs a few steps; memory has an entry for each workload. Pods outside every
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


class CardHolders:
    """Which workloads of one namespace hold how much of one card of one queue. Workloads of
    different kinds with one name count as one.
    """

    __slots__ = ("_most", "amounts", "total")

    def __init__(self) -> None:
        self._most: dict[int, list[tuple[str, int]]] = {}
        """What was asked for since the last change: many are told the same at once."""
        self.total = 0
        """Cards that all of them hold."""
        self.amounts: dict[str, int] = {}
        """Cards by workload, to be read."""

    def __len__(self) -> int:
        return len(self.amounts)

    def add(self, workload: str, amount: int) -> None:
        """The workload holds so many more cards; fewer, if `amount` is negative."""
        self._most.clear()
        self.total += amount
        after = self.amounts.get(workload, 0) + amount
        if after:
            self.amounts[workload] = after
        else:
            self.amounts.pop(workload, None)

    def most(self, number: int) -> list[tuple[str, int]]:
        """So many workloads that hold most, with what they hold; equal ones in the order of their
        names. Costs by them all: 10 ms of 30,000, once after each change.
        """
        if number not in self._most:
            held = self.amounts.items()
            self._most[number] = nsmallest(number, held, key=lambda one: (-one[1], one[0]))
        return self._most[number]


_NONE: Final = CardHolders()


class _QueueCard:
    """One card of one queue."""

    __slots__ = ("namespaces", "total")

    def __init__(self) -> None:
        self.namespaces: dict[str, CardHolders] = {}
        self.total = 0


class HeldCards:
    """What pods hold that are let through or bound (section 6): per queue and card what `allocated`
    and `inqueue` have, but for reservations.

    Adding a pod costs by its own cards. Pods outside every queue are left out.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], _QueueCard] = {}
        """By queue and card."""

    def add(self, record: PodRecord) -> None:
        """A pod is charged to its queue."""
        self._count(record, 1)

    def discard(self, record: PodRecord) -> None:
        """The inverse of `add`. Call it before anything of the pod changes."""
        self._count(record, -1)

    def total(self, queue: str, card: str) -> int:
        """Cards that pods of all namespaces hold."""
        found = self._found.get((queue, card))
        return found.total if found is not None else 0

    def within(self, queue: str, card: str, namespace: str) -> CardHolders:
        """Who holds the card in this namespace. To be read at once: it changes with the pods."""
        found = self._found.get((queue, card))
        return found.namespaces.get(namespace, _NONE) if found is not None else _NONE

    def all(self) -> Iterator[tuple[tuple[str, str, str, str], int]]:
        """Each amount, by queue, card, namespace and workload. Costs by them all."""
        for (queue, card), found in self._found.items():
            for namespace, holders in found.namespaces.items():
                for workload, amount in holders.amounts.items():
                    yield (queue, card, namespace, workload), amount

    def _count(self, record: PodRecord, sign: int) -> None:
        if not record.queue or not record.held:
            return
        facts = record.facts
        for dimension, amount in record.charge:
            if amount and is_card(dimension):
                key = record.queue, dimension
                found = self._found.get(key)
                if found is None:
                    found = self._found[key] = _QueueCard()
                holders = found.namespaces.get(facts.namespace)
                if holders is None:
                    holders = found.namespaces[facts.namespace] = CardHolders()
                holders.add(facts.workload, sign * amount)
                found.total += sign * amount
                if not holders:
                    del found.namespaces[facts.namespace]
                    if not found.namespaces:
                        del self._found[key]
