"""What would let something in that lacks quota now."""

from collections.abc import Iterator, Sequence
from heapq import nsmallest
from typing import Final, NamedTuple

from ..accounts.account_reader import AccountReader
from ..decisions.room import room_for
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_request import PodRequest
from ..steps import Steps
from ..vocabulary import QueueState
from .answer_forms import CardAmount, OtherQueue

MOST_REMEDIES: Final = 3
"""Other cards, and other queues, that are named."""
QUEUES_AT_A_TIME: Final = 64
"""Queues that one step looks at."""


class Remedies(NamedTuple):
    """Each for itself. All as things stand now: others may be quicker."""

    fewer: tuple[CardAmount, ...] = ()
    """At most so many cards would fit now: less than it asks for, and more than none."""
    other_cards: tuple[CardAmount, ...] = ()
    """Cards of the same resource in its queue that have room for it: how many are left."""
    other_queues: tuple[OtherQueue, ...] = ()


class Need(NamedTuple):
    """What must fit at once: a pod, or the pods of a gang that start together."""

    request: PodRequest
    """Of one of them."""
    amount: int
    """Cards of all of them."""
    pods: int


def remedies_for(
    ledger: LedgerReader, account: AccountReader, namespace: str, need: Need
) -> Steps[Remedies]:
    """Costs by the cards of the queue, and by all queues, in short steps."""
    request, cards = need.request, need.request.cards
    if not cards or not need.amount:
        return Remedies()
    facts = account.facts
    takes = facts is not None and facts.state is QueueState.OPEN and facts.admits(namespace)
    if not takes:
        others = yield from _other_queues(ledger, account.name, namespace, need)
        return Remedies(other_queues=others)
    lefts = [(card, _room(ledger, account, card, need)) for card in cards if card in account.quota]
    fewer = [(card, left) for card, left in lefts if 0 < left < need.amount]
    same = (
        card
        for card in account.cards
        if card not in cards and ledger.catalog.resource(card) == request.resource
    )
    found = ((_left(account, card), card) for card in same)
    fitting = ((left, card) for left, card in found if left >= need.amount)
    there = [(left, card) for left, card in fitting if _on_nodes(ledger, card, need)]
    yield
    others = yield from _other_queues(ledger, account.name, namespace, need)
    return Remedies(
        tuple(CardAmount(name=card, amount=left) for card, left in fewer[:MOST_REMEDIES]),
        tuple(
            CardAmount(name=card, amount=left)
            for left, card in nsmallest(MOST_REMEDIES, there, key=lambda one: (-one[0], one[1]))
        ),
        others,
    )


def _other_queues(
    ledger: LedgerReader, own: str, namespace: str, need: Need
) -> Steps[tuple[OtherQueue, ...]]:
    found: list[tuple[int, str, str]] = []
    accounts = [one for one in ledger.accounts() if one.name != own and one.facts is not None]
    cards = [card for card in need.request.cards if _on_nodes(ledger, card, need)]
    for start in range(0, len(accounts), QUEUES_AT_A_TIME):
        for account in accounts[start : start + QUEUES_AT_A_TIME]:
            found += _room_in(account, namespace, cards, need)
        found = nsmallest(MOST_REMEDIES, found)
        yield
    return tuple(OtherQueue(queue=queue, card=card, left=-left) for left, queue, card in found)


def _room_in(
    account: AccountReader, namespace: str, cards: Sequence[str], need: Need
) -> Iterator[tuple[int, str, str]]:
    """The card of which most is left there, if it is enough."""
    facts = account.facts
    if facts is None or facts.state is not QueueState.OPEN:
        return
    lefts = [(_left(account, card), card) for card in cards if account.quota.get(card)]
    left, card = max(lefts, default=(0, ""))
    if left < need.amount or not facts.admits(namespace):
        return
    if room_for(account, need.request, need.pods)[0] >= need.pods:
        yield -left, account.name, card


def _left(account: AccountReader, card: str) -> int:
    return max(0, account.quota.get(card, 0) - account.row(card).charged)


def _room(ledger: LedgerReader, account: AccountReader, card: str, need: Need) -> int:
    """What is left of the quota, as far as nodes have it free: one of them for one pod."""
    free = ledger.nodes.free
    there = free.most_on_node(card) if need.pods == 1 else free.total(card)
    return min(_left(account, card), there)


def _on_nodes(ledger: LedgerReader, card: str, need: Need) -> bool:
    """Whether nodes have as many free, and one of them enough for one pod."""
    free = ledger.nodes.free
    if free.total(card) < need.amount:
        return False
    return free.most_on_node(card) >= need.request.amount
