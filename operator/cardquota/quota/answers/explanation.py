"""The answer about one pod, group or workload: how it stands, its place, who holds its cards, and
which other cards and queues have room for it (F5, F6).

For whoever may ask in its namespace: workloads of other namespaces are numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import nsmallest
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE, AccountReader
from ..amounts import Charge
from ..decisions.create_judgement import judge_create
from ..decisions.group_judgement import judge_enqueue, judge_group
from ..decisions.judgement import why_not_read
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..messages import answer_messages, request_messages
from ..pods.pod_facts import POD
from ..pods.pod_record import ChargeState, PodRecord
from ..pods.pod_request import PodRequest, may_run_on
from ..pods.workload_facts import WorkloadFacts, pod_of
from ..steps import Steps
from ..verdict import Effect, effect_of
from ..vocabulary import GroupPhase, Mode, QueueState, Reason
from .answer_forms import (
    CardAmount,
    Explanation,
    OtherQueue,
    ReclaimAnswer,
    card_amounts,
    choice_amounts,
)
from .asked_workload import AskedPods, AskedWorkload, group_of, pods_of
from .queue_answer import NamespaceHolders, holders_for
from .reclaim_answer import ReclaimRules, for_holding, for_waiting
from .waiting import (
    POD_GROUP,
    WaitReason,
    asked_by,
    place_in,
    reason_of,
    waiting_order,
    why_waits,
)

MOST_OTHERS: Final = 3
"""Other cards, and other queues, that are named."""
QUEUES_AT_A_TIME: Final = 64
"""Queues that one step looks at."""


_LACKS_ROOM: Final = frozenset(
    {
        *(Reason.INSUFFICIENT_CARD, Reason.INSUFFICIENT_CPU, Reason.INSUFFICIENT_MEMORY),
        *(Reason.CARD_NOT_IN_QUOTA, Reason.QUEUE_NOT_FOUND, Reason.QUEUE_NOT_OPEN),
    }
)
"""Who waits for one of these is told who holds its cards, and where else there is room."""


class WorkloadState(StrEnum):
    """How it stands."""

    FITS = "Fits"
    """All its pods are on nodes, or it wants none."""
    ENDS = "Ends"
    """It is being deleted, or over."""
    RELEASED = "Released"
    """A gate is open, and the pod has no node yet."""
    WAITS = "Waits"
    """A pod, or the group, waits at our gate."""
    REFUSED = "Refused"
    """It lacks pods, and the next one would be refused."""
    COMING = "Coming"
    """It lacks pods, and the next one would be released, or would wait at the gate."""


class _AskedRoom(NamedTuple):
    """What must fit at once: a pod, or the pods of a gang that start together."""

    cards: tuple[str, ...]
    """Any of these."""
    resource: str
    """Behind these cards."""
    of_one: int
    """Cards that one of the pods asks for."""
    amount: int
    """Cards of all of them."""
    cpu_memory: Charge
    """Of all of them."""
    selector: bytes = b""
    """Which nodes they may use."""


def _asked_room(request: PodRequest | None, pods: int, selector: bytes) -> _AskedRoom | None:
    """That of so many equal pods. None: they ask for no card."""
    if request is None or not request.cards:
        return None
    cpu_memory = tuple((name, pods * amount) for name, amount in request.cpu_memory)
    amount = pods * request.amount
    return _AskedRoom(request.cards, request.resource, request.amount, amount, cpu_memory, selector)


@dataclass(frozen=True, slots=True)
class _Judged:
    """How something stands, before its place, holders and other room are looked up."""

    state: WorkloadState
    message: str
    reason: str = ""
    queue: str = OUTSIDE
    asks: tuple[CardAmount, ...] = ()
    room: _AskedRoom | None = None
    """None: it asks for no card, or its members ask for different things."""


def explain(
    ledger: LedgerReader,
    asked: AskedWorkload,
    time: str,
    *,
    require_queue: bool = False,
    rules: ReclaimRules | None = None,
) -> Steps[Explanation | None]:
    """None: there is nothing of this name that concerns us. `require_queue`: the setting. `rules`:
    how cards are taken back; None: they are not.

    Costs by the pods of its namespace, by those that wait in its queue, and by the queues; where
    cards may be taken back for it also by all pods.
    """
    pods, group = (yield from pods_of(ledger, asked)), group_of(ledger, asked)
    workload = ledger.workloads.named(asked.kind, asked.namespace, asked.name)
    if asked.volcano:
        workload = None  # those are not watched
    owned = ledger.workloads.owned_by(workload.uid, workload.namespace) if workload else []
    # In a rolling update a Deployment lacks no pods, and its new ReplicaSet may lack all.
    lacking = max(workload.missing, sum(one.missing for one in owned)) if workload else 0
    maker = next((one for one in owned if one.missing), workload)
    next_pod = _next_pod(ledger, maker, lacking, require_queue=require_queue) if maker else None
    standing = _stands(ledger, asked, pods, group, next_pod if lacking else None) or next_pod
    if standing is None:
        return None
    place = place_of = 0
    holders = NamespaceHolders()
    other_cards: tuple[CardAmount, ...] = ()
    other_queues: tuple[OtherQueue, ...] = ()
    account = ledger.account(standing.queue) if standing.queue != OUTSIDE else None
    if account is not None and standing.state is WorkloadState.WAITS:
        order, first = (yield from waiting_order(ledger, account)), pods.first
        key = first.facts.group if first is not None else group.key if group is not None else ""
        place = place_in(order, key, first.facts.uid if first is not None else "")
        place_of = len(order) if place else 0
    room, namespace = standing.room, asked.namespace
    if account is not None and room is not None and standing.reason in _LACKS_ROOM:
        holders = yield from holders_for(ledger, account, namespace, room.cards)
        other_cards = tuple(_other_cards(ledger, account, namespace, room))
        other_queues = yield from _other_queues(ledger, account.name, namespace, room)
    reclaim = None
    if rules is not None and pods.first is not None:
        reclaim = yield from _reclaim(ledger, standing, pods.first, rules)
    return Explanation(
        kind=asked.kind,
        namespace=asked.namespace,
        name=asked.name,
        time=time,
        queue=standing.queue,
        asks=standing.asks,
        pods=pods.numbers(lacking),
        state=standing.state,
        reason=standing.reason,
        message=standing.message,
        place=place,
        place_of=place_of,
        holders=holders.own,
        more_holders=holders.more,
        held_elsewhere=holders.elsewhere,
        other_cards=other_cards,
        other_queues=other_queues,
        reclaim=reclaim,
    )


def _reclaim(
    ledger: LedgerReader, standing: _Judged, record: PodRecord, rules: ReclaimRules
) -> Steps[ReclaimAnswer | None]:
    """`record`: the pod that is told of. Of one that waits for anything but cards nothing is told,
    nor of a workload whose next pod is told of, nor of one that went meanwhile.
    """
    match standing.state:
        case WorkloadState.WAITS if standing.reason == Reason.INSUFFICIENT_CARD:
            found = yield from for_waiting(ledger, record, rules)
        case WorkloadState.RELEASED:
            found = yield from for_waiting(ledger, record, rules)
        case WorkloadState.FITS | WorkloadState.ENDS:
            found = yield from for_holding(ledger, record, rules)
        case _:
            found = None
    return found if ledger.pods.get(record.facts.uid) is record else None


# --- how it stands --------------------------------------------------------------------------------


def _stands(
    ledger: LedgerReader,
    asked: AskedWorkload,
    pods: AskedPods,
    group: PodGroupState | None,
    next_pod: _Judged | None,
) -> _Judged | None:
    """What is told of: its first pod that waits, else its next one, else one that has its cards.
    None: we know of none. `next_pod`: if it lacks any.
    """
    first = pods.first
    if (not_read := _not_read(ledger, asked)) is not None:
        return not_read
    if group is not None and (first is None or group.asks is not None):
        return _without_pods(ledger, group)
    if first is None:
        return next_pod
    if first.facts.terminating or ledger.pods.get(first.facts.uid) is not first:
        held = first.charge if first.held else ()
        text = answer_messages.being_deleted(held)
        return next_pod or _of_pod(ledger, first, WorkloadState.ENDS, text)
    if first.gated:
        return _waiting(ledger, first)
    if next_pod is not None:
        return next_pod
    if group is not None and group.gang and group.missing > 0:
        text = answer_messages.gang_lacks_members(group.missing, group.minimum)
        return _of_pod(ledger, first, WorkloadState.WAITS, text)
    if first.charge_state is not ChargeState.ALLOCATED:
        text = answer_messages.released(first.charge, first.facts.foreign_gates)
        return _of_pod(ledger, first, WorkloadState.RELEASED, text)
    text = answer_messages.runs_on(first.facts.node, first.charge)
    if pods.running > 1:
        text = answer_messages.all_pods_there(pods.running)
    return _of_pod(ledger, first, WorkloadState.FITS, text)


def _not_read(ledger: LedgerReader, asked: AskedWorkload) -> _Judged | None:
    """A pod or a group of which only the name is kept (P8)."""
    kept, found = ledger.kept_pods, None
    if asked.kind == POD:
        there = kept.left_out_of(asked.namespace)
        found = next((one for one in there if one.name == asked.name), None)
    elif asked.kind == POD_GROUP:
        kept = ledger.kept_groups
        found = kept.left_out(asked.key)
    if found is None:
        return None
    text = request_messages.not_read(asked.kind, asked.name, why_not_read(kept, found))
    return _Judged(WorkloadState.WAITS, text, Reason.TOO_MUCH_KEPT)


def _of_pod(ledger: LedgerReader, record: PodRecord, state: WorkloadState, text: str) -> _Judged:
    """Of one that does not wait at our gate, with the cards that it holds."""
    return _Judged(state, text, queue=record.queue, asks=card_amounts(record.charge))


def _waiting(ledger: LedgerReader, record: PodRecord) -> _Judged:
    """A pod at our gate, or its gang, if it starts with that."""
    facts, request, why = record.facts, record.request, why_waits(ledger, record)
    asks = choice_amounts([(request.cards, request.amount)] if request is not None else [])
    pods, account = 1, ledger.account(record.queue)
    group = ledger.groups.get(facts.group) if facts.group else None
    if group is not None and group.gang and not group.started and account is not None:
        asks, pods = choice_amounts(asked_by(ledger, account, group)), group.missing
        firsts = (one.sort_keys[0].uid for one in account.pending.classes_of(group))
        if len({ledger.pods[uid].request for uid in firsts}) > 1:
            request = None
    room = _asked_room(request, pods, facts.selector)
    return _Judged(WorkloadState.WAITS, why.text, why.reason, record.queue, asks, room)


def _next_pod(
    ledger: LedgerReader, maker: WorkloadFacts, lacking: int, *, require_queue: bool
) -> _Judged:
    """A workload none of whose pods waits: what would become of its next one, if it lacks any."""
    pod = pod_of(maker, maker.kind, ledger.defaults, maker=maker.name)
    if pod is None and lacking:
        return _Judged(WorkloadState.COMING, answer_messages.TEMPLATE_NOT_KEPT)
    wanted = answer_messages.pods_not_known if maker.replicas else answer_messages.wants_no_pods
    if pod is None:
        return _Judged(WorkloadState.FITS, wanted())
    queue = ledger.queue_of(pod)
    request = ledger.request_of(pod, queue)
    asks = choice_amounts([(request.cards, request.amount)])
    if not lacking:
        return _Judged(WorkloadState.FITS, wanted(), "", queue, asks)
    room = _asked_room(request, 1, pod.selector)
    verdict = judge_create(ledger, pod, require_queue=require_queue)
    effect = effect_of(verdict.outcome, ledger.policy_of(pod, queue), ledger.mode_in(pod.namespace))
    if effect is Effect.DENY:
        reason = verdict.reason or ""
        return _Judged(WorkloadState.REFUSED, verdict.text, reason, queue, asks, room)
    waits = verdict.text if effect is Effect.GATE and not verdict.fits else ""
    text = answer_messages.next_pod_not_refused(waits)
    return _Judged(WorkloadState.COMING, text, "", queue, asks)


def _without_pods(ledger: LedgerReader, group: PodGroupState) -> _Judged | None:
    """A group none of whose pods is there: it waits to be enqueued (E1), or for them."""
    facts = group.facts
    if facts is None:
        return None
    queue, cards = facts.queue, group.request.cards
    reserved = group.rest_in(queue)
    ended = group.succeeded or group.failed or facts.succeeded or facts.failed
    why, room = WaitReason("", answer_messages.group_without_pods()), None
    asks: tuple[CardAmount, ...] = ()
    if group.asks is not None:
        why = reason_of(judge_enqueue(ledger, facts, group.request).verdict)
        asks = choice_amounts(cards)
        if len(cards) == 1:
            names, number = cards[0]
            # Pods that ask for cards may be free of these (P6).
            others = () if ledger.settings.exempt_cpu_memory else tuple(group.request.cpu_memory)
            resource = ledger.catalog.resource(names[0]) or ""
            room = _AskedRoom(names, resource, 1, number, others)
    elif facts.phase == GroupPhase.COMPLETED or (ended and not reserved):
        return _Judged(WorkloadState.ENDS, answer_messages.group_is_over(), queue=queue)
    elif reserved:
        why = WaitReason("", answer_messages.group_reserved(reserved))
        asks = card_amounts(reserved)
    elif ledger.mode_in(facts.namespace) is Mode.ENFORCE:
        verdict = judge_group(ledger, facts)
        why = why if verdict.fits else reason_of(verdict)
    return _Judged(WorkloadState.WAITS, why.text, why.reason, queue, asks, room)


# --- where else there is room ---------------------------------------------------------------------


def _other_cards(
    ledger: LedgerReader, account: AccountReader, namespace: str, room: _AskedRoom
) -> list[CardAmount]:
    """Other cards of its queue with the same resource that its own selector allows."""
    cards = [
        card
        for card in account.quota
        if card not in room.cards
        and ledger.catalog.resource(card) == room.resource
        and may_run_on(card, room.resource, room.selector, ledger)
    ]
    found = sorted(_left(ledger, account, namespace, room, cards))[:MOST_OTHERS]
    return [CardAmount(name=card, amount=-left) for left, card in found]


def _other_queues(
    ledger: LedgerReader, own: str, namespace: str, room: _AskedRoom
) -> Steps[tuple[OtherQueue, ...]]:
    """Of each the card of which most is left."""
    found: list[tuple[int, str, str]] = []
    accounts = [one for one in ledger.accounts() if one.name != own]
    for start in range(0, len(accounts), QUEUES_AT_A_TIME):
        for account in accounts[start : start + QUEUES_AT_A_TIME]:
            best = min(_left(ledger, account, namespace, room, room.cards), default=None)
            found += [(best[0], account.name, best[1])] if best is not None else []
        found = nsmallest(MOST_OTHERS, found)
        yield
    return tuple(OtherQueue(queue=queue, card=card, left=-left) for left, queue, card in found)


def _left(
    ledger: LedgerReader,
    account: AccountReader,
    namespace: str,
    room: _AskedRoom,
    cards: Sequence[str],
) -> Iterator[tuple[int, str]]:
    """The cards of a queue that have room now, each with what is left of its quota, negated: the
    queue takes it, nodes have as many free, and in a fifo queue nobody waits for the card.
    """
    facts, free = account.facts, ledger.nodes.free
    if facts is None or facts.state is not QueueState.OPEN or not facts.admits(namespace):
        return
    for dimension, amount in room.cpu_memory:
        limit = account.limit(dimension)
        if limit is not None and account.row(dimension).charged + amount > limit:
            return
    for card in cards:
        row = account.row(card)
        left = (account.allowed(card) or 0) - row.charged
        if left < room.amount or (facts.fifo and row.waiting):
            continue
        if free.total(card) >= room.amount and free.most_on_node(card) >= room.of_one:
            yield -left, card
