"""The answer about what is used outside every queue, and what nodes have free (F1, V5)."""

from heapq import nsmallest

from ..accounts.account import OUTSIDE, Account
from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..steps import Steps
from ..vocabulary import QueueState
from .answer_forms import QueueAnswer
from .card_room import MOST_CARDS, card_room
from .holders import holders_in


def outside_answer(ledger: LedgerReader, *, limit: int, time: str) -> Steps[QueueAnswer]:
    """In the form of a queue's answer, with an empty name: no quota, so nothing is left of one and
    nothing fits, and nobody waits. `limit`: holders to be told. The cards are those that a node
    has, or that are held there; of very many those that are held most, then by name.

    Costs by the cards of the cluster and by the pods outside every queue.
    """
    account = ledger.account(OUTSIDE) or Account(OUTSIDE)
    held = (name for name, row in account.rows.items() if is_card(name) and row.charged)
    names = ledger.nodes.totals().keys() | set(held)
    yield
    most = nsmallest(MOST_CARDS, ((-account.row(name).charged, name) for name in names))
    cards = []
    for _, name in most:
        cards.append(card_room(ledger, account, name, 0, opened=False))
        yield
    holders = yield from holders_in(ledger, OUTSIDE, limit)
    return QueueAnswer(
        queue=OUTSIDE,
        state=QueueState.OPEN,
        fifo=False,
        time=time,
        cards=tuple(sorted(cards, key=lambda card: card.name)),
        more_cards=len(names) - len(most),
        resources=(),
        held_pods=holders.pods,
        holders=holders.first,
        more_holders=holders.others,
        waiting_pods=0,
        waiters=(),
        more_waiters=0,
    )
