"""May this gang start, its members together or none (E2, T3)? And could the pods that it has ever
start it: its minimum against the empty queue (E5)?

Members that are equal in all that is judged are judged once. Pure questions to the ledger: nothing
is charged here.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from ..accounts.account import Account, AccountReader
from ..amounts import NO_AMOUNTS, Charge, MutableAmounts, add_amounts, is_card
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..ledger.pod_assessor import without_task
from ..limits import GANG_KINDS
from ..messages import gang_messages, request_messages
from ..pods.pod_record import PodRecord
from ..pods.pod_request import CardChoice, PodRequest
from ..verdict import Outcome, Shortfall, Verdict
from ..vocabulary import Reason
from .assignment import (
    Given,
    IsFree,
    MemberKind,
    decided,
    in_turn,
    most_assigned,
    never_fits,
    on_one_card_each,
)
from .judgement import judge
from .queue_room import QueueRoom, free_for, over_quota, shortfall

_MOST_KINDS: Final = 32
"""Kinds of members that are looked at when a group is written."""
_MOST_MEMBERS: Final = 10_000
"""Members that are looked at."""


class AlikeMembers(NamedTuple):
    """Pods that are equal in all that is judged, but for the nodes that they may use."""

    first: PodRecord
    places: list[int]
    """The place of each among all that are judged together, in order."""

    @property
    def number(self) -> int:
        """How many pods there are."""
        return len(self.places)

    @property
    def amount(self) -> int:
        """How many cards each pod asks for."""
        return self.first.request.amount if self.first.request else 0

    @property
    def cards(self) -> tuple[str, ...]:
        """The cards of which each pod may use one."""
        return self.first.request.cards if self.first.request and self.amount else ()

    @property
    def kind(self) -> MemberKind:
        """What they ask for. Not for pods that ask for no card."""
        return MemberKind(self.cards, self.amount, self.number)


def alike_members(members: Sequence[PodRecord], most: int) -> list[AlikeMembers]:
    """Members by what is judged, in the order of the first of each. Stops after `most` + 1 kinds.

    Which nodes they select does not matter as far as their cards are the same. With a choice of
    cards a kind is of one task, as far as that makes no more than `most` kinds (E7).
    """
    kinds = _alike_members(members, most, by_task=True)
    return kinds if len(kinds) <= most else _alike_members(members, most, by_task=False)


def _alike_members(members: Sequence[PodRecord], most: int, *, by_task: bool) -> list[AlikeMembers]:
    found: dict[Hashable, AlikeMembers] = {}
    by_class: dict[tuple[int, str], AlikeMembers] = {}
    """By identity of the class key, of which there are few objects: to hash it takes long."""
    for place, record in enumerate(members):
        facts, request = record.facts, record.request
        key = facts.uid if record.class_key is None else record.class_key
        task = facts.task if by_task and request is not None and len(request.cards) > 1 else ""
        alike = by_class.get((id(key), task))
        if alike is None:
            alike = found.setdefault((without_task(key), task), AlikeMembers(record, []))
            if len(found) > most:
                break
            by_class[id(key), task] = alike
        alike.places.append(place)
    return list(found.values())


def judge_gang(ledger: LedgerReader, members: Sequence[PodRecord]) -> tuple[Verdict, list[Charge]]:
    """The verdict on starting a gang: these members together, or none (E2).

    Also the cards that each member would be charged, in the same order; empty if they do not all
    fit. The cards are decided for all at once (E7); then each kind is judged with them beside the
    kinds before it.

    Costs by the number of kinds of members, and with a choice of cards by the nodes that they
    select, not by the number of members.
    """
    kinds = alike_members(members, GANG_KINDS.most)
    queue, key = members[0].queue, members[0].facts.group
    if len(kinds) > GANG_KINDS.most:
        text = gang_messages.gang_too_unlike(key, len(members), GANG_KINDS.most)
        return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text), []
    account, group = ledger.account(queue) or Account(queue), ledger.groups.get(key)
    served = _cards_of(ledger, account, group, kinds)
    beside: MutableAmounts = {}
    for alike, given in zip(kinds, served, strict=True):
        verdict = _judge_alike(ledger, alike, given, beside)
        if not verdict.fits:
            return _of_gang(ledger, account, group, verdict, kinds), []
    disagreeing = _disagreeing(kinds, served)
    if disagreeing is not None:
        return disagreeing, []
    chosen: list[Charge] = [()] * len(members)
    for alike, given in zip(kinds, served, strict=True):
        places = iter(alike.places)
        for card, number in given.items():
            for place in islice(places, number):
                chosen[place] = ((card, alike.amount),)
    return Verdict(Outcome.FITS, queue), chosen


def _cards_of(
    ledger: LedgerReader,
    account: AccountReader,
    group: PodGroupState | None,
    kinds: Sequence[AlikeMembers],
) -> list[Given]:
    """The cards of each kind. If there is no way to serve all, those that are left if they come in
    turn, or that they are to wait for (V7); who then gets none is refused.
    """
    with_cards = [alike for alike in kinds if alike.amount]
    asked = [alike.kind for alike in with_cards]
    left = QueueRoom(account, group).left_of({card for kind in asked for card in kind.cards})
    never_split_in = account.quota if ledger.with_volcano else NO_AMOUNTS
    is_free = _free_for_all(ledger, with_cards)
    found = (
        decided(left, asked, is_free, never_split_in=never_split_in)
        or on_one_card_each(never_split_in, asked)
        or in_turn(left, asked)
    )
    given = iter(found)
    return [next(given) if alike.amount else Given() for alike in kinds]


def _free_for_all(ledger: LedgerReader, kinds: Sequence[AlikeMembers]) -> IsFree:
    """Whether nodes have a card free for all members of a kind, as far as anybody looks."""
    free_of = {place: free_for(ledger, alike.first.facts) for place, alike in enumerate(kinds)}

    def is_free(place: int, card: str, going: Counter[int]) -> bool:
        amount, free = kinds[place].amount, free_of[place]
        others = going + Counter({amount: kinds[place].number - 1})
        return free is None or free(card).most_after(others) >= amount

    return is_free


def _judge_alike(
    ledger: LedgerReader, alike: AlikeMembers, given: Given, beside: MutableAmounts
) -> Verdict:
    """The verdict on all members of a kind, with the cards that they are given, beside what is
    asked for so far. What they ask for is added to that.
    """
    record, left = alike.first, alike.number
    others = record.request.cpu_memory if record.request is not None else ()
    groups: list[tuple[str | None, int]] = list(given.items())
    groups += [(None, left - given.total())] if given.total() < left else []
    verdict = Verdict(Outcome.FITS, record.queue)
    for card, number in groups:
        asked = (*others, *(((card, alike.amount),) if card is not None else ()))
        # All but one of them are there already when the last one is judged.
        add_amounts(beside, ((d, n * (number - 1)) for d, n in asked))
        verdict = judge(ledger, record.facts, record.queue, extra=beside, only=card)
        if not verdict.fits:
            return verdict
        add_amounts(beside, asked)
    return verdict


def _disagreeing(kinds: Sequence[AlikeMembers], served: Sequence[Given]) -> Verdict | None:
    """Why members that ask for one card by two resource names cannot start together (D7).

    For a known card each member was judged by itself. For a card that no node has shown, the first
    member's resource name is the card's.
    """
    behind: dict[str, str] = {}
    for alike, given in zip(kinds, served, strict=True):
        asked = alike.first.request.resource if alike.first.request else ""
        for card in given:
            first = behind.setdefault(card, asked)
            if first != asked:
                queue = alike.first.queue
                wrong = request_messages.other_resource(card, first, asked)
                text = request_messages.invalid_request(queue, [(card, alike.amount)], wrong)
                return Verdict(Outcome.NEVER, queue, Reason.INVALID_CARD, text)
    return None


def _of_gang(
    ledger: LedgerReader,
    account: AccountReader,
    group: PodGroupState | None,
    verdict: Verdict,
    kinds: Sequence[AlikeMembers],
) -> Verdict:
    """The failing member's verdict with the amounts of the whole gang.

    Pods that are being deleted are told of only if all members are of one kind without a choice:
    then what falls short is all that the gang falls short of; and only if none of its own is among
    them: else it asks for more once they are gone.
    """
    if not verdict.shortfalls:
        return verdict
    loses = group is not None and bool(group.leaving)
    soon = not loses and len(kinds) == 1 and len(kinds[0].cards) < 2
    room, asked_in_all = QueueRoom(account, group), _asked_in_all(kinds)
    shorts = []
    for short in verdict.shortfalls:
        asked = asked_in_all[short.dimension]
        would_be = room.held(short.dimension) + asked
        leaving = short.leaving if soon else 0
        shorts.append(shortfall(account, short.dimension, asked, would_be, leaving))
    asked_cards = [alike.kind for alike in kinds if alike.cards]
    never = any(short.never for short in shorts if not is_card(short.dimension))
    return over_quota(
        ledger,
        account,
        shorts,
        never=never or never_fits(account.quota, asked_cards),
        reason=verdict.reason,
        several=any(len(alike.cards) > 1 for alike in kinds),
    )


def _asked_in_all(kinds: Sequence[AlikeMembers]) -> Counter[str]:
    """What all of them ask for together, of a choice of cards each of them."""
    asked = Counter[str]()
    for alike in kinds:
        request, number = alike.first.request, alike.number
        if request is not None:
            for card in dict.fromkeys(request.cards):
                asked[card] += request.amount * number
            for dimension, amount in request.cpu_memory:
                asked[dimension] += amount * number
    return asked


# --- could these pods alone ever start it? (E5) ---------------------------------------------------

# For whoever writes the group, or a workload that makes its pods. Nothing is refused by it, and no
# fault is found where pods that ask for something else must be part of the minimum. If others come
# later that ask for less, as a launcher without cards, a gang may start in spite of a fault.


class GangFault(NamedTuple):
    """Why a gang cannot start with these pods alone, whatever is freed."""

    minimum: int
    """How many pods start together."""
    most: int
    """The largest minimum that the empty queue has room for."""
    shorts: tuple[Shortfall, ...] = ()
    """What they ask for, beside what is charged now; empty if that is not told."""


def fault_of_workload(
    account: AccountReader, group: PodGroupState, request: PodRequest, makes: int
) -> GangFault | None:
    """Why a gang can never start with the pods of a workload and those that are there, if no others
    come. None: it may, or it has started.

    `makes`: how many pods the workload makes, each with this request. If these are not enough for
    the minimum, others have to come that may ask for less: then there is no fault. Costs by the
    number of members, with a bound, if cpu or memory is limited.
    """
    if not group.gang or group.started:
        return None
    minimum, others = group.minimum, group.members_existing
    if request.amount:
        others -= group.waiting.get(CardChoice(request.cards, request.amount), 0)
    needed = minimum - others
    if makes < needed:
        return None
    most, shorts = minimum, list[Shortfall]()
    # Exact, since each pod is on one of its cards.
    quotas = (account.quota.get(card, 0) for card in request.cards)
    room = sum(quota // request.amount for quota in quotas) if request.amount else needed
    if room < needed:
        most = others + room
        shorts += [_short(account, group, card, request.amount * needed) for card in request.cards]
    limited = [one for one in request.cpu_memory if account.limit(one[0]) is not None]
    # Members that ask for the same cards may ask for less of these.
    others = minimum
    if limited:
        # Of very many members some are looked at; the others count as if they asked for less.
        some = islice(group.members.values(), _MOST_MEMBERS)
        alike = sum(record.gated and record.request == request for record in some)
        others = group.members_existing - alike
    needed = minimum - others
    for dimension, amount in limited if makes >= needed else ():
        fit = (account.limit(dimension) or 0) // amount
        if fit < needed:
            most = min(most, others + fit)
            shorts.append(_short(account, group, dimension, amount * needed))
    return GangFault(minimum, most, tuple(shorts)) if shorts else None


def fault_of_members(
    ledger: LedgerReader, account: AccountReader, group: PodGroupState, minimum: int
) -> GangFault | None:
    """Why a gang of this minimum can never start with the pods that are there, in this queue, if no
    others come. None: it may, or it has started, or fewer pods than the minimum are there.

    By their cards alone, and only if all that ask for cards ask for equally many. Costs by the
    number of members, with a bound.
    """
    there = len(group.members)
    if minimum < 2 or group.released or not minimum <= there <= _MOST_MEMBERS:
        return None
    kinds = alike_members(list(group.members.values()), _MOST_KINDS)
    if len(kinds) > _MOST_KINDS:
        return None
    asked = [(ledger.request_of(kind.first.facts, account.name), kind.number) for kind in kinds]
    if len({request.amount for request, _ in asked if request.amount}) != 1:
        return None
    room = sum(number for request, number in asked if not request.amount)
    with_cards = [MemberKind(one.cards, one.amount, n) for one, n in asked if one.amount]
    room += sum(given.total() for given in most_assigned(account.quota, with_cards))
    return GangFault(minimum, room) if room < minimum else None


def _short(account: AccountReader, group: PodGroupState, dimension: str, asked: int) -> Shortfall:
    would_be = QueueRoom(account, group).held(dimension) + asked
    return Shortfall(dimension, asked, would_be, account.limit(dimension) or 0)
