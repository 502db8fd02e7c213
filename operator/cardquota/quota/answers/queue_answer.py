"""The answer about one queue: its cards, who holds them, who waits, what would fit now."""

from ..accounts.account import OUTSIDE
from ..ledger.ledger_reader import LedgerReader
from ..quantity import cpu_quantity, memory_quantity
from ..release.starvation import starvation_at
from ..steps import Steps
from ..vocabulary import COMPUTE_RESOURCES, CPU, QueueState
from .answer_forms import QueueAnswer, ResourceRoom
from .card_room import card_room, shown_cards
from .gate_reasons import GateReasons
from .holders import holders_in
from .quota_left import quotas_left
from .waiters import waiters_in


def queue_answer(
    ledger: LedgerReader,
    queue: str,
    *,
    limit: int,
    time: str,
    starvation_wait: float = 0.0,
) -> Steps[QueueAnswer | None]:
    """None: there is no such queue. `limit`: holders and waiters to be told, each.
    `starvation_wait`: seconds; 0: nothing is set aside.

    Costs by the queue's pods and its different waiting pods, and by one judgement for each waiter
    that is told.
    """
    account = ledger.account(queue) if queue != OUTSIDE else None
    if account is None or account.facts is None:
        return None
    facts, (names, more_cards) = account.facts, shown_cards(ledger, account)
    opened = facts.state is QueueState.OPEN
    lefts = yield from quotas_left(account, names)
    cards = [card_room(ledger, account, name, left, opened=opened) for left, name in lefts]
    yield
    holders = yield from holders_in(ledger, queue, limit)
    reasons = GateReasons(ledger)
    waiters = yield from waiters_in(
        ledger, account, limit, reasons, starvation_at(time, starvation_wait)
    )
    resources = []
    for name in COMPUTE_RESOURCES:
        row, most = account.row(name), account.limit(name)
        text = cpu_quantity if name == CPU else memory_quantity
        resources.append(
            ResourceRoom(
                name=name,
                allocated=text(row.allocated),
                inqueue=text(row.inqueue),
                requested=text(row.requested),
                quota=None if most is None else text(most),
                left=None if most is None else text(max(0, most - row.charged)),
            )
        )
    return QueueAnswer(
        queue=queue,
        state=facts.state,
        fifo=facts.fifo,
        time=time,
        cards=tuple(cards),
        more_cards=more_cards,
        resources=tuple(resources),
        held_pods=holders.pods,
        holders=holders.first,
        more_holders=holders.others,
        waiting_pods=waiters.pods,
        waiters=waiters.first,
        more_waiters=waiters.others,
        quota_problem=facts.quota_problem,
    )
