"""Reviews of `*/scale`: how many replicas fit. People are refused what does not fit; autoscalers
get the part that fits, and are refused once nothing more does.

It is advice from the present view, given early: each pod gets its own answer. Where pods would wait
at the gate (policy Gate), and where nothing is enforced, it is a warning. Pods that are being
deleted hold their cards, and count. Nothing is said of an object whose pods are not known, nor of
a Scale that cannot be read.

One review for each scale-up: the mutating one of autoscalers, which alone may change the number,
and the validating one of all others.

Of what is scaled, Deployments, StatefulSets and ReplicaSets are watched. Of any other object it is
known which pods it will make, and what makes them, by the workloads that it owns, or else by one of
its pods, which the selector of its Scale finds.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Final, NamedTuple

import msgspec

from cardquota.cluster.events import ObjectReference
from cardquota.install.webhook_objects import MUTATE, VALIDATE
from cardquota.loop.timing import WorkQueue
from cardquota.quota import vocabulary as v
from cardquota.quota.amounts import Amounts
from cardquota.quota.decisions.create_judgement import on_the_way
from cardquota.quota.decisions.verdict_texts import holders_text
from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.messages import shortfall_messages, workload_messages
from cardquota.quota.objects.meta import Wire
from cardquota.quota.objects.pod import Pod, PodAnnotations, PodMeta
from cardquota.quota.objects.workload import PodTemplate
from cardquota.quota.pods.pod_facts import PodFacts
from cardquota.quota.pods.queue_pods import WorkloadUsage
from cardquota.quota.pods.workload_facts import WorkloadFacts, pod_of, pod_of_template
from cardquota.quota.verdict import Effect, Outcome, Verdict
from cardquota.settings import Settings

from .fitting import WorkloadRoom, told, told_partly
from .pods import VisibilityWait
from .review import (
    ANY,
    SCALE,
    UNREADABLE,
    AdmissionResponse,
    Request,
    Routes,
    deny,
    json_patch,
    too_large,
    try_again,
)
from .workload_objects import KINDS, Makers, is_made_by

Replicas = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
"""A number that the API server could send: it has 32 bits."""


class _ScaleMeta(Wire):
    name: str = ""
    uid: str = ""


class _ScaleSpec(Wire):
    replicas: Replicas | None = None


class _ScaleStatus(Wire):
    replicas: Replicas | None = None
    selector: str | None = None


class Scale(Wire):
    """The scale subresource of any kind."""

    metadata: _ScaleMeta = msgspec.field(default_factory=_ScaleMeta)
    spec: _ScaleSpec | None = None
    status: _ScaleStatus | None = None

    @property
    def replicas(self) -> int:
        """Of its specification."""
        return (self.spec.replicas or 0) if self.spec is not None else 0

    @property
    def present(self) -> int:
        """Of its status."""
        return (self.status.replicas or 0) if self.status is not None else 0

    @property
    def selector(self) -> str:
        """Which pods are its own, as a label selector; empty if it says none."""
        return (self.status.selector or "") if self.status is not None else ""


PodLookup = Callable[[str, str], Awaitable[Pod | None]]
"""One pod of a namespace that a label selector selects, if it can be found."""

_WATCHED: Final = {
    "deployments": "Deployment",
    "statefulsets": "StatefulSet",
    "replicasets": "ReplicaSet",
}
"""By resource, of the API group `apps`."""


class ScaleTarget(NamedTuple):
    """An object that is scaled."""

    uid: str
    what: str
    """As people name it: `Deployment`, or the resource, `rollouts`."""
    api_version: str
    namespace: str
    name: str
    pod: PodFacts
    """The pod that each replica will be."""
    makers: Makers | None
    """What makes its pods. None if that is not known."""


class ScaleTargets:
    """Finds what is scaled."""

    def __init__(self, ledger: LedgerReader, pods: PodLookup) -> None:
        self._ledger = ledger
        self._pods = pods

    async def find(self, request: Request, scale: Scale) -> ScaleTarget | None:
        """None if its pods are none of ours, or nothing is known of them."""
        resource, uid = request.resource, scale.metadata.uid
        kind = _WATCHED.get(resource.resource) if resource.group == "apps" else None
        if kind is not None:
            found = self._ledger.workloads.named(kind, request.namespace, request.name)
            if found is None or (uid and found.uid != uid):
                return None
            return self.of_workload(found)
        return self._of_owned(request, uid) or await self._of_pods(request, scale)

    def of_workload(self, found: WorkloadFacts) -> ScaleTarget | None:
        """A workload that is watched. None if its template is not known."""
        resource = _resource(found)
        maker = KINDS[resource]
        pod = pod_of(found, maker, self._ledger.defaults)
        if pod is None:
            return None
        makers: Makers = {maker: partial(is_made_by, resource, found.name)}
        return ScaleTarget(
            uid=found.uid,
            what=found.kind,
            api_version="apps/v1",
            namespace=found.namespace,
            name=found.name,
            pod=pod,
            makers=makers,
        )

    def _of_owned(self, request: Request, uid: str) -> ScaleTarget | None:
        """An object that owns workloads. The youngest of these has the template of new pods."""
        owned = self._ledger.workloads.owned_by(uid, request.namespace) if uid else []
        if not owned:
            return None
        youngest = max(owned, key=lambda one: (one.created, one.replicas > 0))
        pod = pod_of(youngest, KINDS[_resource(youngest)], self._ledger.defaults)
        if pod is None:
            return None
        names: dict[str, set[str]] = {}
        for one in owned:
            names.setdefault(one.kind, set()).add(one.name)
        makers: Makers = {kind: found.__contains__ for kind, found in names.items()}
        kind = next((one.owner_kind for one in owned if one.owner == uid), "")
        return _other(request, uid, kind, pod, makers)

    async def _of_pods(self, request: Request, scale: Scale) -> ScaleTarget | None:
        """An object whose pods are found by their labels. Its next pod asks for the same as one of
        these.
        """
        if not scale.selector:
            return None
        found = await self._pods(request.namespace, scale.selector)
        if found is None:
            return None
        owner = next((o for o in found.metadata.owner_references or () if o.controller), None)
        kind = owner.kind if owner is not None else ""
        pod = pod_of_template(_template(found), request.namespace, kind)
        return _other(request, scale.metadata.uid, kind, pod, None)


def _resource(found: WorkloadFacts) -> str:
    return f"{found.kind.lower()}s"


def _other(
    request: Request, uid: str, kind: str, pod: PodFacts, makers: Makers | None
) -> ScaleTarget:
    resource, name = request.resource, request.name
    what = kind or resource.resource
    version = f"{resource.group}/{resource.version}" if resource.group else resource.version
    return ScaleTarget(uid, what, version, request.namespace, name, pod, makers)


def _template(pod: Pod) -> PodTemplate:
    """What a stored pod was made from, without what was written on it since. If we released it
    its affinity is left out: it was narrowed to the card that it got (P5).
    """
    notes = pod.metadata.annotations or PodAnnotations()
    asked = PodAnnotations(
        card_name=notes.card_name,
        card_alias=notes.card_alias,
        queue=notes.queue,
        queue_volcano_job=notes.queue_volcano_job,
        group=notes.group,
        task=notes.task,
    )
    spec = msgspec.structs.replace(
        pod.spec, node_name=None, scheduling_gates=(), resource_claims=()
    )
    if notes.allocated is not None:
        spec = msgspec.structs.replace(spec, affinity=None)
    return PodTemplate(metadata=PodMeta(annotations=asked), spec=spec)


MOST_WAITING: Final = 64
"""Reviews of one namespace that may wait for their turn. Others are to try again."""
_DECODER: Final = msgspec.json.Decoder(Scale)
_OLD: Final[msgspec.json.Decoder[Scale | None]] = msgspec.json.Decoder(Scale | None)
_JUDGED: Final = (Outcome.FITS, Outcome.WAITS)


Cut = Callable[[ObjectReference, str, str], None]
"""Called with a workload whose autoscaler got a part, what is to be said, and its topic."""


class _Asks(NamedTuple):
    """What is asked for."""

    asked: int
    before: int
    """Replicas that it wants until now."""
    kept: int | None
    """Replicas that hold their quota already; None: its pods tell."""
    grants: bool
    """Whether a part may be granted."""
    dry_run: bool


class ScaleReviews:
    """Answers reviews of scale-ups from the ledger's view, on any replica. It charges nothing."""

    def __init__(
        self,
        ledger: LedgerReader,
        settings: Settings,
        visibility: VisibilityWait,
        targets: ScaleTargets,
        cut: Cut,
        known: Callable[[], bool],
    ) -> None:
        """`cut`: writes an event. `known`: whether the cluster was read, and what is known of it is
        not old.
        """
        self._ledger = ledger
        self._autoscalers = frozenset(settings.scale.autoscalers)
        self._visibility = visibility
        self._targets = targets
        self._cut = cut
        self._known = known
        self._room = WorkloadRoom(ledger, settings)
        self._turns = WorkQueue[AdmissionResponse]()
        self._waiting = Counter[str]()
        """By namespace."""
        self.routes: Final[Routes] = {
            (MUTATE, ANY, SCALE): self.mutate,
            (VALIDATE, ANY, SCALE): self.validate,
        }

    async def mutate(self, request: Request) -> AdmissionResponse:
        """The answer to autoscalers."""
        return await self._answer(request, grants=True)

    async def validate(self, request: Request) -> AdmissionResponse:
        """The answer to all others, who get what they asked for or nothing."""
        return await self._answer(request, grants=False)

    async def _answer(self, request: Request, *, grants: bool) -> AdmissionResponse:
        if not self._known() or too_large(request):
            return AdmissionResponse()
        try:
            scale, before = _read(request)
        except UNREADABLE:
            return AdmissionResponse()  # of an API that we do not know
        request.drop_objects()
        if scale.replicas <= before.replicas:
            return AdmissionResponse()
        target = await self._targets.find(request, before if before.metadata.uid else scale)
        if target is None:
            return AdmissionResponse()
        if self._waiting[target.namespace] >= MOST_WAITING:
            return try_again(workload_messages.too_many_at_once(target.namespace))
        self._waiting[target.namespace] += 1
        try:
            verdict = await self._visibility.judge(target.pod)
            own = await self._room.held_by(verdict.queue, target.namespace, target.makers or {})
            asks = _Asks(
                asked=scale.replicas,
                before=before.replicas,
                kept=min(before.replicas, before.present) if target.makers is None else None,
                grants=grants and request.user_info.username in self._autoscalers,
                dry_run=bool(request.dry_run),
            )
            return await self._turns.do(lambda: self._judge(target, verdict, asks, own))
        finally:
            self._waiting[target.namespace] -= 1
            if not self._waiting[target.namespace]:
                del self._waiting[target.namespace]

    def _judge(
        self, target: ScaleTarget, verdict: Verdict, asks: _Asks, own: WorkloadUsage | None
    ) -> AdmissionResponse:
        if verdict.outcome is not Outcome.UNSEEN:
            verdict = self._room.judged(target.pod)  # much may have changed since
        if verdict.outcome is Outcome.NEVER:
            text = workload_messages.scale_never_fits(verdict.text, target.what, target.name)
            effect = self._room.effect(target.pod, verdict)
            return _answer(effect, verdict, text, told(effect, text))
        account = self._ledger.account(verdict.queue)
        if verdict.outcome not in _JUDGED or account is None or own is None:
            return AdmissionResponse(warnings=verdict.warnings)
        effect = self._room.effect(target.pod, verdict._replace(outcome=Outcome.WAITS))
        if effect is Effect.ALLOW:
            return AdmissionResponse(warnings=verdict.warnings)
        asked, kept = asks.asked, own.holding if asks.kept is None else asks.kept
        way = on_the_way(self._ledger, account, but=own.waiting)
        found = self._room.fitting(account, target.pod, asked, kept, way)
        if found.pods >= asked:
            return AdmissionResponse(warnings=verdict.warnings)
        why, held = self._why(target.pod, account.name, asked - kept, way, found.extra)
        short = shortfall_messages.shortly_with_held(why, held)
        if asks.grants and effect is Effect.DENY and found.pods > asks.before:
            return self._grant(target, asks, found.pods, short)
        text = workload_messages.scale_refused(why, target.what, target.name, asked, found.pods)
        text = shortfall_messages.with_held(shortfall_messages.exceeded_for_now(text), held)
        partly = told_partly(effect, target.name, asked, found.pods, short)
        return _answer(effect, verdict, text, partly)

    def _why(
        self, facts: PodFacts, queue: str, more: int, way: Amounts, extra: Amounts
    ) -> tuple[str, str]:
        """The sentence for the replicas that it lacks, beside pods on their `way`, and who holds
        what these ask for. Where each may get another card, that for the next one, beside `extra`.
        """
        if more > 1 and len(self._ledger.request_of(facts, queue).cards) < 2:
            devices = tuple((resource, amount * more) for resource, amount in facts.devices)
            all_of_them = replace(
                facts, devices=devices, cpu=facts.cpu * more, memory=facts.memory * more
            )
            found = self._room.judged_beside(all_of_them, way)
            if found.shortfalls:
                return self._sentences(facts, queue, found)
        found = self._room.judged_beside(facts, extra, may_borrow=False)
        return self._sentences(facts, queue, found)

    def _sentences(self, facts: PodFacts, queue: str, found: Verdict) -> tuple[str, str]:
        shorts = found.shortfalls
        text = shortfall_messages.shortfalls(queue, shorts) or found.text
        return text, holders_text(self._ledger, facts, queue, shorts)

    def _grant(self, target: ScaleTarget, asks: _Asks, fits: int, why: str) -> AdmissionResponse:
        """A part of what an autoscaler asked for."""
        asked = asks.asked
        if not asks.dry_run:
            about = ObjectReference(
                target.what, target.api_version, target.namespace, target.name, target.uid
            )
            text = workload_messages.scale_granted_event(asked, fits, why)
            self._cut(about, text, f"{fits}/{asked}")
        granted = workload_messages.scale_granted(target.what, target.name, asked, fits)
        return AdmissionResponse(
            patch=json_patch({"op": "replace", "path": "/spec/replicas", "value": fits}),
            warnings=(granted, why),
        )


def _answer(
    effect: Effect, verdict: Verdict, text: str, warnings: tuple[str, ...]
) -> AdmissionResponse:
    """A refusal with this text; where nothing is refused, the warnings."""
    if effect is Effect.DENY:
        return deny(text, reason=verdict.reason or v.Reason.INSUFFICIENT_CARD)
    return AdmissionResponse(warnings=warnings)


def _read(request: Request) -> tuple[Scale, Scale]:
    """The Scale, and what it was before. Raises ValueError for what cannot be read."""
    return _DECODER.decode(request.object), _OLD.decode(request.old_object) or Scale()
