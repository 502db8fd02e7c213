"""What would let in a gang whose members ask for different things."""

from collections import Counter
from collections.abc import Iterator
from heapq import nsmallest
from typing import Final, NamedTuple

from ..accounts.account_reader import AccountReader
from ..decisions.fit.queue_room import QueueRoom
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..limits import GANG_KINDS
from ..pending.first_members import first_members
from ..pods.pod_request import PodRequest
from ..steps import Steps
from ..vocabulary import CPU, MEMORY, QueueState
from .answer_forms import CardAmount, OtherQueue
from .card_amount import card_amounts
from .quota_left import quota_left
from .remedies import MOST_REMEDIES, MOST_SEARCHED, is_free_to_pass

MOST_STARTING: Final = 10_000
"""Members that start together, up to which they are looked at: some milliseconds."""
MOST_ALTERNATIVES: Final = 256
"""Alternatives of all different requests together, up to which they are assigned, without a pause,
in some ten milliseconds."""
MOST_TRIED: Final = 64
"""Other queues in which all of it is assigned, of those with enough quota left by plain sums."""
LOOKED_AT_A_TIME: Final = 4_096
"""Cards of queues that one step looks at: about a millisecond."""
MOST_LOOKED: Final = 1_000_000
"""Cards of queues that are looked at in all: honest gangs have a handful for each of 1,000 queues.
"""
MOST_CARDS: Final = 64
"""Cards of which it is told who holds them."""

Kinds = tuple[tuple[PodRequest, int], ...]
"""What pods ask for, and how many of them do."""


class GangNeed(NamedTuple):
    """What must fit at once."""

    kinds: Kinds
    """Those with the fewest cards first."""
    group: PodGroupState | None = None
    """The gang, if its members are there. None: of a group whose pods are to come, only its cards
    are known, and it may also have what is elastic (E1)."""

    @property
    def cards(self) -> tuple[str, ...]:
        """All that some of it may use; of very many the first."""
        cards = dict.fromkeys(card for request, _ in self.kinds for card in request.cards)
        return tuple(cards)[:MOST_CARDS]


class GangRemedies(NamedTuple):
    """As things stand now: others may be quicker."""

    fitting: int = 0
    """For so many of its members its queue has room together, or for more: less than all, and more
    than none."""
    starting: int = 0
    """How many start together."""
    cards_lacking: tuple[CardAmount, ...] = ()
    """Of each card, how many its members without a choice lack."""
    other_queues: tuple[OtherQueue, ...] = ()
    """With room for all of it. What is told to be left there is the card of which it asks most."""


def need_of_members(
    ledger: LedgerReader, account: AccountReader, group: PodGroupState
) -> GangNeed | None:
    """That of the members with which a gang would start. None: they are not there, ask for too many
    different things or cards, or for something that cannot be right.
    """
    if not 0 < group.missing <= MOST_STARTING:
        return None
    classes = [one for one in account.pending.classes_of(group) if one.sort_keys]
    members = first_members(classes, group.missing, group.missing_by_task)
    found = Counter[PodRequest]()
    for sort_key in members:
        request = ledger.pods[sort_key.uid].request
        if request is not None:
            found[request] += 1
            if len(found) > GANG_KINDS.most:
                return None  # no more of very many are looked at
    return _need(found, group) if found.total() == group.missing else None


def need_of_request(ledger: LedgerReader, group: PodGroupState) -> GangNeed | None:
    """That of a group which says what its pods will ask for. None: it names no card."""
    found = Counter[PodRequest]()
    for cards, number in group.request.cards:
        resource = ledger.catalog.resource(cards[0]) or ""
        found[PodRequest(cards, resource, 1, 0, 0)] += number
    # Pods that ask for cards may be free of these (P6).
    others = () if ledger.free_cpu_memory else group.request.cpu_memory
    amounts = dict(others)
    if amounts:
        found[PodRequest((), "", 0, amounts.get(CPU, 0), amounts.get(MEMORY, 0))] += 1
    return _need(found, None)


def _need(found: Counter[PodRequest], group: PodGroupState | None) -> GangNeed | None:
    wrong = any(request.amount and not request.cards for request in found)
    if wrong or not any(request.amount for request in found):
        return None
    alternatives = sum(len(request.cards) for request in found)
    if len(found) > GANG_KINDS.most or alternatives > MOST_ALTERNATIVES:
        return None
    kinds = sorted(found.items(), key=lambda one: (one[0].amount, one[0].cards, one[1]))
    return GangNeed(tuple(kinds), group)


def gang_remedies_for(
    ledger: LedgerReader, account: AccountReader, namespace: str, need: GangNeed, *, is_behind: bool
) -> Steps[GangRemedies]:
    """Costs by what different things it asks for, and by all queues, in short steps. `is_behind`:
    somebody who waits for one of its cards comes before it.
    """
    own = GangRemedies()
    if need.group is not None and _takes(account, namespace, is_behind=is_behind):
        starting = sum(number for _, number in need.kinds)
        fitting = sum(_placed(QueueRoom(account, need.group), need.kinds))
        lacking = card_amounts(_lacking(QueueRoom(account, need.group), need.kinds))
        own = GangRemedies(cards_lacking=lacking)
        if 0 < fitting < starting:
            own = own._replace(fitting=fitting, starting=starting)
    yield
    others = yield from _other_queues(ledger, account.name, namespace, need.kinds)
    return own._replace(other_queues=others)


def _takes(account: AccountReader, namespace: str, *, is_behind: bool) -> bool:
    """Whether its queue takes anything of it now. In a fifo queue nobody passes another, however
    little he asks for.
    """
    facts = account.facts
    if facts is None or facts.state is not QueueState.OPEN or not facts.admits(namespace):
        return False
    return not (facts.fifo and is_behind)


def _lacking(room: QueueRoom, kinds: Kinds) -> Iterator[tuple[str, int]]:
    """Of pods with a choice it is not known which card they lack."""
    for card, asked in _without_choice(kinds).items():
        left = max(0, room.left_of([card])[card])
        if asked > left:
            yield card, asked - left


def _without_choice(kinds: Kinds) -> Counter[str]:
    asked = Counter[str]()
    for request, number in kinds:
        if len(request.cards) == 1:
            asked[request.cards[0]] += request.amount * number
    return asked


def _placed(room: QueueRoom, kinds: Kinds) -> list[int]:
    """How many of each kind fit together, those before it first, on the first of their cards that
    are left: more may fit.
    """
    return [room.take(request, wanted) for request, wanted in kinds]


# --- other queues ---------------------------------------------------------------------------------


def _other_queues(
    ledger: LedgerReader, own: str, namespace: str, kinds: Kinds
) -> Steps[tuple[OtherQueue, ...]]:
    if not (yield from _nodes_have(ledger, kinds)):
        return ()
    most, _ = max(kinds, key=lambda one: one[0].amount * one[1])
    cost = sum(1 + len(request.cards) for request, _ in kinds)
    least_choice = tuple(sorted(kinds, key=lambda one: len(one[0].cards)))
    numbers = [number for _, number in kinds]
    found: list[tuple[int, str, str]] = []
    tried = looked = since = 0
    for account in [one for one in ledger.accounts() if one.name != own]:
        looked, since = looked + 1, since + 1
        facts = account.facts
        if facts is not None and facts.state is QueueState.OPEN and facts.admits(namespace):
            looked, since = looked + cost, since + cost
            if _may_fit(account, kinds):
                yield
                tried, since = tried + 1, 0
                if sum(_placed(QueueRoom(account), least_choice)) == sum(numbers):
                    cards = most.cards[:MOST_SEARCHED]
                    left, card = max((quota_left(account, card), card) for card in cards)
                    found = nsmallest(MOST_REMEDIES, [*found, (-left, account.name, card)])
        if tried == MOST_TRIED or looked > MOST_LOOKED:
            break
        if since > LOOKED_AT_A_TIME:
            since = 0
            yield
    return tuple(OtherQueue(queue=queue, card=card, left=-left) for left, queue, card in found)


def _may_fit(account: AccountReader, kinds: Kinds) -> bool:
    """Whether its quota has enough by plain sums, and whoever waits there is not passed."""
    for card, asked in _without_choice(kinds).items():
        if asked > account.quota.get(card, 0) - account.row(card).charged:
            return False
    for request, number in kinds:
        if not request.amount:
            continue
        able = [card for card in request.cards if account.quota.get(card, 0) >= request.amount]
        if sum(account.quota[card] for card in able) < request.amount * number:
            return False
        if not all(is_free_to_pass(account, card) for card in able):
            return False
    return True


def _nodes_have(ledger: LedgerReader, kinds: Kinds) -> Steps[bool]:
    """Whether nodes have as many free of each card, and one of them enough for one pod."""
    free = ledger.nodes.free
    for card, asked in _without_choice(kinds).items():
        if free.total(card) < asked:
            return False
    known: dict[str, tuple[int, int]] = {}
    for request, number in kinds:
        for card in request.cards:
            if card not in known:
                known[card] = free.most_on_node(card), free.total(card)
        yield
        rows = [known[card] for card in request.cards]
        able = sum(total for most, total in rows if most >= request.amount)
        if able < request.amount * number:
            return False
    return True
