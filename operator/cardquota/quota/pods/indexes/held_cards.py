"""Who holds the cards of each queue, by namespace and workload."""

from collections.abc import Iterator
from typing import Final

from ...amounts import is_card
from ..pod_record import PodRecord
from .card_holders import CardHolders

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
