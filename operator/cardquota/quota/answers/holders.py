"""Who holds the cards of a queue: pods that are let through or bound, and reservations."""

from collections import Counter
from heapq import nsmallest
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE
from ..amounts import MutableAmounts, is_card
from ..ledger.ledger_reader import LedgerReader
from ..limits import kept_name
from ..pods.pod_record import PodRecord
from ..steps import Steps
from .answer_forms import Holder
from .card_amount import card_amounts, told_moment

AT_A_TIME: Final = 256
"""Groups, or holders, that one step looks at."""


class Holders(NamedTuple):
    """The first in the order of how much they hold."""

    first: tuple[Holder, ...]
    others: int
    """How many more there are."""
    pods: int
    """Of all of them."""


HolderKey = tuple[str, str, str]
"""Namespace, kind and name."""


class HeldByWorkload:
    """What one workload holds, while it is added up."""

    __slots__ = ("cards", "pods", "since", "total")

    def __init__(self) -> None:
        self.cards: MutableAmounts = {}
        self.pods = 0
        self.since = ""
        self.total = 0

    @classmethod
    def of(cls, record: PodRecord, found: dict[HolderKey, "HeldByWorkload"]) -> "HeldByWorkload":
        """That of the pod's workload, with one pod more."""
        facts = record.facts
        key = facts.namespace, facts.workload_kind, facts.workload
        held = found.setdefault(key, cls())
        held.pods += 1
        since = facts.scheduled or facts.created
        held.since = min(held.since, since) if held.since else since
        return held

    def add(self, card: str, amount: int) -> None:
        """So many cards more."""
        self.cards[card] = self.cards.get(card, 0) + amount
        self.total += amount


def holders_in(ledger: LedgerReader, queue: str, most: int) -> Steps[Holders]:
    """Those who hold the most cards first, then by name. Who holds cpu and memory alone comes last.
    Outside every queue whoever holds no card that is known is left out, as in `outside_use`.

    Costs by the queue's pods, and by the groups for which something is reserved there.
    """
    found: dict[HolderKey, HeldByWorkload] = {}

    def look(record: PodRecord) -> None:
        if not record.held or (queue == OUTSIDE and not record.charge):
            return
        held = HeldByWorkload.of(record, found)
        for dimension, amount in record.charge:
            if is_card(dimension):
                held.add(dimension, amount)

    yield from ledger.made_pods.each_of(queue, look)
    yield from _reserved(ledger, queue, found)
    first = yield from first_holders(found, most)
    pods = sum(held.pods for held in found.values())
    return Holders(first, len(found) - len(first), pods)


def first_holders(found: dict[HolderKey, HeldByWorkload], most: int) -> Steps[tuple[Holder, ...]]:
    """Those who hold the most cards first, then by name."""
    everybody = list(found)
    keys: list[tuple[int, HolderKey]] = []
    for start in range(0, len(everybody), AT_A_TIME):
        some = everybody[start : start + AT_A_TIME]
        keys = nsmallest(most, [*keys, *((-found[key].total, key) for key in some)])
        yield
    first = [(key, found[key]) for _, key in keys]
    return tuple(
        Holder(
            kind=kind,
            namespace=kept_name(namespace),
            name=kept_name(name),
            pods=held.pods,
            cards=card_amounts(held.cards.items()),
            since=told_moment(held.since),
        )
        for (namespace, kind, name), held in first
    )


def _reserved(
    ledger: LedgerReader, queue: str, found: dict[HolderKey, HeldByWorkload]
) -> Steps[None]:
    keys = list(ledger.reserved_groups.of(queue))
    for first in range(0, len(keys), AT_A_TIME):
        for key in keys[first : first + AT_A_TIME]:
            group = ledger.groups.get(key)
            rest = group.rest_in(queue) if group is not None else ()
            amounts = Counter[str]()
            for dimension, amount in rest:
                if is_card(dimension):
                    amounts[dimension] += amount
            if amounts:
                namespace, _, name = key.partition("/")
                held = found.setdefault((namespace, "PodGroup", name), HeldByWorkload())
                for card, amount in amounts.items():
                    held.add(card, amount)
        yield
