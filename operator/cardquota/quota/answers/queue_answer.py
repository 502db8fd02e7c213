"""The answer about one queue: its cards, who holds them, who waits, what would fit now."""

from typing import Final

from ..accounts.account import OUTSIDE
from ..ledger.ledger_reader import LedgerReader
from ..objects.wire import Wire
from ..quantity import cpu_quantity, memory_quantity
from ..steps import Steps
from ..stuck.gated import GateReasons
from ..vocabulary import COMPUTE_RESOURCES, CPU, QueueState
from .card_room import CardRoom, card_room, shown_cards
from .holders import Holder, holders_in
from .waiters import Waiter, waiters_in

CARDS_AT_A_TIME: Final = 64
"""Cards that one step looks at."""


class ResourceRoom(Wire):
    """Cpu or memory of a queue, as quantities."""

    name: str
    allocated: str
    inqueue: str
    requested: str
    quota: str | None = None
    """None: not limited."""
    left: str | None = None
    """Of the quota; None: not limited."""


class QueueAnswer(Wire):
    """One queue at about one moment: on a busy cluster parts of it may be some milliseconds apart.

    Guarantees: at most as many holders and waiters as were asked for, each of bounded size.
    """

    queue: str
    state: str
    fifo: bool
    """Whether no pod passes another that waits for the same card."""
    time: str
    """Of the answer, RFC 3339."""
    cards: tuple[CardRoom, ...]
    resources: tuple[ResourceRoom, ...]
    """Cpu and memory."""
    held_pods: int
    """Pods that are let through or bound."""
    holders: tuple[Holder, ...]
    """Those with the most cards, first."""
    more_holders: int
    waiting_pods: int
    waiters: tuple[Waiter, ...]
    """In the order of release."""
    more_waiters: int
    quota_problem: str = ""
    """Why the stored quota cannot be read, so that an older one is in force (Q4)."""


def queue_answer(
    ledger: LedgerReader,
    queue: str,
    *,
    limit: int,
    time: str,
    volcano_configuration: str = "",
) -> Steps[QueueAnswer | None]:
    """None: there is no such queue. `limit`: holders and waiters to be told, each.
    `volcano_configuration`: as for `GateReasons`.

    Costs by the queue's pods and its different waiting pods, and by one judgement for each waiter
    that is told.
    """
    account = ledger.account(queue) if queue != OUTSIDE else None
    if account is None or account.facts is None:
        return None
    facts, names = account.facts, shown_cards(ledger, account)
    opened = facts.state is QueueState.OPEN
    cards: list[CardRoom] = []
    for first in range(0, len(names), CARDS_AT_A_TIME):
        some = names[first : first + CARDS_AT_A_TIME]
        cards += (card_room(ledger, account, name, opened=opened) for name in some)
        yield
    holders = yield from holders_in(ledger, queue, limit)
    reasons = GateReasons(ledger, volcano_configuration=volcano_configuration)
    waiters = yield from waiters_in(ledger, account, limit, reasons)
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
        resources=tuple(resources),
        held_pods=holders.pods,
        holders=holders.first,
        more_holders=holders.others,
        waiting_pods=waiters.pods,
        waiters=waiters.first,
        more_waiters=waiters.others,
        quota_problem=facts.quota_problem,
    )
