"""Which pods keep their choice of cards when their gate opens, and get one when bound (E7).

Such a pod holds one claim (T3) instead of a card. kube-scheduler asks us for every node, so the
first card that is free is the one it gets, and the totals stay exact: see `scheduling.card_choice`.
"""

from typing import Final

from ..amounts import Charge
from ..cards.card import Card
from ..ledger.ledger_reader import LedgerReader
from ..limits import ALLOCATED_TEXT
from ..pods.pod_facts import PodFacts
from ..pods.pod_record import PodRecord
from ..stamp import allocated_text, choice_text

MOST_ALTERNATIVES: Final = 16
"""Beyond them a pod gets its card when its gate opens: each is tried again at every filter call."""


def charged_for(ledger: LedgerReader, record: PodRecord, chosen: Charge) -> Charge:
    """What a pod is charged for when its gate opens: the chosen card, or, if it keeps its choice,
    all its cards, with the chosen one first. That is the one which the totals show.

    To be asked of a pod that was judged to fit, where that is enforced. Its scheduler must ask us.
    A pod of a gang, or of a group that has reserved something, gets its card at once: such cards
    are chosen for all members together (E2). So does a pod with very many alternatives, and one
    whose cards no node affinity could name together.
    """
    facts, request = record.facts, record.request
    if facts.scheduler not in ledger.late_binding or request is None or not request.amount:
        return chosen
    if not 2 <= len(request.cards) <= MOST_ALTERNATIVES or _chosen_together(ledger, facts):
        return chosen
    if len({_keys(ledger.known_card(name, request.resource)) for name in request.cards}) > 1:
        return chosen
    cards = dict.fromkeys([*(card for card, _ in chosen), *request.cards])
    charge = ((choice_text(tuple(cards)), request.amount),)
    return charge if len(allocated_text(charge)) <= ALLOCATED_TEXT.most else chosen


def _chosen_together(ledger: LedgerReader, facts: PodFacts) -> bool:
    """Whether its card is chosen with those of other members of its group (E2)."""
    group = ledger.groups.get(facts.group) if facts.group else None
    if group is None:
        return False
    return group.gang or group.reservation is not None or group.being_reserved


def _keys(card: Card) -> frozenset[str]:
    return frozenset(card.keys)
