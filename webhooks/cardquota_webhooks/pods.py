"""Admission of pods: refuse with numbers, or gate. It charges nothing and remembers only which pods
were admitted a moment ago (`recent_admissions`).

The mutating review refuses or adds the gate. The validating review gives the same answer on the
final object, which other webhooks may have changed; it also knows the pod's uid, so it can wait for
pods that were admitted a moment ago. Both matter for a pod that is refused while its queue is full
(policy Deny). One that waits for room needs the first answer alone, which is asked for again after
a change: its label says so, and the API server does not call twice. A refusal is advice, the gate
is the law: a pod that slips through is gated.

If the API server sets the gate itself, there is no mutating review: the validating one gives the
answer and the warnings. A pod with the gate then waits, and one without it needs none. So if the
cluster is not known, both are admitted, as while we are down. The API server does not know cards of
no vendor row, nor whether card memory is limited: a pod that asks for one has to name its queue.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace

import msgspec

from cardquota.cluster.watch.change_notifier import ChangeNotifier
from cardquota.install.matching import is_ours, known_to_policies
from cardquota.install.policies.gate_setting import gate_is_set_by_policy, gate_policy_is_missing
from cardquota.install.policies.key_policies import written_at_release
from cardquota.quota import vocabulary as v
from cardquota.quota.amounts import Charge
from cardquota.quota.cards.device_classes import claims_devices
from cardquota.quota.decisions.audited_card import card_not_steered
from cardquota.quota.decisions.create_judgement import judge_create
from cardquota.quota.decisions.holders import with_holders
from cardquota.quota.decisions.judgement import queue_not_named
from cardquota.quota.decisions.outside_volcano import told_of_default
from cardquota.quota.effect import Effect, effect_on_create
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import GATES
from cardquota.quota.messages import request_messages, shortfall_messages
from cardquota.quota.messages.queues import queue_messages
from cardquota.quota.names.meaningless_keys import KEYS_OF_PODS
from cardquota.quota.objects.pod import Pod, PodAnnotations
from cardquota.quota.pods.card_alias import alias_warning
from cardquota.quota.pods.pod_facts import PodFacts, State, memory_of, pod_facts
from cardquota.quota.verdict import Outcome, Verdict
from cardquota.settings import Settings

from .claims import CardlessClaims, with_claims
from .keys_of_ours import Steps, annotations_of, dropping
from .large_bodies import answer_to_large_pod
from .recent_admissions import RecentAdmissions
from .review import AdmissionResponse, Request, ReviewError, deny, json_patch, try_again
from .silent_waits import foreign_gates
from .single_reviews import PODS_OF_ROOM, SingleReviews
from .unknown_keys import key_warnings
from .visibility_wait import Exists, VisibilityWait

_NODE_USER = "system:node:"
_DECODER = msgspec.json.Decoder(Pod)
_GATES = "/spec/schedulingGates"
_GATE = {"name": v.GATE}
_SET_GATE = {"op": "add", "path": _GATES, "value": [_GATE]}
_ADD_GATE = {"op": "add", "path": f"{_GATES}/-", "value": _GATE}
_LABELS = "/metadata/labels"
_LABEL = f"{_LABELS}/{v.MANAGED.replace('/', '~1')}"
_CANNOT_WAIT = frozenset({v.Reason.NODE_NAMED, v.Reason.DEVICE_CLAIMED})
"""For a pod that a gate does not help: it cannot get one, or it would never open."""


class PodReviews:
    """Answers reviews of pod creates from the ledger's view, on any replica."""

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        notifier: ChangeNotifier,
        exists: Exists,
        claims: CardlessClaims,
        synced: Callable[[], bool],
        clock: Callable[[], float],
        *,
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        """`exists`: looks up a queue that was not seen. `synced`: whether the cluster was read.
        `late`: whether what is known is too old.
        """
        self._ledger = ledger
        self._settings = settings
        self._by_policy = gate_is_set_by_policy(settings)
        self._ours = written_at_release(settings)
        self._claims = claims
        self._ungated = _ungated_text(by_policy=self._by_policy)
        self._synced = synced
        self._late = late
        self._visibility = VisibilityWait(ledger, settings, notifier, exists)
        self._recent = RecentAdmissions(
            lambda uid: uid in ledger.pods, lifetime=settings.webhook.unseen_wait, clock=clock
        )
        notifier.listen(self._recent.look)
        self._single = SingleReviews(lifetime=settings.webhook.unseen_wait, clock=clock)

    async def mutate(self, request: Request) -> AdmissionResponse:
        """Refuse, or add the gate (or remove one that would never open)."""
        too_large = answer_to_large_pod(request, self._ledger, self._settings)
        if too_large is not None:
            return too_large
        pod, facts = _read(request, without=self._ours)
        keys = key_warnings(request, KEYS_OF_PODS)
        written = annotations_of(request.object)
        left_out = [key for key in self._ours if key in written]
        del written  # as long as the body
        request.drop_objects()
        if _is_mirror(facts, request):
            return AdmissionResponse()
        dropped = dropping(left_out)
        if not self._synced():
            return self._unjudged(pod, facts, can_gate=True, dropped=dropped)
        facts, verdict = await self._judge(pod, facts)
        effect = self._effect(facts, verdict)
        gated = facts.state is State.GATED
        gate = effect is Effect.GATE
        if not gate and self._visibility.namespace_unknown(facts):
            return try_again(queue_messages.namespace_not_seen(facts.namespace))
        if effect is Effect.DENY:
            return _refusal(with_holders(self._ledger, facts, verdict))
        if gate:
            answered = self._is_answered(facts, verdict, dry_run=bool(request.dry_run))
            steps = _set_gate(pod, facts, v.IS_MANAGED if answered else v.TO_REVIEW)
        else:
            steps = _drop_gate(pod) if gated else []
            if memory_of(facts.devices) and self._ledger.mode_in(facts.namespace) is v.Mode.ENFORCE:
                # Without the label the policies take it for one that has not been here.
                steps += _mark(pod, v.IS_MANAGED)
            elif left_out:
                steps += _unmark(pod)
        warnings = self._warnings(verdict, effect, pod, facts)
        warnings = (*warnings, *keys)
        if left_out:
            warnings += (request_messages.keys_left_out(left_out),)
        return AdmissionResponse(patch=_patch([*dropped, *steps]), warnings=warnings)

    async def _judge(self, pod: Pod, facts: PodFacts) -> tuple[PodFacts, Verdict]:
        """The verdict, and the facts without claims of what is no card."""
        claimed = ""
        if pod.spec.resource_claims:
            claimed = await self._claims.leave_out(pod.spec, facts.namespace)
            facts = replace(facts, claims_devices=claims_devices(pod.spec))
        verdict = self._visibility.at_once(facts) or await self._visibility.judge(facts)
        verdict = with_claims(verdict, claimed)
        if self._settings.scheduler == "volcano":
            verdict = told_of_default(self._ledger, facts, verdict, pod.spec.scheduler_name)
        return facts, verdict

    def _is_answered(self, facts: PodFacts, verdict: Verdict, *, dry_run: bool) -> bool:
        """Whether a pod that gets its gate needs no second review: pods that are not yet seen could
        not change the answer. For one that waits for room they never do.
        """
        if self._ledger.policy_of(facts, verdict.queue) is v.Policy.GATE:
            return True
        charge = _charge(facts, verdict)
        beside = self._unseen(facts, verdict.queue)
        beside.update({dimension: amount * PODS_OF_ROOM for dimension, amount in charge})
        if not judge_create(self._ledger, facts, beside=beside).fits:
            return False
        if not dry_run:
            self._single.add(verdict.queue, charge)
        return True

    async def validate(self, request: Request) -> AdmissionResponse:
        """The same answer on the final object, which must have the gate if one is due."""
        too_large = answer_to_large_pod(request, self._ledger, self._settings)
        if too_large is not None:
            return too_large
        pod, facts = _read(request)
        keys = key_warnings(request, KEYS_OF_PODS)
        request.drop_objects()
        if _is_mirror(facts, request):
            return AdmissionResponse()
        gated = facts.state is State.GATED
        if not self._synced():
            known = gated or self._by_policy
            return AdmissionResponse() if known else self._unjudged(pod, facts, can_gate=False)
        facts, verdict = await self._judge(pod, facts)
        effect = self._effect(facts, verdict)
        if verdict.fits and effect is Effect.GATE:
            verdict, effect = await self._judge_beside_recent(facts, verdict, effect)
        if not (effect is Effect.GATE and gated) and self._visibility.namespace_unknown(facts):
            if gated and self._by_policy:
                return AdmissionResponse()
            return try_again(queue_messages.namespace_not_seen(facts.namespace))
        if effect is Effect.DENY:
            return _refusal(with_holders(self._ledger, facts, verdict))
        if effect is Effect.GATE and not gated:
            return self._gate_missing(pod, facts, verdict)
        if effect is Effect.GATE and not request.dry_run:
            self._remember(facts, verdict)
        if self._told_already(pod, facts):
            return AdmissionResponse()
        warnings = self._warnings(verdict, effect, pod, facts)
        return AdmissionResponse(warnings=(*warnings, *keys))

    def _gate_missing(self, pod: Pod, facts: PodFacts, verdict: Verdict) -> AdmissionResponse:
        """The answer if a due gate is missing. A policy cannot set the gate of a pod without a
        queue, nor of a pod that is not managed as far as the API server knows.
        """
        if self._by_policy and not (verdict.queue or facts.group):
            return AdmissionResponse()
        if self._by_policy and not known_to_policies(pod, facts, self._ledger.vendors):
            return _refusal(queue_not_named(self._ledger, facts, verdict.queue))
        return deny(self._ungated)

    def _told_already(self, pod: Pod, facts: PodFacts) -> bool:
        """Whether the mutating review has already given the warnings. It sees all pods except those
        that claim devices in their own text and do not otherwise use cards.
        """
        if self._by_policy:
            return False
        return not facts.claims_devices or is_ours(pod, facts, self._ledger.vendors)

    def _unjudged(
        self, pod: Pod, facts: PodFacts, *, can_gate: bool, dropped: Steps | None = None
    ) -> AdmissionResponse:
        """The answer before the cluster is known: pods that are certainly managed are gated, the
        others try again.

        In audit mode nothing is gated or refused, now as later.
        """
        steps = dropped or []
        if self._ledger.mode_in(facts.namespace) is not v.Mode.ENFORCE:
            return AdmissionResponse(patch=_patch(steps))
        if can_gate and (facts.own_queue or facts.group):
            steps = [*steps, *_set_gate(pod, facts, v.TO_REVIEW)]
            return AdmissionResponse(patch=_patch(steps))
        return try_again("cardquota has not read the cluster yet; try again in a second")

    def _effect(self, facts: PodFacts, verdict: Verdict) -> Effect:
        policy = self._ledger.policy_of(facts, verdict.queue)
        mode = self._ledger.mode_in(facts.namespace)
        effect = effect_on_create(verdict, policy, mode, gives_up=facts.gives_up)
        if effect is Effect.DENY and self._late() and verdict.reason not in _CANNOT_WAIT:
            # What we know is old: a gate is safe, a refusal might be wrong.
            return Effect.GATE
        return effect

    async def _judge_beside_recent(
        self, facts: PodFacts, verdict: Verdict, effect: Effect
    ) -> tuple[Verdict, Effect]:
        """If pods just admitted would turn this yes into a no, wait for them, then decide."""
        if self._ledger.policy_of(facts, verdict.queue) is not v.Policy.DENY:
            return verdict, effect
        beside = self._unseen(facts, verdict.queue)
        if not beside or judge_create(self._ledger, facts, beside=beside).fits:
            return verdict, effect
        wait = self._settings.webhook.unseen_wait
        await asyncio.gather(
            self._recent.all_seen(verdict.queue, facts.uid, wait),
            self._single.all_old(verdict.queue),
        )
        verdict = await self._visibility.judge(facts)
        return verdict, self._effect(facts, verdict)

    def _unseen(self, facts: PodFacts, queue: str) -> Counter[str]:
        """What other pods that were admitted a moment ago, and may not be seen yet, will hold."""
        recent = self._recent.of(queue, but=facts.uid)
        amounts = Counter(self._recent.amounts(queue, recent))
        amounts.update(self._single.amounts(queue))
        return amounts

    def _remember(self, facts: PodFacts, verdict: Verdict) -> None:
        if self._ledger.policy_of(facts, verdict.queue) is v.Policy.DENY:
            self._recent.add(facts.uid, verdict.queue, _charge(facts, verdict))

    def _warnings(
        self, verdict: Verdict, effect: Effect, pod: Pod, facts: PodFacts
    ) -> tuple[str, ...]:
        warnings = verdict.warnings
        if effect is Effect.GATE and verdict.outcome is Outcome.NEVER:
            warnings += (verdict.text,)
        if effect is Effect.WARN:
            warnings += (shortfall_messages.audited(verdict.text),)
            warnings += card_not_steered(self._ledger, facts, verdict)
        warnings += alias_warning(pod.metadata.annotations)
        if effect is Effect.GATE:
            warnings += foreign_gates(pod.spec)
        if self._ledger.claims_devices(facts):
            warnings += (request_messages.claim_not_counted(),)
        return warnings


def _read(request: Request, without: Collection[str] = ()) -> tuple[Pod, PodFacts]:
    """`without` these annotations, as if it had none of them."""
    try:
        pod = _DECODER.decode(request.object)
        if without and pod.metadata.annotations is not None:
            notes = annotations_of(request.object)
            kept = {key: value for key, value in notes.items() if key not in without}
            pod.metadata.annotations = msgspec.convert(kept, PodAnnotations)
        pod.metadata.namespace = request.namespace or pod.metadata.namespace
        return pod, pod_facts(pod)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ReviewError(f"the request's object is not a pod: {error}") from None


def _ungated_text(*, by_policy: bool) -> str:
    """The refusal of a pod that arrives here without the gate that is due."""
    if by_policy:
        return f"the pod has no scheduling gate {v.GATE}: {gate_policy_is_missing()}"
    return (
        f"the pod's scheduling gate {v.GATE} was removed on the way; "
        "a webhook that changes spec.schedulingGates must keep it"
    )


def _charge(facts: PodFacts, verdict: Verdict) -> Charge:
    """What a pod that is admitted will hold."""
    return (*verdict.cards, (v.CPU, facts.cpu), (v.MEMORY, facts.memory))


def _is_mirror(facts: PodFacts, request: Request) -> bool:
    """Whether a kubelet reports a static pod: it already runs, so it is only counted (E9)."""
    return facts.mirror and request.user_info.username.startswith(_NODE_USER)


def _refusal(verdict: Verdict) -> AdmissionResponse:
    return deny(verdict.text, reason=verdict.reason or "Forbidden")


def _set_gate(pod: Pod, facts: PodFacts, mark: str) -> Steps:
    """What adds what it lacks of the gate and this value of our label; nothing if it has both."""
    gate = _ADD_GATE if pod.spec.scheduling_gates else _SET_GATE
    return [*([] if facts.state is State.GATED else [gate]), *_mark(pod, mark)]


def _mark(pod: Pod, mark: str) -> Steps:
    """What gives the pod this value of our label; none if it has it."""
    labels = pod.metadata.labels
    if labels is None:
        return [{"op": "add", "path": _LABELS, "value": {v.MANAGED: mark}}]
    if labels.managed != mark:
        return [{"op": "add", "path": _LABEL, "value": mark}]
    return []


def _unmark(pod: Pod) -> Steps:
    """What takes our label off a pod that is not ours to watch."""
    labels = pod.metadata.labels
    marked = labels is not None and labels.managed is not None
    return [{"op": "remove", "path": _LABEL}] if marked else []


def _drop_gate(pod: Pod) -> Steps:
    """What removes our gate from a pod without a queue, or in audit: it would never open.

    By its index, so that other gates do not add to the cost. If the gate is listed too often, it
    stays: the API server does not store such a pod.
    """
    gates = pod.spec.scheduling_gates or ()
    places = [n for n, gate in enumerate(gates) if gate.name == v.GATE]
    if len(places) > GATES.most:
        return []
    steps: Steps = []
    for place in reversed(places):
        path = f"{_GATES}/{place}"
        steps.append({"op": "test", "path": f"{path}/name", "value": v.GATE})
        steps.append({"op": "remove", "path": path})
    return steps


def _patch(steps: Steps) -> str:
    return json_patch(*steps) if steps else ""
