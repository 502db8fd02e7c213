"""Could these pods alone ever start a gang? Its minimum against the empty queue (E5).

For whoever writes the group, or a workload that makes its pods. Nothing is refused by it, and no
fault is found where pods that ask for something else must be part of the minimum. If others come
later that ask for less, as a launcher without cards, a gang may start in spite of a fault. Pure
questions to the ledger: nothing is charged here.
"""

from itertools import islice
from typing import Final, NamedTuple

from ...accounts.account import AccountReader
from ...ledger.groups.pod_group_state import PodGroupState
from ...ledger.ledger_reader import LedgerReader
from ...pods.pod_request import CardChoice, PodRequest
from ...verdict import Shortfall
from ..assignment import MemberKind, most_assigned
from ..queue_room import QueueRoom
from .gang_judgement import alike_members

_MOST_KINDS: Final = 32
"""Kinds of members that are looked at when a group is written."""
_MOST_MEMBERS: Final = 10_000
"""Members that are looked at."""


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
    room = _room_for_cards(account, request)
    if room is not None and room < needed:
        most = others + room
        shorts += [_short(account, group, card, request.amount * needed) for card in request.cards]
    limited = [one for one in request.cpu_memory if account.limit(one[0]) is not None]
    # Members that ask for the same cards may ask for less of these.
    others = group.members_existing - _alike(group, request) if limited else minimum
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
    if minimum < 2 or group.let_through or not minimum <= there <= _MOST_MEMBERS:
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


def _alike(group: PodGroupState, request: PodRequest) -> int:
    """How many members wait that ask for exactly this. Of very many some are looked at; the others
    count as if they asked for less.
    """
    some = islice(group.members.values(), _MOST_MEMBERS)
    return sum(record.gated and record.request == request for record in some)


def _room_for_cards(account: AccountReader, request: PodRequest) -> int | None:
    """How many such pods the empty queue has cards for; None: they ask for none. Exact, since each
    pod is on one of its cards.
    """
    if not request.amount:
        return None
    return sum(account.quota.get(card, 0) // request.amount for card in request.cards)


def _short(account: AccountReader, group: PodGroupState, dimension: str, asked: int) -> Shortfall:
    would_be = QueueRoom(account, group).held(dimension) + asked
    return Shortfall(dimension, asked, would_be, account.limit(dimension) or 0)
