"""The cards that a pod may be bound to whose card is chosen then (E3, E7).

The pod holds one claim (T3). A card is open to it if the queue's other claims can all be assigned
beside it: so no pod takes a card that another one needs, and no quota is ever exceeded. Which of
the open cards it gets is the scheduler's to say: the first that a node has free.

Pure: asking changes nothing that counts.
"""

from typing import NamedTuple

from ..assignment.claim import Claim
from ..cards.card import is_memory
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import PodFacts
from ..pods.pod_request import card_devices
from ..stamp import choice_of, is_choice
from ..vocabulary import GPU_MEMORY


class CardChoice(NamedTuple):
    """What a pod holds that has kept its choice."""

    resource: str
    amount: int
    """Cards, or memory in the node's unit."""
    cards: frozenset[str]
    """It gets one of these."""


def card_choice(ledger: LedgerReader, facts: PodFacts) -> CardChoice | None:
    """None for a pod that holds a card, or none at all."""
    stamp = facts.stamp
    if stamp is None or not is_choice(stamp.cards):
        return None
    cards = frozenset(card for name, _ in stamp.cards for card in choice_of(name))
    # A choice of card memory stays one when the last row for any is gone (B10).
    memory = [(r, n) for r, n in facts.devices if r == GPU_MEMORY and all(map(is_memory, cards))]
    devices = memory or card_devices(facts, ledger)
    if len(devices) != 1:
        return None
    return CardChoice(*devices[0], cards)


def open_cards(ledger: LedgerReader, facts: PodFacts, choice: CardChoice) -> frozenset[str]:
    """Those of its cards that the pod may be bound to now (E3).

    Of a pod whose open gate our own watch has not told of, every card counts as open: the leader
    judges it again when it is bound.
    """
    record = ledger.pods.get(facts.uid)
    if record is None or record.stamp is None:
        return choice.cards
    if record.claim is None:  # its binding is under way
        return choice.cards.intersection(card for card, _ in record.stamp.cards)
    return cards_to_bind(ledger, record.queue, *record.claim)


def cards_to_bind(ledger: LedgerReader, queue: str, claim: Claim, shown: str) -> frozenset[str]:
    """The cards that one of these claims of a queue may take for good now (E3)."""
    account = ledger.account(queue)
    claims = account.flexible_claims if account is not None else None
    return claims.cards_to_bind(claim, shown) if claims is not None else frozenset()
