"""The answer about one queue: its cards, who holds them, who waits, what would fit now (F1).

Without a name it is about what is used outside every queue, and what nodes have free (V5).
"""

from heapq import nsmallest
from typing import Final

from ..accounts.account import OUTSIDE
from ..ledger.ledger_reader import LedgerReader
from ..reports.queue_report import CardRow, ResourceRow, card_rows, resource_rows
from ..steps import Steps
from ..vocabulary import QueueState
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
    facts, rows = account.facts, card_rows(ledger, account)
    shown = nsmallest(MOST_CARDS, rows, key=lambda row: (-row.requested, row.name))
    opened = facts.state is QueueState.OPEN
    cards = [_card(ledger, row, opened=opened) for row in shown]
    yield
    holders = yield from holders_in(ledger, queue, limit)
    waiters, more_waiters = yield from waiters_in(ledger, account, limit)
    return QueueAnswer(
        queue=queue,
        state=facts.state,
        fifo=facts.fifo,
        time=time,
        cards=tuple(sorted(cards, key=lambda card: card.name)),
        more_cards=len(rows) - len(shown),
        resources=tuple(map(_resource, resource_rows(account))),
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
    account, rows = ledger.account(OUTSIDE), [CardRow(name) for name in ledger.nodes.totals()]
    held = [row for row in card_rows(ledger, account) if row.charged] if account else []
    every = {row.name: row for row in (*rows, *held)}
    yield
    shown = nsmallest(MOST_CARDS, every.values(), key=lambda row: (-row.charged, row.name))
    cards = []
    for row in shown:
        cards.append(_card(ledger, row, opened=False))
        yield
    holders = yield from holders_in(ledger, OUTSIDE, limit)
    return QueueAnswer(
        queue=OUTSIDE,
        state=QueueState.OPEN,
        fifo=False,
        time=time,
        cards=tuple(sorted(cards, key=lambda card: card.name)),
        more_cards=len(every) - len(shown),
        resources=(),
        held_pods=holders.pods,
        holders=holders.first,
        more_holders=holders.others,
        waiting_pods=0,
        waiters=(),
        more_waiters=0,
    )


def _card(ledger: LedgerReader, row: CardRow, *, opened: bool) -> CardRoom:
    """`opened`: whether the queue takes anything new."""
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
        fits=min(left, free) if opened else 0,
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
