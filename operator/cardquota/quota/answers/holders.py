"""Who holds the cards of a queue: pods that are let through or bound, and reservations."""

from collections import Counter
from collections.abc import Collection
from heapq import nsmallest
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE, AccountReader
from ..amounts import MutableAmounts, is_card
from ..ledger.ledger_reader import LedgerReader
from ..limits import kept_name
from ..pods.pod_record import PodRecord
from ..steps import Steps
from .answer_forms import CardAmount, Holder, card_amounts, told_moment

AT_A_TIME: Final = 256
"""Groups, or holders, that one step looks at."""
MOST_IN_NAMESPACE: Final = 5
"""Workloads of a namespace that are named."""


class Holders(NamedTuple):
    """The first in the order of how much they hold, then by name."""

    first: tuple[Holder, ...]
    others: int
    """How many more there are."""
    pods: int
    """Of all of them."""


class NamespaceHolders(NamedTuple):
    """Who holds some cards of a queue: by name in one namespace, elsewhere as numbers."""

    own: tuple[Holder, ...] = ()
    more: int = 0
    """How many others there are in the namespace."""
    elsewhere: tuple[CardAmount, ...] = ()
    """What is held in other namespaces, reservations of all namespaces included."""


class _HeldByWorkload:
    """What one workload holds, while it is added up."""

    __slots__ = ("cards", "pods", "since", "total")

    def __init__(self) -> None:
        self.cards: MutableAmounts = {}
        self.pods = 0
        self.since = ""
        self.total = 0

    def add(self, card: str, amount: int) -> None:
        """So many cards more."""
        self.cards[card] = self.cards.get(card, 0) + amount
        self.total += amount


_Found = dict[tuple[str, str, str], _HeldByWorkload]
"""By namespace, kind and name."""


def holders_in(ledger: LedgerReader, queue: str, most: int) -> Steps[Holders]:
    """All of a queue. Outside every queue whoever holds no card that is known is left out.

    Costs by the queue's pods, and by the groups for which something is reserved there.
    """
    found: _Found = {}

    def look(record: PodRecord) -> None:
        if record.held and (queue != OUTSIDE or record.charge):
            _add(found, record, [one for one in record.charge if is_card(one[0])])

    yield from ledger.made_pods.each_of(queue, look)
    yield from _add_reserved(found, ledger, queue)
    first = yield from _first(found, most)
    return Holders(first, len(found) - len(first), sum(held.pods for held in found.values()))


def holders_for(
    ledger: LedgerReader, account: AccountReader, namespace: str, cards: Collection[str]
) -> Steps[NamespaceHolders]:
    """Those of these cards. Costs by the queue's pods in that namespace."""
    found: _Found = {}

    def look(record: PodRecord) -> None:
        held = [(card, n) for card, n in record.charge if card in cards and n]
        if record.held and held:
            _add(found, record, held)

    yield from ledger.made_pods.each_in(account.name, namespace, look)
    first = yield from _first(found, MOST_IN_NAMESPACE)
    own = Counter[str]()
    for held in found.values():
        own.update(held.cards)
    elsewhere = [(card, account.row(card).charged - own[card]) for card in cards]
    told = card_amounts((card, amount) for card, amount in elsewhere if amount > 0)
    return NamespaceHolders(first, len(found) - len(first), told)


def _add(found: _Found, record: PodRecord, cards: Collection[tuple[str, int]]) -> None:
    """One pod more of its workload."""
    facts = record.facts
    key = facts.namespace, facts.workload_kind, facts.workload
    held = found.setdefault(key, _HeldByWorkload())
    held.pods += 1
    since = facts.scheduled or facts.created
    held.since = min(held.since, since) if held.since else since
    for card, amount in cards:
        held.add(card, amount)


def _add_reserved(found: _Found, ledger: LedgerReader, queue: str) -> Steps[None]:
    """What groups have reserved and not used (T2). Of a choice of cards it counts as the first."""
    keys = list(ledger.reserved_groups.of(queue))
    for start in range(0, len(keys), AT_A_TIME):
        for key in keys[start : start + AT_A_TIME]:
            group = ledger.groups.get(key)
            for card, amount in group.rest_in(queue) if group is not None else ():
                if is_card(card):
                    namespace, _, name = key.partition("/")
                    of = found.setdefault((namespace, "PodGroup", name), _HeldByWorkload())
                    of.add(card, amount)
        yield


def _first(found: _Found, most: int) -> Steps[tuple[Holder, ...]]:
    """Those who hold the most cards, then by name."""
    everybody = list(found)
    keys: list[tuple[int, tuple[str, str, str]]] = []
    for start in range(0, len(everybody), AT_A_TIME):
        some = everybody[start : start + AT_A_TIME]
        keys = nsmallest(most, [*keys, *((-found[key].total, key) for key in some)])
        yield
    return tuple(
        Holder(
            kind=kind,
            namespace=kept_name(namespace),
            name=kept_name(name),
            pods=held.pods,
            cards=card_amounts(held.cards.items()),
            since=told_moment(held.since),
        )
        for (namespace, kind, name), held in ((key, found[key]) for _, key in keys)
    )
