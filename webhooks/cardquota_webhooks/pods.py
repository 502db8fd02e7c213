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

Whoever applies several objects together wrote the others a moment ago. So a review waits a moment
for them before anything is refused because they are missing. Claims of devices are let by that are
no cards (P7): a claim, or its template, is read where a pod would be refused for it. What is made
of that name later the policy `resource-claims` judges.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import Final

import msgspec

from cardquota.cluster.watch.delivery import ChangeNotifier
from cardquota.install.matching import is_ours, known_to_policies
from cardquota.install.policies.gate_policies import gate_policy_is_missing
from cardquota.install.policies.key_policies import written_at_release
from cardquota.install.webhook_objects import MUTATE, VALIDATE
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions.create_judgement import judge_create
from cardquota.quota.decisions.judgement import queue_not_named, queue_on_its_way
from cardquota.quota.decisions.resize import judge_resize
from cardquota.quota.decisions.verdict_texts import card_not_steered, refusal_of, told_of_default
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
from cardquota.quota.pods.pod_facts import (
    PodFacts,
    State,
    alias_warning,
    claims_devices,
    named_claims,
    pod_facts,
    why_no_quota_counts,
)
from cardquota.quota.reports.audit_counts import OTHERS
from cardquota.quota.verdict import Effect, Outcome, Verdict, effect_of, effect_on_create
from cardquota.settings import Settings

from .review import (
    UNREADABLE,
    AdmissionResponse,
    Request,
    ReviewError,
    Routes,
    Steps,
    annotations_of,
    answer_to_large,
    answer_to_large_pod,
    decoded,
    deny,
    dropping,
    json_patch,
    key_warnings,
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


Exists = Callable[[str], Awaitable[bool | None]]
"""Whether a queue of this name exists, whatever was seen. None: not known."""
LONGEST: Final = 1.0
"""Seconds that a review waits for one object."""
_PART: Final = 1 / 4
"""Of the API server's patience, at most: a review may wait for a group, a namespace and a queue."""


MOST_WAITING: Final = 16
"""Reviews that wait for groups at once: each asks at every change whether its group is there."""


class VisibilityWait:
    """Waits for objects to be seen, and judges pods then.

    Guarantees: a review waits at most a second for each object, and less than the API server waits
    for all of them. It does not wait for a queue that does not exist. Not guaranteed: that the
    object is seen then.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        notifier: ChangeNotifier,
        exists: Exists,
        *,
        longest: float | None = None,
    ) -> None:
        """`exists`: looks up a queue that was not seen. `longest`: seconds, instead of what is
        guaranteed.
        """
        self._ledger = ledger
        self._require_queue = settings.require_queue
        self._notifier = notifier
        self._exists = exists
        usual = min(LONGEST, settings.webhook.timeout_seconds * _PART)
        self._longest = usual if longest is None else longest
        self._for_groups = 0

    async def until(self, condition: Callable[[], bool]) -> bool:
        """Whether it holds, now or within the time."""
        return condition() or await self._notifier.wait_for(condition, self._longest)

    async def namespace(self, name: str) -> bool:
        """Whether the namespace was seen."""
        return await self.until(lambda: name in self._ledger.namespaces)

    async def queue(self, name: str) -> bool | None:
        """Whether the queue was seen. False: it does not exist. None: it may."""
        if not self._has(name) and await self._exists(name) is False:
            return False
        return await self.until(lambda: self._has(name)) or None

    async def group_of(self, facts: PodFacts) -> None:
        """Wait until the group of these pods was seen, or the time is over. At most 16 reviews wait
        so at once; all others are answered by what is known.
        """
        if not facts.group or self._has_group(facts) or self._for_groups >= MOST_WAITING:
            return
        self._for_groups += 1
        try:
            await self.until(lambda: self._has_group(facts))
        finally:
            self._for_groups -= 1

    async def judge(self, facts: PodFacts) -> Verdict:
        """The verdict as at create, once the pod's namespace and queue were seen, or the time is
        over. Nothing is refused because of a queue that exists and was not seen.
        """
        await self.until(lambda: not self.namespace_unknown(facts))
        verdict = self._verdict(facts)
        if not _of_unseen_queue(verdict):
            return verdict
        exists = await self._exists(verdict.queue)
        if exists is not False:
            await self.until(lambda: not _of_unseen_queue(self._verdict(facts)))
        again = self._verdict(facts)
        if exists and _of_unseen_queue(again) and again.queue == verdict.queue:
            return queue_on_its_way(again.queue)
        return again

    def namespace_unknown(self, facts: PodFacts) -> bool:
        """Whether the pod's namespace, which may have a queue and a mode, has not been seen.

        Then only a gate is a safe answer: the leader opens it by the rules of the namespace. Pods
        that do not use cards are treated the same in every namespace, and so are all in audit mode.
        """
        ledger = self._ledger
        return (
            facts.namespace not in ledger.namespaces
            and ledger.mode_in(facts.namespace) is v.Mode.ENFORCE
            and bool(
                facts.own_queue or facts.group or facts.claims_devices or ledger.uses_cards(facts)
            )
        )

    def _has(self, queue: str) -> bool:
        account = self._ledger.account(queue)
        return account is not None and account.facts is not None

    def _has_group(self, facts: PodFacts) -> bool:
        group = self._ledger.groups.get(facts.group)
        return group is not None and group.facts is not None

    def _verdict(self, facts: PodFacts) -> Verdict:
        return judge_create(self._ledger, facts, require_queue=self._require_queue)


def _of_unseen_queue(verdict: Verdict) -> bool:
    """Whether it names a queue that is missing, or that was created and not seen yet."""
    return verdict.reason is v.Reason.QUEUE_NOT_FOUND and bool(verdict.queue)


Classes = Callable[[str, str, str], Awaitable[Collection[str] | None]]
"""The DeviceClasses of a claim or template, by namespace, kind and name. None: it is not there.
Raises LookupError if that is not known."""
_MOST: Final = 8
"""Claims of one pod that are read."""


class CardlessClaims:
    """Tells claims of DeviceClasses without cards from all others."""

    def __init__(self, ledger: LedgerReader, settings: Settings, classes: Classes) -> None:
        self._ledger = ledger
        self._without_cards = frozenset(settings.device_classes_without_cards)
        self._classes = classes

    async def leave_out(self, spec: PodSpec, namespace: str) -> str:
        """Empty the claims of `spec` if none of them is of a card, where claims are refused.
        Otherwise why they stay, for `with_claims`; empty where nobody looked.
        """
        found = self._ledger.namespaces.get(namespace)
        if not spec.resource_claims or (found is not None and found.mode != v.NAMESPACE_ENFORCED):
            return ""
        claims = named_claims(spec)
        if len(claims) > _MOST:
            return request_messages.claims_not_read(len(claims), _MOST)
        for claim in claims:
            try:
                classes = await self._classes(namespace, claim.kind, claim.name)
            except LookupError as error:
                return request_messages.claim_not_read(*claim, str(error))
            why = why_no_quota_counts(claim, classes, self._without_cards)
            if why:
                return why
        spec.resource_claims = ()
        return ""


def with_claims(verdict: Verdict, why: str) -> Verdict:
    """The verdict, with why a claim is refused."""
    if not why or verdict.reason is not v.Reason.DEVICE_CLAIMED:
        return verdict
    return verdict._replace(text=request_messages.with_claim(verdict.text, why))


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
        audited: Callable[[str, str, Effect], None] = lambda queue, namespace, effect: None,
    ) -> None:
        """`synced`: whether the cluster was read. `late`: whether what is known is too old.
        `audited`: told the queue and namespace of a pod that audit mode lets by, and what
        enforcement would do.
        """
        self._ledger = ledger
        self._settings = settings
        self._beside_volcano = settings.scheduler == "volcano"
        self._ours = written_at_release(settings)
        self._visibility = visibility
        self._claims = claims
        self._synced = synced
        self._late = late
        self._audited = audited
        self.routes: Final[Routes] = {
            (MUTATE, "", "pods"): self.mutate,
            (VALIDATE, "", "pods"): self.validate,
        }

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
            return self._counted_large(request, too_large)
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
        if effect is Effect.WARN and not request.dry_run:
            self._count(facts, verdict)
        gate = effect is Effect.GATE
        waits = gate and (gated or sets_gate)
        if not waits and self._visibility.namespace_unknown(facts):
            if gated and not sets_gate:
                return AdmissionResponse()
            return try_again(queue_messages.namespace_not_seen(facts.namespace))
        if effect is Effect.DENY:
            return _refusal(refusal_of(self._ledger, facts, verdict))
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

    def _count(self, facts: PodFacts, verdict: Verdict) -> None:
        """What enforcement would have done with a pod that audit mode lets by."""
        account = self._ledger.account(verdict.queue)
        known = not verdict.queue or (account is not None and account.facts is not None)
        enforced = self._effect_in(v.Mode.ENFORCE, facts, verdict)
        self._audited(verdict.queue if known else OTHERS, facts.namespace, enforced)

    def _counted_large(self, request: Request, answer: AdmissionResponse) -> AdmissionResponse:
        """The answer to a pod that is not read. In audit mode alone it has a warning."""
        if answer.warnings and not request.dry_run:
            self._audited(OTHERS, request.namespace, Effect.DENY)
        return answer

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
        return self._effect_in(self._ledger.mode_in(facts.namespace), facts, verdict)

    def _effect_in(self, mode: v.Mode, facts: PodFacts, verdict: Verdict) -> Effect:
        policy = self._ledger.policy_of(facts, verdict.queue)
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
        self.routes: Final[Routes] = {(VALIDATE, "", "pods/resize"): self.validate}

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
            later, text = verdict.outcome is Outcome.WAITS, verdict.text
            text = shortfall_messages.exceeded_for_now(text) if later else text
            return deny(text, reason=verdict.reason or "Forbidden")
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
