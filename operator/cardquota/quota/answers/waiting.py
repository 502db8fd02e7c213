"""Who waits in a queue, in the order of release (E6), and why; as any replica knows it.

A gang that starts whole counts once, and so does a group that waits to be enqueued; every other pod
counts by itself. The order is over all that wait, whatever for.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from .. import vocabulary as v
from ..accounts.account import AccountReader
from ..decisions.gang_judgement import judge_gang
from ..decisions.group_judgement import judge_enqueue
from ..decisions.verdict_texts import with_group_meant
from ..ledger.groups.group_facts import GroupFacts
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..limits import kept_name
from ..messages import answer_messages
from ..pending.candidate import ORDINARY, ReleaseKey, first_members, precedence_of
from ..pods.pod_facts import POD, PodFacts
from ..pods.pod_record import PodRecord
from ..release.release_judge import judge_member
from ..steps import Steps
from ..verdict import Outcome, Verdict
from ..vocabulary import COMPUTE_RESOURCES
from .answer_forms import Waiter, choice_amounts, told_moment

AT_A_TIME: Final = 64
"""Classes of equal pods, or groups, that one step looks at."""
MOST_KINDS: Final = 256
"""Different requests of a group's waiting members that are added up."""
POD_GROUP: Final = "PodGroup"


class WaitReason(NamedTuple):
    """Why something waits, or is refused: in one word as in events, and in a sentence."""

    reason: str
    text: str


class InOrder(NamedTuple):
    """One that waits, and its place."""

    key: ReleaseKey
    group: str
    """Key of a gang that starts whole, or of a group to be enqueued; empty: a pod."""


def place_in(order: Sequence[InOrder], group: str, uid: str) -> int:
    """The place of a group by its key, or else of a pod; 1: it is the first, 0: it is not there. A
    pod that starts with its gang has the place of that.
    """
    for place, one in enumerate(order, 1):
        if one.group == group if one.group else one.key.uid == uid:
            return place
    return 0


def waiting_order(ledger: LedgerReader, account: AccountReader) -> Steps[list[InOrder]]:
    """All that wait in a queue, in order. Costs by their number."""
    pending, groups = account.pending, dict[str, ReleaseKey]()
    for one in pending.groups:
        state = ledger.groups.get(one.key)
        if state is not None and state.asks is not None:
            sort_key, lost = state.asks.sort_key, state.lost_place
            groups[one.key] = ORDINARY.key_of(sort_key, lost_place=lost)
    enqueued_later, found = set(groups), list[InOrder]()
    for number, pod_class in enumerate([*pending.classes.values(), pending.refused]):
        gang, sort_keys = pod_class.gang, pod_class.sort_keys
        precedence = precedence_of(gang, account.name, account.limit)
        if gang is None or gang.started:
            found += [InOrder(precedence.key_of(sort_key), "") for sort_key in sort_keys]
        elif sort_keys and gang.key not in enqueued_later:
            # A gang has the place of its first member, and the priority of its last.
            first = precedence.key_of(sort_keys[0], lost_place=gang.lost_place)
            other = groups.get(gang.key, first)
            lowest = max(sort_keys[-1].negated_priority, other.negated_priority)
            groups[gang.key] = min(first, other)._replace(negated_priority=lowest)
        if number % AT_A_TIME == AT_A_TIME - 1:
            yield
    return sorted([*found, *(InOrder(key, group) for group, key in groups.items())])


def waiters_in(
    ledger: LedgerReader, account: AccountReader, most: int
) -> Steps[tuple[tuple[Waiter, ...], int]]:
    """The first in the order of release, and how many more there are. Costs a judgement for each
    that is told.
    """
    order = yield from waiting_order(ledger, account)
    found: list[Waiter] = []
    for place, one in enumerate(order[:most], 1):
        group, record = ledger.groups.get(one.group), ledger.pods.get(one.key.uid)
        facts: PodFacts | GroupFacts
        why = None
        if group is not None and group.facts is not None:
            facts, pods = group.facts, account.pending.numbers_of(group).total()
            asks, why = asked_by(ledger, account, group), _group_waits(ledger, account, group)
        elif not one.group and record is not None and account.pending.class_of(record):
            facts, pods, request = record.facts, 1, record.request
            asks = iter([(request.cards, request.amount)] if request else [])
            why = why_waits(ledger, record)
        if why is not None:  # else it went while others were looked at
            waiter = Waiter(
                place=place,
                kind=POD_GROUP if one.group else POD,
                namespace=kept_name(facts.namespace),
                name=kept_name(facts.name),
                pods=pods,
                asks=choice_amounts(asks),
                since=told_moment(facts.created),
                reason=why.reason,
                message=why.text,
            )
            found.append(waiter)
        yield
    return tuple(found), max(0, len(order) - len(found))


def _group_waits(
    ledger: LedgerReader, account: AccountReader, group: PodGroupState
) -> WaitReason | None:
    """Why a gang that starts whole waits, or a group to be enqueued. None: it does not."""
    if group.asks is not None and group.facts is not None:
        return reason_of(judge_enqueue(ledger, group.facts, group.request).verdict)
    members = (record for record, _ in _waiting_members(ledger, account, group))
    first = min(members, key=lambda record: record.sort_key, default=None)
    return why_waits(ledger, first) if first is not None else None


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
    if record.backed_off:
        return WaitReason(v.GATE_REFUSED, answer_messages.GATE_HELD_BACK)
    if ledger.mode_in(facts.namespace) is not v.Mode.ENFORCE and not facts.oversized:
        return WaitReason("", answer_messages.NOT_ENFORCED)
    verdict = with_group_meant(ledger, facts, judge_member(ledger, record))
    group = ledger.groups.get(facts.group) if facts.group else None
    account = ledger.account(record.queue)
    if verdict.outcome is Outcome.UNSEEN and verdict.reason is None and group is not None:
        if group.backed_off:
            return WaitReason(v.GATE_REFUSED, answer_messages.GATE_HELD_BACK)
        if account is not None and not group.started and not group.being_reserved:
            verdict = _judge_gang(ledger, account, group) or verdict
    return reason_of(verdict)


def _judge_gang(
    ledger: LedgerReader, account: AccountReader, group: PodGroupState
) -> Verdict | None:
    """The verdict on the members with which a gang would start. None: nobody of it waits here."""
    members = _starting(ledger, account, group)
    return judge_gang(ledger, members)[0] if members else None


def _starting(
    ledger: LedgerReader, account: AccountReader, group: PodGroupState
) -> list[PodRecord]:
    """The members with which a gang would start."""
    classes = account.pending.classes_of(group)
    found = first_members(classes, group.missing, group.missing_by_task)
    return [ledger.pods[sort_key.uid] for sort_key in found]


def lacking_cards_alone(ledger: LedgerReader, record: PodRecord) -> list[PodRecord]:
    """The pods that start with one at our gate, itself among them, if they lack cards of its
    queue's quota and nothing else; else none. Judged now, as `why_waits` does.
    """
    account = ledger.account(record.queue)
    group = ledger.groups.get(record.facts.group) if record.facts.group else None
    if account is None:
        return []
    if group is not None and group.gang and not group.started:
        members = _starting(ledger, account, group)
        verdict = _judge_gang(ledger, account, group)
    else:
        members, verdict = [record], judge_member(ledger, record)
    if verdict is None or verdict.reason is not v.Reason.INSUFFICIENT_CARD:
        return []
    lacking = {one.dimension for one in verdict.shortfalls}
    return members if lacking.isdisjoint(COMPUTE_RESOURCES) else []


def reason_of(verdict: Verdict) -> WaitReason:
    """What a verdict says to a pod, or group, that waits."""
    if verdict.fits:
        return WaitReason("", answer_messages.room_now(verdict.queue))
    text = verdict.text or answer_messages.START_UNDER_WAY
    return WaitReason(verdict.reason or "", text)
