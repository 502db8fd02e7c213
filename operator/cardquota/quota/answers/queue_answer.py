"""The answer about one queue: its cards, who holds them, who waits, what would fit now (F1).

Without a name it is about what is used outside every queue, and what nodes have free (V5).
"""

from heapq import nsmallest
from typing import Final

from ..accounts.account import OUTSIDE, Account
from ..accounts.account_reader import AccountReader
from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..quantity import cpu_quantity, memory_quantity
from ..reports.cluster_report import cards_of
from ..steps import Steps
from ..vocabulary import COMPUTE_RESOURCES, CPU, QueueState
from .answer_forms import CardRoom, QueueAnswer, ResourceRoom
from .card_amount import told_name
from .holders import holders_in
from .waiting import waiters_in

MOST_CARDS: Final = 100
"""Cards that are told."""


def queue_answer(
    ledger: LedgerReader, queue: str, *, limit: int, time: str
) -> Steps[QueueAnswer | None]:
    """None: there is no such queue. `limit`: holders and waiters to be told, each.

    Costs by the queue's pods, and by one judgement for each waiter that is told.
    """
    account = ledger.account(queue) if queue != OUTSIDE else None
    if account is None or account.facts is None:
        return None
    facts, (named, made_up) = account.facts, cards_of(ledger, account)
    # A name that only waiting pods have made up is left out, as in the status (P8).
    names = [*named, *(name for name in made_up if account.row(name).charged)]
    shown = nsmallest(MOST_CARDS, names, key=lambda name: (-account.row(name).requested, name))
    opened = facts.state is QueueState.OPEN
    cards = [_card(ledger, account, name, opened=opened) for name in sorted(shown)]
    yield
    holders = yield from holders_in(ledger, queue, limit)
    waiters, more_waiters = yield from waiters_in(ledger, account, limit)
    return QueueAnswer(
        queue=queue,
        state=facts.state,
        fifo=facts.fifo,
        time=time,
        cards=tuple(cards),
        more_cards=len(names) - len(shown),
        resources=tuple(_resource(account, name) for name in COMPUTE_RESOURCES),
        held_pods=holders.pods,
        holders=holders.first,
        more_holders=holders.others,
        waiting_pods=len(account.pending),
        waiters=waiters,
        more_waiters=more_waiters,
        quota_problem=facts.quota_problem,
    )


def outside_answer(ledger: LedgerReader, *, limit: int, time: str) -> Steps[QueueAnswer]:
    """In the form of a queue's answer, with an empty name: no quota, so nothing is left of one and
    nothing fits, and nobody waits. The cards are those that a node has, or that are held there.

    Costs by the cards of the cluster and by the pods outside every queue.
    """
    account = ledger.account(OUTSIDE) or Account(OUTSIDE)
    held = (name for name, row in account.rows.items() if is_card(name) and row.charged)
    names = ledger.nodes.totals().keys() | set(held)
    shown = nsmallest(MOST_CARDS, names, key=lambda name: (-account.row(name).charged, name))
    cards = []
    for name in sorted(shown):
        yield
        cards.append(_card(ledger, account, name, opened=False))
    holders = yield from holders_in(ledger, OUTSIDE, limit)
    return QueueAnswer(
        queue=OUTSIDE,
        state=QueueState.OPEN,
        fifo=False,
        time=time,
        cards=tuple(cards),
        more_cards=len(names) - len(shown),
        resources=(),
        held_pods=holders.pods,
        holders=holders.first,
        more_holders=holders.others,
        waiting_pods=0,
        waiters=(),
        more_waiters=0,
    )


def _card(ledger: LedgerReader, account: AccountReader, card: str, *, opened: bool) -> CardRoom:
    """`opened`: whether the queue takes anything new."""
    row, quota, nodes = account.row(card), account.quota.get(card, 0), ledger.nodes
    left, free = max(0, quota - row.charged), nodes.free.total(card)
    return CardRoom(
        name=told_name(card),
        quota=quota,
        allocated=row.allocated,
        inqueue=row.inqueue,
        elastic=row.elastic,
        requested=row.requested,
        left=left,
        allocatable=nodes.total(card),
        free=free,
        most_on_node=nodes.free.most_on_node(card),
        fits=min(left, free) if opened else 0,
    )


def _resource(account: AccountReader, name: str) -> ResourceRoom:
    row, most = account.row(name), account.limit(name)
    text = cpu_quantity if name == CPU else memory_quantity
    return ResourceRoom(
        name=name,
        allocated=text(row.allocated),
        inqueue=text(row.inqueue),
        requested=text(row.requested),
        quota=None if most is None else text(most),
        left=None if most is None else text(max(0, most - row.charged)),
    )
