"""The answer about one queue: its cards, who holds them, who waits, what would fit now (F1).

Without a name it is about what is used outside every queue, and what nodes have free (V5).
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE, AccountReader
from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..limits import kept_name
from ..pods.pod_record import PodRecord
from ..reports.queue_report import CardRow, ResourceRow, card_rows, resource_rows
from ..steps import Steps
from ..vocabulary import QueueState
from .answer_forms import (
    CardAmount,
    CardRoom,
    Holder,
    QueueAnswer,
    ResourceRoom,
    Waiter,
    card_amounts,
    told_moment,
    told_name,
)
from .waiting import POD_GROUP, waiters_in

MOST_CARDS: Final = 100
"""Cards that are told."""
AT_A_TIME: Final = 256
"""Groups, or holders, that one step looks at."""
MOST_IN_NAMESPACE: Final = 5
"""Workloads of a namespace that are named."""


def queue_answer(
    ledger: LedgerReader, queue: str, *, limit: int, time: str
) -> Steps[QueueAnswer | None]:
    """None: there is no such queue. `limit`: holders and waiters to be told, each.

    Without a name there is no quota, so nothing is left of one and nothing fits, and nobody waits;
    the cards are those that a node has, or that are held outside every queue.

    Costs by the queue's pods, and by one judgement for each waiter that is told.
    """
    account = ledger.account(queue)
    facts = account.facts if account is not None else None
    if queue != OUTSIDE and facts is None:
        return None
    rows = card_rows(ledger, account) if account is not None else ()
    if queue == OUTSIDE:
        held = {row.name: row for row in rows if row.charged}
        rows = tuple(({name: CardRow(name) for name in ledger.nodes.totals()} | held).values())
    opened = facts is not None and facts.state is QueueState.OPEN

    def order(row: CardRow) -> tuple[int, str]:
        return -(row.charged if queue == OUTSIDE else row.requested), row.name

    shown = nsmallest(MOST_CARDS, rows, key=order)
    cards = []
    for row in shown:
        allowed = account.allowed(row.name) if account is not None and opened else None
        cards.append(_card(ledger, row, allowed or 0))
        yield
    holders, more_holders, held_pods = yield from holders_in(ledger, queue, limit)
    waiters: tuple[Waiter, ...] = ()
    resources: tuple[ResourceRow, ...] = ()
    waiting = more_waiters = 0
    if account is not None and facts is not None:
        waiters, more_waiters = yield from waiters_in(ledger, account, limit)
        resources, waiting = resource_rows(account), len(account.pending)
    return QueueAnswer(
        queue=queue,
        state=facts.state if facts is not None else QueueState.OPEN,
        fifo=facts is not None and facts.fifo,
        time=time,
        cards=tuple(sorted(cards, key=lambda card: card.name)),
        more_cards=len(rows) - len(shown),
        resources=tuple(map(_resource, resources)),
        held_pods=held_pods,
        holders=holders,
        more_holders=more_holders,
        waiting_pods=waiting,
        waiters=waiters,
        more_waiters=more_waiters,
        quota_problem=facts.quota_problem if facts is not None else "",
    )


def _card(ledger: LedgerReader, row: CardRow, allowed: int) -> CardRoom:
    """`allowed`: what the queue may hold now; 0 if it takes nothing new."""
    left, nodes = max(0, row.quota - row.charged), ledger.nodes
    free = nodes.free.total(row.name)
    return CardRoom(
        name=told_name(row.name),
        quota=row.quota,
        allocated=row.allocated,
        inqueue=row.inqueue,
        elastic=row.elastic,
        requested=row.requested,
        left=left,
        allocatable=nodes.total(row.name),
        free=free,
        most_on_node=nodes.free.most_on_node(row.name),
        fits=max(0, min(allowed - row.charged, free)),
        deserved=row.deserved,
        borrowed=row.borrowed or 0,
    )


def _resource(row: ResourceRow) -> ResourceRoom:
    return ResourceRoom(
        name=row.name,
        allocated=row.text(row.allocated) or "",
        inqueue=row.text(row.inqueue) or "",
        requested=row.text(row.requested) or "",
        quota=row.text(row.quota),
        left=row.text(row.left),
    )


# --- who holds its cards: pods that are released or bound, and reservations -------------------


class NamespaceHolders(NamedTuple):
    """Who holds some cards of a queue: by name in one namespace, elsewhere as numbers."""

    own: tuple[Holder, ...] = ()
    more: int = 0
    """How many others there are in the namespace."""
    elsewhere: tuple[CardAmount, ...] = ()
    """What is held in other namespaces, reservations of all namespaces included."""


@dataclass(slots=True)
class _HeldByWorkload:
    """What one workload holds, while it is added up."""

    cards: Counter[str] = field(default_factory=Counter)
    pods: int = 0
    since: str = ""


_Found = dict[tuple[str, str, str], _HeldByWorkload]
"""By namespace, kind and name."""


def holders_in(
    ledger: LedgerReader, queue: str, most: int
) -> Steps[tuple[tuple[Holder, ...], int, int]]:
    """Those of a queue who hold most, how many more there are, and the pods of all of them. Outside
    every queue whoever holds no card that is known is left out.

    Costs by the queue's pods, and by the groups for which something is reserved there.
    """
    found: _Found = {}

    def look(record: PodRecord) -> None:
        if record.held and (queue != OUTSIDE or record.charge):
            _add(found, record, [one for one in record.charge if is_card(one[0])])

    yield from ledger.made_pods.each_of(queue, look)
    yield from _add_reserved(found, ledger, queue)
    first = yield from _first(found, most)
    return first, len(found) - len(first), sum(held.pods for held in found.values())


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
        held.cards[card] += amount


def _add_reserved(found: _Found, ledger: LedgerReader, queue: str) -> Steps[None]:
    """What groups have reserved and not used (T2). Of a choice of cards it counts as the first."""
    keys = list(ledger.reserved_groups.of(queue))
    for start in range(0, len(keys), AT_A_TIME):
        for key in keys[start : start + AT_A_TIME]:
            group = ledger.groups.get(key)
            for card, amount in group.rest_in(queue) if group is not None else ():
                if is_card(card):
                    namespace, _, name = key.partition("/")
                    of = found.setdefault((namespace, POD_GROUP, name), _HeldByWorkload())
                    of.cards[card] += amount
        yield


def _first(found: _Found, most: int) -> Steps[tuple[Holder, ...]]:
    """Those who hold the most cards, then by name."""
    everybody = list(found)
    keys: list[tuple[int, tuple[str, str, str]]] = []
    for start in range(0, len(everybody), AT_A_TIME):
        some = everybody[start : start + AT_A_TIME]
        keys = nsmallest(most, [*keys, *((-found[key].cards.total(), key) for key in some)])
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
