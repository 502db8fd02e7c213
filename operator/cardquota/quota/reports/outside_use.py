"""The cards that are used outside every queue, and by whom (section 2, V5)."""

from heapq import nsmallest
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE
from ..amounts import Amounts, is_card
from ..ledger.ledger_reader import LedgerReader

MOST_PODS: Final = 3
"""Pods that are named."""


class OutsideUse(NamedTuple):
    """Pods that hold cards and are charged to no queue."""

    pods: int
    cards: Amounts
    """By card, those that are used most first."""
    first: tuple[str, ...] = ()
    """`namespace/name` of the first by name."""


def outside_use(ledger: LedgerReader, namespace: str = "") -> OutsideUse:
    """Of all pods that are released or bound; of one namespace where that is named. O(pods).

    A card that is not known, since its node is not, is left out, and so is who holds no other.
    """
    cards: dict[str, int] = {}
    names: list[str] = []
    for record in ledger.pods.values():
        facts = record.facts
        if record.queue != OUTSIDE or not record.held or namespace not in ("", facts.namespace):
            continue
        held = [(name, amount) for name, amount in record.charge if is_card(name)]
        for name, amount in held:
            cards[name] = cards.get(name, 0) + amount
        if held:
            names.append(f"{facts.namespace}/{facts.name}")
    most_first = sorted(cards.items(), key=lambda row: (-row[1], row[0]))
    return OutsideUse(len(names), dict(most_first), tuple(nsmallest(MOST_PODS, names)))
