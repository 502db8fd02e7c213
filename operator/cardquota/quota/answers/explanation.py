"""The answer about one pod, group or workload: its queue, how it stands, and what would let it in.

For whoever may ask in its namespace: workloads of other namespaces are numbers.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from ..accounts.account import OUTSIDE
from ..accounts.account_reader import AccountReader
from ..amounts import Charge, is_card
from ..decisions.groups.enqueue_judgement import judge_enqueue
from ..decisions.groups.group_judgement import judge_group
from ..decisions.judgement import why_not_read
from ..ledger.groups.group_facts import GroupFacts
from ..ledger.groups.pod_group_state import PodGroupState
from ..ledger.ledger_reader import LedgerReader
from ..messages import origin_messages, request_messages, standing_messages
from ..pods.pod_facts import POD
from ..pods.pod_record import PodRecord
from ..pods.pod_request import PodRequest
from ..release.starvation import Starvation, starvation_at
from ..steps import Steps
from ..vocabulary import GroupPhase, Mode, Reason
from ..workloads.workload_facts import WorkloadFacts
from .answer_forms import CardAmount, Explanation, PodNumbers
from .asked_workload import (
    JOB,
    POD_GROUP,
    AskedPods,
    AskedWorkload,
    group_of_job,
    members_of,
    pods_of,
)
from .card_amount import choice_amounts
from .gang_remedies import (
    GangNeed,
    GangRemedies,
    gang_remedies_for,
    need_of_members,
    need_of_request,
)
from .gate_reasons import GateReasons, Why, why_of
from .namespace_holders import NamespaceHolders, holders_for
from .next_pod import next_pod, why_denied
from .queue_origin import QueueOrigin, QueueSource, origin_of
from .remedies import Need, Remedies, need_of, remedies_for
from .standing import Standing, WaitsFor, WorkloadState, at_gate, past_gate, why_held
from .waiters import asked_by
from .waiting_order import PlaceInOrder, waiting_order

MOST_GATES: Final = 5
"""Gates of others that are named."""
MOST_LOOKS: Final = 3
"""How often its pods are looked at, if the one to be told of is let through meanwhile."""
_HELPED: Final = (WaitsFor.QUOTA, WaitsFor.QUEUE)
"""Who waits for one of these is told what would let it in."""
_NOBODY: Final = NamespaceHolders((), 0, ())


class _Explained(NamedTuple):
    """What is told, before it is completed by who holds, and by what would help."""

    standing: Standing
    queue: str
    origin: QueueOrigin
    asks: tuple[CardAmount, ...] = ()
    need: Need | None = None
    """What would have to fit. None: it is not known, or is different for each of its members."""
    gang: GangNeed | None = None
    """The same of a gang whose members ask for different things."""
    record: PodRecord | None = None
    """The pod that is told of."""
    group: PodGroupState | None = None
    """The group, if that is told of."""


class Explanations:
    """Explains what is asked about. `require_queue` and `starvation_wait` (seconds; 0: nothing is
    set aside) are settings.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        *,
        require_queue: bool = False,
        starvation_wait: float = 0.0,
    ) -> None:
        self._ledger = ledger
        self._starvation_wait = starvation_wait
        self._require_queue = require_queue

    def answer(self, asked: AskedWorkload, time: str) -> Steps[Explanation | None]:
        """None: there is nothing of this name that concerns us.

        Costs by the pods of its namespace, by its queue's different waiting pods, and by the number
        of queues.
        """
        ledger = self._ledger
        pods, group = yield from self._pods_and_group(asked)
        for _ in range(MOST_LOOKS - 1):
            if self._is_as_seen(pods):
                break
            pods, group = yield from self._pods_and_group(asked)
        workload = ledger.workloads.named(asked.kind, asked.namespace, asked.name)
        if asked.volcano:
            workload = None  # those are not watched
        owned = ledger.workloads.owned_by(workload.uid, workload.namespace) if workload else []
        explained = self._explain(asked, pods, group, workload, owned)
        if explained is None:
            return None
        starvation = starvation_at(time, self._starvation_wait)
        place = yield from self._place(explained, starvation)
        explained = _beside_long_waits(explained, place, starvation)
        holders, remedies = yield from self._who_and_what(explained, asked.namespace, place)
        gang = yield from self._what_of_gang(explained, asked.namespace, place)
        record, standing = explained.record, explained.standing
        return Explanation(
            kind=asked.kind,
            namespace=asked.namespace,
            name=asked.name,
            time=time,
            queue=explained.queue,
            queue_source=explained.origin.source,
            queue_reason=explained.origin.text,
            asks=explained.asks,
            pods=PodNumbers(
                running=pods.running,
                let_through=pods.let_through,
                waiting=pods.waiting,
                lacking=_lacked(workload, owned),
            ),
            state=standing.state,
            waits_for=standing.waits_for,
            reason=standing.reason,
            message=standing.message,
            gates=record.facts.foreign_gates[:MOST_GATES] if record is not None else (),
            place=place.place if place is not None else 0,
            place_of=place.of if place is not None else 0,
            before=place.before if place is not None else 0,
            holders=holders.own,
            more_holders=holders.more,
            held_elsewhere=holders.elsewhere,
            fewer=remedies.fewer,
            other_cards=remedies.other_cards,
            fitting=gang.fitting,
            starting=gang.starting,
            cards_lacking=gang.cards_lacking,
            other_queues=remedies.other_queues or gang.other_queues,
        )

    def _pods_and_group(
        self, asked: AskedWorkload
    ) -> Steps[tuple[AskedPods, PodGroupState | None]]:
        ledger = self._ledger
        if asked.kind == POD_GROUP:
            group = ledger.groups.get(f"{asked.namespace}/{asked.name}")
            pods = (yield from members_of(group)) if group is not None else AskedPods()
            return pods, group
        pods = yield from pods_of(ledger, asked)
        return pods, None if pods.total else group_of_job(ledger, asked)

    def _is_as_seen(self, pods: AskedPods) -> bool:
        """Whether the pod to be told of still waits: it may have been let through, or be gone or
        going, while others were looked at.
        """
        waiting = pods.first_waiting
        if waiting is None:
            return True
        there = self._ledger.pods.get(waiting.facts.uid) is waiting and waiting.gated
        return there and waiting.facts.terminating == pods.all_end

    # --- which of its pods is told of ---------------------------------------------------------

    def _explain(
        self,
        asked: AskedWorkload,
        pods: AskedPods,
        group: PodGroupState | None,
        workload: WorkloadFacts | None,
        owned: Sequence[WorkloadFacts],
    ) -> _Explained | None:
        not_read = self._not_read(asked, pods)
        if not_read is not None:
            return not_read
        if group is not None and group.facts is not None and group.asks is not None:
            return self._enqueued_later(group, group.facts)
        waiting = pods.first_waiting
        if waiting is not None and self._is_as_seen(pods) and not pods.all_end:
            return self._waiting(waiting, group)
        if workload is not None and _lacked(workload, owned):
            return self._lacking(workload, owned)
        first = pods.first_held or pods.first_waiting
        if first is not None:
            # A Job of Volcano has one group, of its pods alone.
            its_own = asked.kind == JOB and first.facts.gives_up
            gang = self._ledger.groups.get(first.facts.group) if its_own else group
            return self._held(first, pods, gang)
        if workload is not None:
            wanted = workload.replicas
            text = standing_messages.pods_not_known if wanted else standing_messages.wants_no_pods
            return self._idle(workload, text())
        if group is not None and group.facts is not None:
            return self._empty(group)
        return None

    def _not_read(self, asked: AskedWorkload, pods: AskedPods) -> _Explained | None:
        """A pod or a group of which only the name is kept (P8), or a workload of which no pod that
        is read waits. Costs by those of its namespace.
        """
        kept, found, about = self._ledger.kept_pods, None, (asked.kind, asked.name)
        there = kept.left_out_of(asked.namespace)
        if asked.kind == POD:
            found = next((one for one in there if one.name == asked.name), None)
        elif asked.kind == POD_GROUP:
            kept = self._ledger.kept_groups
            found = kept.left_out(f"{asked.namespace}/{asked.name}")
        elif pods.first_waiting is None:
            found = next((one for one in there if one.made_by == about), None)
        if found is None:
            return None
        why_not = why_not_read(kept, found)
        if asked.kind in (POD, POD_GROUP):
            text = request_messages.not_read(*about, why_not)
        else:
            text = request_messages.its_pod_not_read(found.name, why_not)
        why = Why(Reason.TOO_MUCH_KEPT, text)
        return _Explained(at_gate(why), OUTSIDE, QueueOrigin(QueueSource.NOBODY, text))

    def _enqueued_later(self, group: PodGroupState, facts: GroupFacts) -> _Explained:
        """A group that waits to be enqueued, before its pods are there (E1)."""
        ledger = self._ledger
        why = why_of(judge_enqueue(ledger, facts, group.request).verdict)
        need = gang = None
        if len(group.request.cards) > 1:
            gang = need_of_request(ledger, group)
        elif group.request.cards:
            ((cards, number),) = group.request.cards
            resource = ledger.catalog.resource(cards[0]) or ""
            # Pods that ask for cards may be free of these (P6).
            others = () if ledger.free_cpu_memory else group.request.cpu_memory
            need = Need(PodRequest(cards, resource, 1, 0, 0), number, number, tuple(others))
        return _Explained(
            at_gate(why),
            facts.queue,
            _of_group(group),
            choice_amounts(group.request.cards),
            need,
            gang,
            group=group,
        )

    def _waiting(self, record: PodRecord, asked: PodGroupState | None) -> _Explained:
        ledger, facts, request = self._ledger, record.facts, record.request
        reasons = GateReasons(ledger, guesses=True)
        standing = at_gate(reasons.of(record))
        origin = origin_of(ledger, facts, record.queue)
        group = ledger.groups.get(facts.group) if facts.group else None
        account = ledger.account(record.queue)
        if group is not None and group.gang and not group.started and account is not None:
            asks = choice_amounts(asked_by(ledger, account, group))
            need = self._need_of_gang(account, group)
            unlike = need_of_members(ledger, account, group) if need is None else None
            return _Explained(standing, record.queue, origin, asks, need, unlike, record, asked)
        need = need_of(request, [facts.selector]) if request is not None else None
        asks = choice_amounts([(request.cards, request.amount)] if request is not None else [])
        return _Explained(standing, record.queue, origin, asks, need, None, record, asked)

    def _need_of_gang(self, account: AccountReader, group: PodGroupState) -> Need | None:
        """Of members that are all alike."""
        found: set[PodRequest | None] = set()
        selectors: set[bytes] = set()
        for pod_class in account.pending.classes_of(group):
            record = self._ledger.pods.get(pod_class.sort_keys[0].uid)
            found.add(record.request if record is not None else None)
            selectors |= {record.facts.selector} if record is not None else set()
            if len(found) > 1:
                return None
        request = found.pop() if found else None
        return need_of(request, selectors, group.missing) if request is not None else None

    def _lacking(self, workload: WorkloadFacts, owned: Sequence[WorkloadFacts]) -> _Explained:
        """A workload some of whose pods do not exist: what would become of the next one."""
        ledger = self._ledger
        maker = next((one for one in owned if one.missing), workload)
        answer = next_pod(ledger, maker, require_queue=self._require_queue)
        why = why_denied(answer)
        if answer is None:
            nobody = QueueOrigin(QueueSource.NOBODY, why.text)
            return _Explained(Standing(WorkloadState.COMING, message=why.text), OUTSIDE, nobody)
        request = answer.request
        standing = (
            at_gate(why, WorkloadState.REFUSED)
            if answer.denied
            else Standing(WorkloadState.COMING, WaitsFor.CONTROLLER, message=why.text)
        )
        return _Explained(
            standing,
            answer.queue,
            origin_of(ledger, answer.facts, answer.queue),
            choice_amounts([(request.cards, request.amount)]),
            need_of(request, [answer.facts.selector]),
        )

    def _held(self, record: PodRecord, pods: AskedPods, group: PodGroupState | None) -> _Explained:
        """Nothing of it waits at our gate. `group`: if that, or all of it, is asked about."""
        ledger, facts = self._ledger, record.facts
        running, unbound = pods.running, pods.let_through
        standing = past_gate(ledger, record)
        if not record.held or facts.terminating:
            text = standing_messages.being_deleted(record.charge if record.held else ())
            standing = Standing(WorkloadState.ENDS, message=text)
        elif group is not None and group.gang and group.missing > 0:
            text = standing_messages.gang_lacks_members(
                running, unbound, group.missing, group.minimum
            )
            standing = Standing(WorkloadState.WAITS, WaitsFor.GROUP, message=text)
        elif standing.state is WorkloadState.FITS and pods.total > 1:
            text = standing_messages.all_pods_there(running, unbound, why_held(ledger, record))
            standing = Standing(WorkloadState.FITS, message=text)
        cards = Counter[str]()
        for card, amount in record.charge:
            if is_card(card):
                cards[card] += amount
        asks = choice_amounts(((card,), amount) for card, amount in cards.items())
        origin = origin_of(ledger, facts, record.queue)
        return _Explained(standing, record.queue, origin, asks, record=record)

    def _idle(self, workload: WorkloadFacts, text: str) -> _Explained:
        ledger = self._ledger
        answer = next_pod(ledger, workload, require_queue=self._require_queue)
        standing = Standing(WorkloadState.FITS, message=text)
        if answer is None:
            return _Explained(standing, OUTSIDE, QueueOrigin(QueueSource.NOBODY, text))
        asks = choice_amounts([(answer.request.cards, answer.request.amount)])
        origin = origin_of(ledger, answer.facts, answer.queue)
        return _Explained(standing, answer.queue, origin, asks)

    def _empty(self, group: PodGroupState) -> _Explained:
        facts = group.facts
        queue = facts.queue if facts is not None else OUTSIDE
        reserved = group.rest_in(queue)
        standing = self._of_empty(group, reserved)
        asks = choice_amounts(((one,), n) for one, n in reserved if is_card(one))
        return _Explained(standing, queue, _of_group(group), asks, group=group)

    def _of_empty(self, group: PodGroupState, reserved: Charge) -> Standing:
        facts = group.facts
        if facts is not None and _is_over(group, facts, reserved):
            return Standing(WorkloadState.ENDS, message=standing_messages.group_is_over())
        if reserved:
            text = standing_messages.group_reserved(reserved)
            return Standing(WorkloadState.WAITS, WaitsFor.GROUP, message=text)
        if facts is not None and self._ledger.mode_in(facts.namespace) is Mode.ENFORCE:
            verdict = judge_group(self._ledger, facts)
            if not verdict.fits:
                return at_gate(why_of(verdict))
        text = standing_messages.group_without_pods()
        return Standing(WorkloadState.WAITS, WaitsFor.GROUP, message=text)

    # --- place, holders, remedies -------------------------------------------------------------

    def _place(self, told: _Explained, starvation: Starvation | None) -> Steps[PlaceInOrder | None]:
        account = self._ledger.account(told.queue) if told.queue != OUTSIDE else None
        if account is None or told.standing.state is not WorkloadState.WAITS:
            return None
        order = yield from waiting_order(self._ledger, account, starvation)
        if told.record is not None:
            return (yield from order.place_of_pod(told.record))
        return (yield from order.place_of_group(told.group)) if told.group is not None else None

    def _who_and_what(
        self, told: _Explained, namespace: str, place: PlaceInOrder | None
    ) -> Steps[tuple[NamespaceHolders, Remedies]]:
        holders, remedies = _NOBODY, Remedies()
        account = self._ledger.account(told.queue) if told.queue != OUTSIDE else None
        waits_for, need = told.standing.waits_for, told.need
        cards = _cards_of(told)
        if account is None or not cards:
            return holders, remedies
        if waits_for in (WaitsFor.QUOTA, WaitsFor.ORDER):
            holders = yield from holders_for(self._ledger, account, namespace, cards)
        if need is not None and waits_for in _HELPED:
            is_behind = _is_behind(account, cards, place)
            remedies = yield from remedies_for(
                self._ledger, account, namespace, need, is_behind=is_behind
            )
        return holders, remedies

    def _what_of_gang(
        self, told: _Explained, namespace: str, place: PlaceInOrder | None
    ) -> Steps[GangRemedies]:
        account = self._ledger.account(told.queue) if told.queue != OUTSIDE else None
        if account is None or told.gang is None or told.standing.waits_for not in _HELPED:
            return GangRemedies()
        is_behind = _is_behind(account, told.gang.cards, place)
        return (
            yield from gang_remedies_for(
                self._ledger, account, namespace, told.gang, is_behind=is_behind
            )
        )


def _beside_long_waits(
    told: _Explained, place: PlaceInOrder | None, starvation: Starvation | None
) -> _Explained:
    """Where there is room that may be set aside for one before it, that is said instead (E6)."""
    has_room = told.standing.message == standing_messages.room_now(told.queue)
    if place is None or starvation is None or not place.may_be_set_aside or not has_room:
        return told
    text = standing_messages.room_may_be_set_aside(told.queue, starvation.wait)
    return told._replace(standing=Standing(WorkloadState.WAITS, WaitsFor.ORDER, message=text))


def _cards_of(told: _Explained) -> Sequence[str]:
    """The cards that something waits for."""
    if told.need is not None:
        return told.need.request.cards
    return told.gang.cards if told.gang is not None else ()


def _is_behind(account: AccountReader, cards: Sequence[str], place: PlaceInOrder | None) -> bool:
    """Whether somebody who waits for one of its cards comes before it."""
    if place is not None:
        return place.before > 0
    return any(account.row(card).waiting for card in cards)


def _of_group(group: PodGroupState) -> QueueOrigin:
    queue = group.facts.queue if group.facts is not None else OUTSIDE
    if queue == OUTSIDE:
        return QueueOrigin(QueueSource.NOBODY, origin_messages.no_queue_named())
    return QueueOrigin(QueueSource.GROUP, origin_messages.queue_by_spec(queue))


def _lacked(workload: WorkloadFacts | None, owned: Sequence[WorkloadFacts]) -> int:
    """How many pods do not exist that a workload, or what it owns, wants. A Deployment counts those
    of all its ReplicaSets: in a rolling update it lacks none, and the new ReplicaSet may lack all.
    """
    if workload is None:
        return 0
    return max(workload.missing, sum(one.missing for one in owned))


def _is_over(group: PodGroupState, facts: GroupFacts, reserved: Charge) -> bool:
    """Whether a group without unfinished pods is completed, or had pods that have all ended."""
    if facts.phase == GroupPhase.COMPLETED:
        return True
    ended = group.succeeded or group.failed or facts.succeeded or facts.failed
    return bool(ended) and not reserved
