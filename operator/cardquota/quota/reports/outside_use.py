"""The cards that are used outside every queue, and by whom (section 2, V5)."""

from collections.abc import Iterator
from heapq import nsmallest

from ..accounts.account import OUTSIDE
from ..amounts import is_card
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_record import PodRecord
from .cards_outside import MOST_PODS, OutsideUse


def outside_use(ledger: LedgerReader, namespace: str = "") -> OutsideUse:
    """Of all pods that are let through or bound; of one namespace where that is named. O(pods).

    A card that is not known, since its node is not, is left out, and so is who holds no other.
    """
    cards: dict[str, int] = {}
    names: list[str] = []
    for record in _outside(ledger):
        facts = record.facts
        if namespace not in ("", facts.namespace):
            continue
        held = [(name, amount) for name, amount in record.charge if is_card(name)]
        for name, amount in held:
            cards[name] = cards.get(name, 0) + amount
        if held:
            names.append(f"{facts.namespace}/{facts.name}")
    most_first = sorted(cards.items(), key=lambda row: (-row[1], row[0]))
    return OutsideUse(len(names), dict(most_first), tuple(nsmallest(MOST_PODS, names)))


def _outside(ledger: LedgerReader) -> Iterator[PodRecord]:
    return (one for one in ledger.pods.values() if one.queue == OUTSIDE and one.held)
