"""Who waits in a queue, for want of what, and at which place."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from ..accounts.account_reader import AccountReader
from ..decisions.groups.enqueue_judgement import judge_enqueue
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..limits import kept_name
from ..messages import standing_messages
from ..release.starvation import Starvation
from ..steps import Steps
from .answer_forms import Waiter
from .card_amount import choice_amounts, told_moment
from .gate_reasons import GateReasons, Why, why_of
from .waiting_order import Next, waiting_order

MOST_KINDS: Final = 256
"""Different requests of a group's waiting members that are added up."""


class Waiters(NamedTuple):
    """The first in the order of release."""

    first: tuple[Waiter, ...]
    others: int
    """How many more there are: groups, and pods that go by themselves."""
    pods: int
    """All pods that wait."""


def waiters_in(
    ledger: LedgerReader,
    account: AccountReader,
    most: int,
    reasons: GateReasons,
    starvation: Starvation | None = None,
) -> Steps[Waiters]:
    """Costs by the queue's different waiting pods, and a judgement for each waiter that is told.
    `starvation`: as for `waiting_order`.
    """
    order = yield from waiting_order(ledger, account, starvation)
    number, pods = len(order), len(account.pending)
    first = yield from order.first(most)
    found: list[Waiter] = []
    awaited: set[str] = set()
    """The cards of those so far who lack room and have waited so long that it may be set aside."""
    room_now = standing_messages.room_now(account.name)
    for place, one in enumerate(first, 1):
        waiter = _waiter(ledger, account, place, one, reasons)
        if waiter is not None:
            if waiter.message == room_now and not awaited.isdisjoint(order.cards_of(one)):
                wait = starvation.wait if starvation is not None else 0
                text = standing_messages.room_may_be_set_aside(account.name, wait)
                waiter = replace(waiter, message=text)
            elif waiter.reason and order.is_long(one.key):
                awaited |= order.cards_of(one)
            found.append(waiter)
        yield
    return Waiters(tuple(found), max(0, number - len(found)), pods)


def _waiter(
    ledger: LedgerReader, account: AccountReader, place: int, one: Next, reasons: GateReasons
) -> Waiter | None:
    """None: it went while others were looked at."""
    if one.group is not None:
        return _group(ledger, account, place, one.group, one, reasons)
    record = one.record
    if record is None or account.pending.class_of(record) is None:
        return None
    facts, request, why = record.facts, record.request, reasons.of(record)
    return Waiter(
        place=place,
        kind="Pod",
        namespace=kept_name(facts.namespace),
        name=kept_name(facts.name),
        pods=1,
        asks=choice_amounts([(request.cards, request.amount)] if request else []),
        since=told_moment(facts.created),
        reason=why.reason,
        message=why.text,
    )


def _group(
    ledger: LedgerReader,
    account: AccountReader,
    place: int,
    group: PodGroupState,
    one: Next,
    reasons: GateReasons,
) -> Waiter | None:
    facts = group.facts
    why = group_reason(ledger, group, one, reasons)
    if facts is None or why is None:
        return None
    return Waiter(
        place=place,
        kind="PodGroup",
        namespace=kept_name(facts.namespace),
        name=kept_name(facts.name),
        pods=account.pending.numbers_of(group).total(),
        asks=choice_amounts(asked_by(ledger, account, group)),
        since=told_moment(facts.created),
        reason=why.reason,
        message=why.text,
    )


def group_reason(
    ledger: LedgerReader, group: PodGroupState, one: Next, reasons: GateReasons
) -> Why | None:
    """Why a group waits. None: it does not any more."""
    if group.asks is not None and group.facts is not None:
        return why_of(judge_enqueue(ledger, group.facts, group.request).verdict)
    record = one.record
    return reasons.of(record) if record is not None and record.class_key is not None else None


def asked_by(
    ledger: LedgerReader, account: AccountReader, group: PodGroupState
) -> Iterator[tuple[Sequence[str], int]]:
    """By choice of cards: what its waiting members ask for, or else what it says itself. Of very
    many kinds of members only some are added up.
    """
    if group.asks is not None:
        for asked in group.request.cards:
            yield asked.cards, asked.number
        return
    for pod_class in islice(account.pending.classes_of(group), MOST_KINDS):
        record = ledger.pods.get(pod_class.sort_keys[0].uid) if pod_class.sort_keys else None
        if record is not None and record.request is not None:
            yield record.request.cards, record.request.amount * len(pod_class.sort_keys)
