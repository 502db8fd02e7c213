"""Who waits in a queue, in the order of release (E6), and why; as any replica knows it.

A gang that starts whole counts once, and so does a group that waits to be enqueued; every other pod
counts by itself. The order is over all that wait, whatever for.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from .. import vocabulary as v
from ..accounts.account_reader import AccountReader
from ..decisions.groups.enqueue_judgement import judge_enqueue
from ..decisions.groups.gang_judgement import judge_gang
from ..decisions.probably_meant import with_group_meant
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..limits import kept_name
from ..messages import standing_messages
from ..pending.first_members import first_members
from ..pending.release_key import ORDINARY, ReleaseKey, precedence_of
from ..pods.pod_facts import POD
from ..pods.pod_record import PodRecord
from ..release.release_judge import judge_member
from ..steps import Steps
from ..verdict import Outcome, Verdict
from .answer_forms import Waiter
from .card_amount import choice_amounts, told_moment

AT_A_TIME: Final = 64
"""Classes of equal pods, or groups, that one step looks at."""
MOST_KINDS: Final = 256
"""Different requests of a group's waiting members that are added up."""
POD_GROUP: Final = "PodGroup"


class WaitReason(NamedTuple):
    """Why something waits, or is refused: in one word as in events, and in a sentence."""

    reason: str
    text: str


class _InOrder(NamedTuple):
    """One that waits, and its place."""

    key: ReleaseKey
    group: str
    """Key of a gang that starts whole, or of a group to be enqueued; empty: a pod."""


class WaitingOrder:
    """All that wait in one queue, at about one moment. Made by `waiting_order`."""

    def __init__(self, everybody: list[_InOrder]) -> None:
        self._everybody = sorted(everybody)
        self._groups = {one.group: one.key for one in everybody if one.group}

    def __len__(self) -> int:
        return len(self._everybody)

    def first(self, most: int) -> list[_InOrder]:
        """So many of them, the first ones."""
        return self._everybody[:most]

    def place_of_group(self, key: str) -> int:
        """1: it is the first. 0: it is no gang that starts whole, and none to be enqueued."""
        return self._place(self._groups[key]) if key in self._groups else 0

    def place_of_pod(self, account: AccountReader, record: PodRecord) -> int:
        """The same of a pod; that of its gang, if it starts with that. 0: it does not wait here."""
        pod_class = account.pending.class_of(record) if record.queue == account.name else None
        if pod_class is None:
            return 0
        gang = pod_class.gang
        if gang is not None and gang.key in self._groups:
            return self.place_of_group(gang.key)
        precedence = precedence_of(gang, account.name, account.limit)
        return self._place(precedence.key_of(record.sort_key))

    def _place(self, key: ReleaseKey) -> int:
        return bisect_left(self._everybody, key, key=lambda one: one.key) + 1


def waiting_order(ledger: LedgerReader, account: AccountReader) -> Steps[WaitingOrder]:
    """All that wait in a queue. Costs by their number."""
    pending, groups = account.pending, dict[str, ReleaseKey]()
    for one in pending.groups:
        state = ledger.groups.get(one.key)
        if state is not None and state.asks is not None:
            sort_key, lost = state.asks.sort_key, state.lost_place
            groups[one.key] = ORDINARY.key_of(sort_key, lost_place=lost)
    enqueued_later, found = set(groups), list[_InOrder]()
    for number, pod_class in enumerate([*pending.classes.values(), pending.refused]):
        gang, sort_keys = pod_class.gang, pod_class.sort_keys
        precedence = precedence_of(gang, account.name, account.limit)
        if gang is None or gang.started:
            found += [_InOrder(precedence.key_of(sort_key), "") for sort_key in sort_keys]
        elif sort_keys and gang.key not in enqueued_later:
            # A gang has the place of its first member, and the priority of its last.
            first = precedence.key_of(sort_keys[0], lost_place=gang.lost_place)
            other = groups.get(gang.key, first)
            lowest = max(sort_keys[-1].negated_priority, other.negated_priority)
            groups[gang.key] = min(first, other)._replace(negated_priority=lowest)
        if number % AT_A_TIME == AT_A_TIME - 1:
            yield
    found += [_InOrder(key, group) for group, key in groups.items()]
    return WaitingOrder(found)


def waiters_in(
    ledger: LedgerReader, account: AccountReader, most: int
) -> Steps[tuple[tuple[Waiter, ...], int]]:
    """The first in the order of release, and how many more there are. Costs a judgement for each
    that is told.
    """
    order = yield from waiting_order(ledger, account)
    found: list[Waiter] = []
    for place, one in enumerate(order.first(most), 1):
        group, record = ledger.groups.get(one.group), ledger.pods.get(one.key.uid)
        if group is not None:
            found += _group(ledger, account, place, group)
        elif not one.group and record is not None and account.pending.class_of(record):
            found.append(_pod(ledger, place, record))
        yield
    return tuple(found), max(0, len(order) - len(found))


def _pod(ledger: LedgerReader, place: int, record: PodRecord) -> Waiter:
    facts, request, why = record.facts, record.request, why_waits(ledger, record)
    return Waiter(
        place=place,
        kind=POD,
        namespace=kept_name(facts.namespace),
        name=kept_name(facts.name),
        pods=1,
        asks=choice_amounts([(request.cards, request.amount)] if request else []),
        since=told_moment(facts.created),
        reason=why.reason,
        message=why.text,
    )


def _group(
    ledger: LedgerReader, account: AccountReader, place: int, group: PodGroupState
) -> Iterator[Waiter]:
    """Nothing if it went while others were looked at."""
    facts, members = group.facts, list(_waiting_members(ledger, account, group))
    if facts is None:
        return
    if group.asks is not None:
        why = reason_of(judge_enqueue(ledger, facts, group.request).verdict)
    elif members:
        why = why_waits(ledger, min((one for one, _ in members), key=lambda one: one.sort_key))
    else:
        return
    yield Waiter(
        place=place,
        kind=POD_GROUP,
        namespace=kept_name(facts.namespace),
        name=kept_name(facts.name),
        pods=account.pending.numbers_of(group).total(),
        asks=choice_amounts(asked_by(ledger, account, group)),
        since=told_moment(facts.created),
        reason=why.reason,
        message=why.text,
    )


def _waiting_members(
    ledger: LedgerReader, account: AccountReader, group: PodGroupState
) -> Iterator[tuple[PodRecord, int]]:
    """Of each kind the first, and how many there are. Of very many kinds only some."""
    for pod_class in islice(account.pending.classes_of(group), MOST_KINDS):
        record = ledger.pods.get(pod_class.sort_keys[0].uid) if pod_class.sort_keys else None
        if record is not None:
            yield record, len(pod_class.sort_keys)


def asked_by(
    ledger: LedgerReader, account: AccountReader, group: PodGroupState
) -> Iterator[tuple[Sequence[str], int]]:
    """By choice of cards: what its waiting members ask for, or else what it says itself."""
    if group.asks is not None:
        yield from ((asked.cards, asked.number) for asked in group.request.cards)
        return
    for record, number in _waiting_members(ledger, account, group):
        if record.request is not None:
            yield record.request.cards, record.request.amount * number


def why_waits(ledger: LedgerReader, record: PodRecord) -> WaitReason:
    """Why a pod at our gate waits, judged now.

    Not guaranteed: that it is what the pod was told. Who comes before it is not looked at.
    """
    facts = record.facts
    if record.held_back:
        return WaitReason(v.GATE_REFUSED, standing_messages.GATE_HELD_BACK)
    if ledger.mode_in(facts.namespace) is not v.Mode.ENFORCE and not facts.oversized:
        return WaitReason("", standing_messages.NOT_ENFORCED)
    verdict = with_group_meant(ledger, facts, judge_member(ledger, record))
    group = ledger.groups.get(facts.group) if facts.group else None
    account = ledger.account(record.queue)
    if verdict.outcome is Outcome.UNSEEN and verdict.reason is None and group is not None:
        if group.held_back:
            return WaitReason(v.GATE_REFUSED, standing_messages.GATE_HELD_BACK)
        if account is not None and not group.started and not group.being_reserved:
            verdict = _judge_gang(ledger, account, group) or verdict
    return reason_of(verdict)


def _judge_gang(
    ledger: LedgerReader, account: AccountReader, group: PodGroupState
) -> Verdict | None:
    """The verdict on the members with which a gang would start. None: nobody of it waits here."""
    classes = account.pending.classes_of(group)
    found = first_members(classes, group.missing, group.missing_by_task)
    members = [ledger.pods[sort_key.uid] for sort_key in found]
    return judge_gang(ledger, members)[0] if members else None


def reason_of(verdict: Verdict) -> WaitReason:
    """What a verdict says to a pod, or group, that waits."""
    if verdict.fits:
        return WaitReason("", standing_messages.room_now(verdict.queue))
    text = verdict.text or standing_messages.START_UNDER_WAY
    return WaitReason(verdict.reason or "", text)
