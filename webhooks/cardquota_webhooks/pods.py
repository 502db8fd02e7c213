"""Admission of pods, and of their resizes: refuse with numbers, or gate. It charges nothing, and
remembers nothing.

A create is reviewed once. The mutating review refuses or adds the gate; if another webhook changes
the pod after us, the API server asks it again. What has to hold of the final object, policies
demand: the gate, no keys of ours, and no card without a queue where one is required. A refusal is
advice, the gate is the law: a pod that slips through is gated.

If the API server sets the gate itself, there is no mutating review: the validating one gives the
answer and the warnings. A pod with the gate then waits, and one without it needs none. So if the
cluster is not known, both are admitted, as while we are down. The API server does not know cards of
no vendor row, nor whether card memory is limited: a pod that asks for one has to name its queue.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

import msgspec

from cardquota.install.matching import is_ours, known_to_policies
from cardquota.install.policies.gate_policies import gate_policy_is_missing
from cardquota.install.policies.key_policies import written_at_release
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions.judgement import queue_not_named
from cardquota.quota.decisions.resize import judge_resize
from cardquota.quota.decisions.verdict_texts import card_not_steered, told_of_default, with_holders
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.limits import GATES
from cardquota.quota.messages import (
    gate_messages,
    queue_messages,
    request_messages,
    shortfall_messages,
)
from cardquota.quota.objects.pod import Pod, PodAnnotations, PodSpec
from cardquota.quota.own_keys import KEYS_OF_PODS
from cardquota.quota.pods.pod_facts import PodFacts, State, alias_warning, claims_devices, pod_facts
from cardquota.quota.verdict import Effect, Outcome, Verdict, effect_of, effect_on_create
from cardquota.settings import Settings

from .keys import Steps, annotations_of, dropping, key_warnings
from .pod_judge import CardlessClaims, VisibilityWait, with_claims
from .review import (
    MUTATE,
    UNREADABLE,
    VALIDATE,
    AdmissionResponse,
    Request,
    ReviewError,
    Routes,
    answer_to_large,
    answer_to_large_pod,
    decoded,
    deny,
    json_patch,
    try_again,
)

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
        visibility: VisibilityWait,
        claims: CardlessClaims,
        synced: Callable[[], bool],
        *,
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        """`synced`: whether the cluster was read. `late`: whether what is known is too old."""
        self._ledger = ledger
        self._settings = settings
        self._beside_volcano = settings.scheduler == "volcano"
        self._ours = written_at_release(settings)
        self._visibility = visibility
        self._claims = claims
        self._synced = synced
        self._late = late

    @property
    def routes(self) -> Routes:
        """Which reviews it answers."""
        return {(MUTATE, "", "pods"): self.mutate, (VALIDATE, "", "pods"): self.validate}

    async def mutate(self, request: Request) -> AdmissionResponse:
        """Refuse, or add the gate (or remove one that would never open)."""
        return await self._review(request, sets_gate=True)

    async def validate(self, request: Request) -> AdmissionResponse:
        """The one review where a policy sets the gate: of the final object, which must have the
        gate if one is due.
        """
        return await self._review(request, sets_gate=False)

    async def _review(self, request: Request, *, sets_gate: bool) -> AdmissionResponse:
        too_large = answer_to_large_pod(request, self._ledger, self._settings)
        if too_large is not None:
            return too_large
        left_out = self._left_out(request) if sets_gate else []
        pod, facts = _read(request, request.object, without=left_out)
        keys = key_warnings(request, KEYS_OF_PODS)
        request.drop_objects()
        if _is_mirror(facts, request):
            return AdmissionResponse()
        dropped, gated = dropping(left_out), facts.state is State.GATED
        if not self._synced():
            return self._unjudged(pod, facts, dropped) if sets_gate else AdmissionResponse()
        claims = self._ledger.claims_devices(facts)
        facts, verdict = await self._judge(pod, facts)
        effect = self._effect(facts, verdict)
        gate = effect is Effect.GATE
        waits = gate and (gated or sets_gate)
        if not waits and self._visibility.namespace_unknown(facts):
            if gated and not sets_gate:
                return AdmissionResponse()
            return try_again(queue_messages.namespace_not_seen(facts.namespace))
        if effect is Effect.DENY:
            return _refusal(with_holders(self._ledger, facts, verdict))
        if gate and not waits:
            return self._gate_missing(pod, facts, verdict)
        warnings = (*self._warnings(verdict, effect, pod, facts), *keys)
        if not sets_gate:
            return AdmissionResponse(warnings=warnings, gated=gate)
        if gate:
            steps = _set_gate(pod, facts)
        else:
            steps = _drop_gate(pod) if gated else []
            steps += _mark(pod) if self._is_marked(pod, facts, claims=claims) else _unmark(pod)
        if left_out:
            warnings += (request_messages.keys_left_out(left_out),)
        return AdmissionResponse(patch=_patch([*dropped, *steps]), warnings=warnings, gated=gate)

    def _left_out(self, request: Request) -> list[str]:
        """Keys of ours that it came with (I3)."""
        written = annotations_of(request.object)
        return [key for key in self._ours if key in written]

    def _is_marked(self, pod: Pod, facts: PodFacts, *, claims: bool) -> bool:
        """Whether a pod without a gate gets our label, without which the policies take it for one
        that has not been here. `claims`: whether it claims devices, be they cards or not.
        """
        if self._ledger.mode_in(facts.namespace) is not v.Mode.ENFORCE:
            return False
        return is_ours(pod, facts, self._ledger.vendors) or claims

    async def _judge(self, pod: Pod, facts: PodFacts) -> tuple[PodFacts, Verdict]:
        """The verdict, and the facts without claims of what is no card."""
        claimed = ""
        if pod.spec.resource_claims:
            claimed = await self._claims.leave_out(pod.spec, facts.namespace)
            facts = replace(facts, claims_devices=claims_devices(pod.spec))
        verdict = with_claims(await self._visibility.judge(facts), claimed)
        if self._beside_volcano:
            verdict = told_of_default(self._ledger, facts, verdict, pod.spec.scheduler_name)
        return facts, verdict

    def _gate_missing(self, pod: Pod, facts: PodFacts, verdict: Verdict) -> AdmissionResponse:
        """The answer if a due gate is missing. A policy cannot set the gate of a pod without a
        queue, nor of a pod that is not managed as far as the API server knows.
        """
        if not (verdict.queue or facts.group):
            return AdmissionResponse()
        if not known_to_policies(pod, facts, self._ledger.vendors):
            return _refusal(queue_not_named(self._ledger, facts, verdict.queue))
        return deny(f"the pod has no scheduling gate {v.GATE}: {gate_policy_is_missing()}")

    def _unjudged(self, pod: Pod, facts: PodFacts, steps: Steps) -> AdmissionResponse:
        """The answer before the cluster is known: pods that are certainly managed are gated, the
        others try again.

        In audit mode nothing is gated or refused, now as later.
        """
        if self._ledger.mode_in(facts.namespace) is not v.Mode.ENFORCE:
            return AdmissionResponse(patch=_patch(steps))
        if facts.own_queue or facts.group:
            return AdmissionResponse(patch=_patch([*steps, *_set_gate(pod, facts)]), gated=True)
        return try_again("cardquota has not read the cluster yet; try again in a second")

    def _effect(self, facts: PodFacts, verdict: Verdict) -> Effect:
        policy = self._ledger.policy_of(facts, verdict.queue)
        mode = self._ledger.mode_in(facts.namespace)
        effect = effect_on_create(verdict, policy, mode, of_volcano_job=facts.of_volcano_job)
        if effect is Effect.DENY and self._late() and verdict.reason not in _CANNOT_WAIT:
            # What we know is old: a gate is safe, a refusal might be wrong.
            return Effect.GATE
        return effect

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


class ResizeReviews:
    """Answers reviews of `pods/resize` from the ledger's view, on any replica: more cpu and memory
    for an existing pod (P6). A granted resize takes effect at once, without a gate, so the answer
    is yes or no.
    """

    def __init__(self, ledger: LedgerReader, known: Callable[[], bool]) -> None:
        """`known`: whether the cluster was read, recently enough for a refusal."""
        self._ledger = ledger
        self._known = known

    @property
    def routes(self) -> Routes:
        """Which reviews it answers."""
        return {(VALIDATE, "", "pods/resize"): self.validate}

    async def validate(self, request: Request) -> AdmissionResponse:
        """Refuse growth beyond what the queue may hold. A pod that does not grow is admitted."""
        if (too_large := answer_to_large(request, self._ledger)) is not None:
            return too_large
        (_, before), (_, after) = (
            _read(request, encoded) for encoded in (request.old_object, request.object)
        )
        if not after.problem and after.cpu <= before.cpu and after.memory <= before.memory:
            return AdmissionResponse()
        mode = self._ledger.mode_in(after.namespace)
        verdict = judge_resize(self._ledger, before, after)
        # It cannot wait: a bound pod has no gate.
        effect = effect_of(verdict.outcome, v.Policy.DENY, mode)
        if not self._known() and mode is v.Mode.ENFORCE:
            return try_again(gate_messages.not_read_lately())
        if effect is Effect.DENY:
            return deny(verdict.text, reason=verdict.reason or "Forbidden")
        warnings = (shortfall_messages.audited(verdict.text),) if effect is Effect.WARN else ()
        return AdmissionResponse(warnings=warnings)


def _read(
    request: Request, encoded: msgspec.Raw, without: Collection[str] = ()
) -> tuple[Pod, PodFacts]:
    """`without` these annotations, as if it had none of them."""
    pod = decoded(_DECODER, encoded, "not a pod")
    try:
        if without and pod.metadata.annotations is not None:
            notes = annotations_of(encoded)
            kept = {key: value for key, value in notes.items() if key not in without}
            pod.metadata.annotations = msgspec.convert(kept, PodAnnotations)
        pod.metadata.namespace = request.namespace or pod.metadata.namespace
        return pod, pod_facts(pod)
    except UNREADABLE as error:
        raise ReviewError(f"the request's object is not a pod: {error}") from None


def foreign_gates(spec: PodSpec) -> tuple[str, ...]:
    """That a pod which is released still waits, and holds its quota meanwhile."""
    others = [gate.name for gate in spec.scheduling_gates or () if gate.name != v.GATE]
    return (request_messages.foreign_gate(others[0]),) if others else ()


def _is_mirror(facts: PodFacts, request: Request) -> bool:
    """Whether a kubelet reports a static pod: it already runs, so it is only counted (E9)."""
    return facts.mirror and request.user_info.username.startswith(_NODE_USER)


def _refusal(verdict: Verdict) -> AdmissionResponse:
    return deny(verdict.text, reason=verdict.reason or "Forbidden")


def _set_gate(pod: Pod, facts: PodFacts) -> Steps:
    """What adds what it lacks of the gate and our label; nothing if it has both."""
    gate = _ADD_GATE if pod.spec.scheduling_gates else _SET_GATE
    return [*([] if facts.state is State.GATED else [gate]), *_mark(pod)]


def _mark(pod: Pod) -> Steps:
    """What gives the pod our label; none if it has it."""
    labels = pod.metadata.labels
    if labels is None:
        return [{"op": "add", "path": _LABELS, "value": {v.MANAGED: v.IS_MANAGED}}]
    if labels.managed != v.IS_MANAGED:
        return [{"op": "add", "path": _LABEL, "value": v.IS_MANAGED}]
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
