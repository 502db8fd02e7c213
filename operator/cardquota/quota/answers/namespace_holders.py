"""Who holds the cards that something waits for, as far as its own namespace may know."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from ..accounts.account_reader import AccountReader
from ..amounts import MutableAmounts
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_record import PodRecord
from ..steps import Steps
from .answer_forms import CardAmount, Holder
from .card_amount import card_amounts
from .holders import HeldByWorkload, first_holders

MOST_HOLDERS: Final = 5
"""Workloads that are named."""


class NamespaceHolders(NamedTuple):
    """By name in the namespace that asks, elsewhere as numbers."""

    own: tuple[Holder, ...]
    """The workloads of the namespace that hold most of these cards, with these cards alone."""
    more: int
    """How many others there are in it."""
    elsewhere: tuple[CardAmount, ...]
    """What is held in other namespaces, reservations of all namespaces included."""


def holders_for(
    ledger: LedgerReader, account: AccountReader, namespace: str, cards: Sequence[str]
) -> Steps[NamespaceHolders]:
    """Costs by the queue's pods in that namespace."""
    found: dict[tuple[str, str, str], HeldByWorkload] = {}
    own: MutableAmounts = {}

    def look(record: PodRecord) -> None:
        amounts = [(card, n) for card, n in record.charge if card in cards and n]
        if not record.held or not amounts:
            return
        held = HeldByWorkload.of(record, found)
        for card, amount in amounts:
            held.add(card, amount)
            own[card] = own.get(card, 0) + amount

    yield from ledger.made_pods.each_in(account.name, namespace, look)
    first = yield from first_holders(found, MOST_HOLDERS)
    rest = ((card, account.row(card).charged - own.get(card, 0)) for card in dict.fromkeys(cards))
    elsewhere = card_amounts((card, amount) for card, amount in rest if amount > 0)
    return NamespaceHolders(first, len(found) - len(first), elsewhere)
