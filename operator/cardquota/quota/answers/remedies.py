"""What would let something in that lacks quota now."""

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Final, NamedTuple

from ..accounts.account_reader import AccountReader
from ..amounts import Charge
from ..decisions.fit.queue_room import QueueRoom
from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_request import PodRequest, may_run_on
from ..steps import Steps
from ..vocabulary import QueueState
from .answer_forms import CardAmount, OtherQueue
from .quota_left import quotas_left

MOST_REMEDIES: Final = 3
"""Other cards, and other queues, that are named."""
QUEUES_AT_A_TIME: Final = 64
"""Queues that one step looks at."""

MOST_SEARCHED: Final = 8
"""Cards of another queue of which a search tells what is left."""


class Remedies(NamedTuple):
    """Each for itself. All as things stand now: others may be quicker."""

    fewer: tuple[CardAmount, ...] = ()
    """At most so many cards would fit now: less than it asks for, and more than none."""
    other_cards: tuple[CardAmount, ...] = ()
    """Cards of the same resource in its queue that it may run on and that have room for it: how
    many are left.
    """
    other_queues: tuple[OtherQueue, ...] = ()


class Need(NamedTuple):
    """What must fit at once: a pod, or the pods of a gang that start together."""

    request: PodRequest
    """Of one of them."""
    amount: int
    """Cards of all of them."""
    pods: int
    cpu_memory: Charge
    """Of all of them."""
    selectors: frozenset[bytes] = frozenset()
    """Which nodes they may use."""


def need_of(request: PodRequest, selectors: Iterable[bytes], pods: int = 1) -> Need:
    """That of so many equal pods."""
    cpu_memory = tuple((name, pods * amount) for name, amount in request.cpu_memory)
    return Need(request, pods * request.amount, pods, cpu_memory, frozenset(selectors))


def remedies_for(
    ledger: LedgerReader, account: AccountReader, namespace: str, need: Need, *, is_behind: bool
) -> Steps[Remedies]:
    """Costs by the cards of the queue, and by all queues, in short steps. `is_behind`: somebody who
    waits for one of its cards comes before it. Not for what asks for no card.
    """
    request, cards = need.request, need.request.cards
    facts = account.facts
    if facts is None or facts.state is not QueueState.OPEN or not facts.admits(namespace):
        others = yield from _other_queues(ledger, account.name, namespace, need)
        return Remedies(other_queues=others)
    if not _has_cpu_memory(account, need):
        # Whatever cards it asks for, it stays where it is.
        others = yield from _other_queues(ledger, account.name, namespace, need)
        return Remedies(other_queues=others)
    # In a fifo queue nobody passes another, however little he asks for.
    own = [card for card in cards if card in account.quota and not (facts.fifo and is_behind)]
    lefts = yield from quotas_left(account, own)
    rooms = [(card, min(left, _free(ledger, card, need))) for left, card in lefts]
    fewer = [(card, room) for card, room in rooms if 0 < room < need.amount]
    same = [
        card
        for card in account.cards
        if card not in cards
        and ledger.catalog.resource(card) == request.resource
        and account.quota.get(card, 0) >= need.amount
        and is_free_to_pass(account, card)
        and _on_nodes(ledger, card, need)
        and all(may_run_on(card, request.resource, one, ledger) for one in need.selectors)
    ]
    yield
    lefts = yield from quotas_left(account, same)
    there = [(left, card) for left, card in lefts if left >= need.amount]
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
            found += yield from _room_in(account, namespace, cards, need)
        found = nsmallest(MOST_REMEDIES, found)
        yield
    return tuple(OtherQueue(queue=queue, card=card, left=-left) for left, queue, card in found)


def _room_in(
    account: AccountReader, namespace: str, cards: Sequence[str], need: Need
) -> Steps[list[tuple[int, str, str]]]:
    """The card of which most is left there, if it is enough."""
    facts = account.facts
    if facts is None or facts.state is not QueueState.OPEN or not facts.admits(namespace):
        return []
    enough = (card for card in cards if account.quota.get(card, 0) >= need.amount)
    able = [card for card in enough if is_free_to_pass(account, card)]
    if not able or not _has_cpu_memory(account, need):
        return []
    left, card = max((yield from quotas_left(account, able)))
    if left < need.amount or QueueRoom(account).take(need.request, need.pods) < need.pods:
        return []
    return [(-left, account.name, card)]


def is_free_to_pass(account: AccountReader, card: str) -> bool:
    """Whether a newcomer would not be behind others in a fifo queue, who wait for this card."""
    facts = account.facts
    return facts is None or not facts.fifo or not account.row(card).waiting


def _has_cpu_memory(account: AccountReader, need: Need) -> bool:
    """Whether its queue has room for its cpu and memory."""
    for dimension, amount in need.cpu_memory:
        limit = account.limit(dimension)
        if limit is not None and account.row(dimension).charged + amount > limit:
            return False
    return True


def _free(ledger: LedgerReader, card: str, need: Need) -> int:
    """What nodes have free: one of them for one pod."""
    free = ledger.nodes.free
    return free.most_on_node(card) if need.pods == 1 else free.total(card)


def _on_nodes(ledger: LedgerReader, card: str, need: Need) -> bool:
    """Whether nodes have as many free, and one of them enough for one pod."""
    free = ledger.nodes.free
    if free.total(card) < need.amount:
        return False
    return free.most_on_node(card) >= need.request.amount
