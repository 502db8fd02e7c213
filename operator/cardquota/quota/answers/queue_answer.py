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
from .answer_forms import CardRoom, QueueAnswer, ResourceRoom, Waiter, told_name
from .holders import holders_in
from .waiting import waiters_in

MOST_CARDS: Final = 100
"""Cards that are told."""


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
        cards.append(_card(ledger, row, opened=opened))
        yield
    holders = yield from holders_in(ledger, queue, limit)
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
        held_pods=holders.pods,
        holders=holders.first,
        more_holders=holders.others,
        waiting_pods=waiting,
        waiters=waiters,
        more_waiters=more_waiters,
        quota_problem=facts.quota_problem if facts is not None else "",
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
