"""One card in a queue: what is held of it, and what would fit now."""

from heapq import nsmallest
from typing import Final

from ..accounts.account_reader import AccountReader
from ..ledger.ledger_reader import LedgerReader
from ..reports.cluster_report import cards_of
from .answer_forms import CardRoom
from .card_amount import told_name

MOST_CARDS: Final = 100
"""Cards of a queue that are told."""


def card_room(
    ledger: LedgerReader, account: AccountReader, card: str, left: int, *, opened: bool
) -> CardRoom:
    """One card now. `left`: of its quota. `opened`: whether the queue takes anything new."""
    row, quota = account.row(card), account.quota.get(card, 0)
    free = ledger.nodes.free.total(card)
    return CardRoom(
        name=told_name(card),
        quota=quota,
        allocated=row.allocated,
        inqueue=row.inqueue,
        elastic=row.elastic,
        requested=row.requested,
        left=left,
        allocatable=ledger.nodes.total(card),
        free=free,
        most_on_node=ledger.nodes.free.most_on_node(card),
        fits=min(left, free) if opened else 0,
    )


def shown_cards(ledger: LedgerReader, account: AccountReader) -> tuple[list[str], int]:
    """The cards that a queue has a quota for, or that are held or asked for there, sorted; and how
    many more there are. Of very many those that are held or asked for most. A name that only
    waiting pods have made up is left out, as in the status (P8).
    """
    named, made_up = cards_of(ledger, account)
    names = [*named, *(name for name in made_up if account.row(name).charged)]
    more = max(0, len(names) - MOST_CARDS)
    if more:
        busiest = ((-account.row(name).requested, name) for name in names)
        names = [name for _, name in nsmallest(MOST_CARDS, busiest)]
    return sorted(names), more
