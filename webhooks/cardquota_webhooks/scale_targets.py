"""What is read of a Scale, and what it scales: which pods it will make, and what makes them.

Deployments, StatefulSets and ReplicaSets are watched. Of any other object it is known by the
workloads that it owns, or else by one of its pods, which the selector of its Scale finds.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Final, NamedTuple

import msgspec

from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.objects.meta import Wire
from cardquota.quota.objects.pod import Pod, PodAnnotations, PodMeta
from cardquota.quota.objects.workload import PodTemplate
from cardquota.quota.pods.pod_facts import PodFacts
from cardquota.quota.pods.workload_facts import WorkloadFacts, pod_of, pod_of_template

from .review import Request
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
