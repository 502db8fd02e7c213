"""What is odd in the quota of a queue that is written: told, never refused.

A card that no node has may be a typing error, or a pool scaled to zero; a quota above the cluster
may be wanted (Q3), and so may one below what is in use (Q7). So each is a Warning, and only for
rows that this write adds, changes or takes out: whoever meant it is not told again with each write.
"""

from collections.abc import Callable
from itertools import chain, islice

from ..amounts import NO_AMOUNTS, Amounts
from ..cards.card import can_exist
from ..close_names import close_names
from ..ledger.ledger_reader import LedgerReader
from ..messages import queue_write_messages
from ..words import MOST_LISTED


def doubts_about_rows(
    ledger: LedgerReader,
    queue: str,
    quota: Amounts,
    before: Amounts = NO_AMOUNTS,
    *,
    meant: Callable[[str], str],
) -> tuple[str, ...]:
    """At most five Warnings, then how many are left out. First what is in use, then cards that no
    node has, then what is above the cluster.

    `before`: the quota that is replaced. `meant`: which known card was probably meant. Costs a
    microsecond for each row of both, and those.
    """
    changed = {card: amount for card, amount in quota.items() if before.get(card) != amount}
    lowered = {card: quota.get(card, 0) for card in before if quota.get(card, 0) < before[card]}
    unknown = [card for card in changed if not ledger.nodes.has(card) and can_exist(card)]
    in_use = _below_use(ledger, queue, lowered)
    above = _above_cluster(ledger, changed)
    told = chain(
        (queue_write_messages.row_below_use(*one) for one in in_use),
        (queue_write_messages.row_of_no_node(card, meant=meant(card)) for card in unknown),
        (queue_write_messages.row_above_cluster(*one) for one in above),
    )
    more = len(in_use) + len(unknown) + len(above) - MOST_LISTED
    rest = (queue_write_messages.more_rows(more),) if more > 0 else ()
    return (*islice(told, MOST_LISTED), *rest)


def suggestions(ledger: LedgerReader) -> Callable[[str], str]:
    """Which known card was probably meant, in the Warnings of one write: empty if none is close, or
    if five were looked for.
    """
    left = iter(range(MOST_LISTED))
    return lambda card: known_card_meant(ledger, card) if next(left, None) is not None else ""


def known_card_meant(ledger: LedgerReader, card: str) -> str:
    """The closest card that is known: a node has it or had it, or a pod has held it and some quota
    has a row for it. Empty if none is close, or if the card is known itself: then its pool is at
    zero.
    """
    catalog = ledger.catalog
    if catalog.resource(card) is not None:
        return ""
    close = close_names(card, catalog.names, cards=True)
    known = (one for one in close if catalog.card(one) is not None or ledger.in_any_quota(one))
    return next(known, "")


def _below_use(
    ledger: LedgerReader, queue: str, lowered: Amounts
) -> list[tuple[str, int, int, int]]:
    account = ledger.account(queue)
    if account is None:
        return []
    rows = ((card, amount, account.row(card)) for card, amount in lowered.items())
    return [(card, n, row.allocated, row.inqueue) for card, n, row in rows if row.charged > n]


def _above_cluster(ledger: LedgerReader, changed: Amounts) -> list[tuple[str, int, int]]:
    rows = ((card, amount, ledger.nodes.total(card)) for card, amount in changed.items())
    return [(card, amount, total) for card, amount, total in rows if 0 < total < amount]
