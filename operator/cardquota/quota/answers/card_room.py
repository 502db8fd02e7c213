"""One card in a queue: what is held of it, and what would fit now."""

from ..accounts.account_reader import AccountReader
from ..ledger.ledger_reader import LedgerReader
from ..reports.cluster_report import cards_of
from .answer_forms import CardRoom


def card_room(ledger: LedgerReader, account: AccountReader, card: str, *, opened: bool) -> CardRoom:
    """One card now. `opened`: whether the queue takes anything new."""
    row, quota = account.row(card), account.quota.get(card, 0)
    left = max(0, quota - row.charged)
    free = ledger.nodes.free.total(card)
    return CardRoom(
        name=card,
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


def shown_cards(ledger: LedgerReader, account: AccountReader) -> list[str]:
    """The cards that a queue has a quota for, or that are held or asked for there, sorted. A name
    that only waiting pods have made up is left out, as in the status (P8).
    """
    named, made_up = cards_of(ledger, account)
    held = [name for name in made_up if account.row(name).charged]
    return sorted([*named, *held]) if held else named
