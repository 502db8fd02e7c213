"""One card in a queue: what is held of it, and what would fit now."""

from ..accounts.account_reader import AccountReader
from ..ledger.ledger_reader import LedgerReader
from ..objects.wire import Wire
from ..reports.cluster_report import cards_of


class CardRoom(Wire):
    """All amounts are cards. The first five are those of the queue's status."""

    name: str
    quota: int
    allocated: int
    inqueue: int
    elastic: int
    requested: int
    left: int
    """Of the quota. 0 also where the queue is over it."""
    allocatable: int
    """What nodes offer now, in use or not."""
    free: int
    """Free on nodes that take pods, less what pods will take that are let through already."""
    most_on_node: int
    """The most that one of these nodes has free, once those pods have filled nodes tightly."""
    fits: int
    """What would fit now: the smaller of `left` and `free`. 0 if the queue takes nothing new."""


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
