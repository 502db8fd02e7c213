"""The content of the files as typed objects, first the cluster, then the workloads; and the pods
that the controllers of Kubernetes and Volcano would make of these, at once.

If an object appears twice, the last one is used, at the place of the first, as if it had been
applied twice.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Final, NamedTuple, TypeVar, cast

import msgspec
from msgspec.structs import replace

from ...quota.objects.cluster import (
    DeviceClass,
    LimitRange,
    Namespace,
    PriorityClass,
    ResourceClaim,
    RuntimeClass,
)
from ...quota.objects.meta import Meta, Owner, Wire
from ...quota.objects.node import Affinity, Expression, Node, NodeAffinity, NodeSelector, Term
from ...quota.objects.pod import Pod, PodAnnotations, PodLabels, PodSpec
from ...quota.objects.pod_group import GroupMeta, GroupSpec, WrittenGroupMeta, WrittenPodGroup
from ...quota.objects.queue import Queue
from ...quota.objects.workload import PodTemplate
from ...quota.pods.pod_facts import NamedClaim
from ...quota.selectors.selector import NODE_NAME
from ...quota.vocabulary import API_GROUP, DEFAULT_QUEUE
from .yaml_files import Document, YamlFileError

MOST_PODS: Final = 100_000
Number = Annotated[int, msgspec.Meta(ge=0, le=MOST_PODS)]


class _ReplicatedSpec(Wire):
    template: PodTemplate
    replicas: Number | None = None


class Replicated(Wire):
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet."""

    metadata: Meta
    spec: _ReplicatedSpec


class _BatchSpec(Wire):
    template: PodTemplate
    parallelism: Number | None = None
    completions: Number | None = None
    completion_mode: str | None = None
    suspend: bool | None = None


class BatchJob(Wire):
    """A Job of `batch/v1`."""

    metadata: Meta
    spec: _BatchSpec


class CronJob(Wire):
    """A CronJob. Only the name is read: it is not run."""

    metadata: Meta


class Task(Wire):
    """A task of a Volcano Job."""

    template: PodTemplate
    name: str = ""
    replicas: Number = 0
    min_available: Number | None = None


class _VolcanoJobSpec(Wire):
    tasks: tuple[Task, ...] = ()
    queue: str | None = None
    min_available: Number | None = None
    priority_class_name: str | None = None


class VolcanoJob(Wire):
    """A Job of `batch.volcano.sh`. Its annotations go to its pod group."""

    metadata: GroupMeta
    spec: _VolcanoJobSpec = msgspec.field(default_factory=_VolcanoJobSpec)


_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""As in Kubernetes: no vowels, so no words."""


def generated(*parts: object, length: int = 5) -> str:
    """A few letters derived from `parts`."""
    digest = sha256("\0".join(map(str, parts)).encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])


VOLCANO_JOB: Final = "Volcano Job"
"""The name of a Job of Volcano's API group here, as opposed to a Job of Kubernetes."""
DEFAULT_NAMESPACE: Final = "default"

Body = Pod | Replicated | BatchJob | CronJob | VolcanoJob
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WrittenWorkload:
    """An object that makes pods, or a single pod."""

    kind: str
    body: Body


@dataclass(slots=True)
class Inventory:
    """All objects of the files by kind, and what was left out."""

    claims: dict[tuple[str, NamedClaim], ResourceClaim] = field(default_factory=dict)
    """By namespace. Templates of claims too."""
    workloads: list[WrittenWorkload | WrittenPodGroup] = field(default_factory=list)
    """In the order of the files. What a pod group asks for is reserved at its place among them."""
    notes: list[str] = field(default_factory=list)
    others: list[msgspec.Struct] = field(default_factory=list)
    """What the cluster has before any workload comes: nodes, queues, namespaces, ..."""

    def of(self, struct: type[T]) -> list[T]:
        """All others of a kind."""
        return [one for one in self.others if isinstance(one, struct)]

    def named_namespaces(self) -> set[str]:
        """Those of all workloads."""
        return {
            (one.body if isinstance(one, WrittenWorkload) else one).metadata.namespace
            for one in self.workloads
        }


_UNQUOTED: Final = re.compile(r"Expected `str[^,]*, got `(bool|int|float)`")
"""YAML reads `off` as false and `1` as a number where the API server expects a string."""
_CLUSTER_SCOPED: Final = frozenset(
    {"PriorityClass", "RuntimeClass", "DeviceClass", "Node", "Namespace", "Queue"}
)
_TYPES: Final[dict[tuple[str, str], type[msgspec.Struct]]] = {
    ("scheduling.k8s.io", "PriorityClass"): PriorityClass,
    ("node.k8s.io", "RuntimeClass"): RuntimeClass,
    ("resource.k8s.io", "DeviceClass"): DeviceClass,
    ("resource.k8s.io", "ResourceClaim"): ResourceClaim,
    ("resource.k8s.io", "ResourceClaimTemplate"): ResourceClaim,
    ("", "LimitRange"): LimitRange,
    ("", "Node"): Node,
    ("", "Namespace"): Namespace,
    (API_GROUP, "Queue"): Queue,
    (API_GROUP, "PodGroup"): WrittenPodGroup,
    ("", "Pod"): Pod,
    ("apps", "Deployment"): Replicated,
    ("apps", "ReplicaSet"): Replicated,
    ("apps", "StatefulSet"): Replicated,
    ("apps", "DaemonSet"): Replicated,
    ("batch", "Job"): BatchJob,
    ("batch", "CronJob"): CronJob,
    ("batch.volcano.sh", "Job"): VolcanoJob,
}


class _Key(NamedTuple):
    group: str
    kind: str
    namespace: str
    """Empty for a cluster-scoped object."""
    name: str


def struct_of(document: Document) -> type[msgspec.Struct] | None:
    """As what an object is read; None: nobody reads objects of its kind."""
    return _TYPES.get((document.group, document.kind))


def sort_documents(documents: Iterable[Document]) -> Inventory:
    """Read each object with the struct of its kind. Raises YamlFileError."""
    found: dict[_Key, msgspec.Struct] = {}
    inventory = Inventory()
    for document in documents:
        struct = struct_of(document)
        if struct is None:
            inventory.notes.append(f"{document.where}: {document.title} is skipped: not simulated")
            continue
        key, body = _read(document, struct, len(found))
        if key in found:
            inventory.notes.append(
                f"{document.where}: {document.title} again: it replaces the one before"
            )
        found[key] = body
    for key, body in found.items():
        _put(inventory, VOLCANO_JOB if key.group == "batch.volcano.sh" else key.kind, body)
    return inventory


def _read(
    document: Document, struct: type[msgspec.Struct], number: int
) -> tuple[_Key, msgspec.Struct]:
    try:
        body = msgspec.convert(document.body, struct)
    except (msgspec.ValidationError, RecursionError) as error:
        advice = " (put it in quotes)" if _UNQUOTED.search(str(error)) else ""
        problem = f"{document.title} cannot be read: {error}{advice}"
        raise YamlFileError(f"{document.where}: {problem}") from None
    meta = cast("Pod", body).metadata  # all of these kinds have metadata
    if not meta.name and not meta.generate_name:
        raise YamlFileError(f"{document.where}: {document.kind} has no metadata.name")
    meta.name = meta.name or meta.generate_name + generated(meta.generate_name, number)
    meta.resource_version = "0"  # a value from a file has no meaning here
    scoped = document.kind not in _CLUSTER_SCOPED
    meta.namespace = (meta.namespace or DEFAULT_NAMESPACE) if scoped else ""
    return _Key(document.group, document.kind, meta.namespace, meta.name), body


def _put(inventory: Inventory, kind: str, body: msgspec.Struct) -> None:
    match body:
        case ResourceClaim():
            named = NamedClaim(kind, body.metadata.name)
            inventory.claims[body.metadata.namespace, named] = body
        case WrittenPodGroup():
            body.spec.queue = body.spec.queue or DEFAULT_QUEUE
            inventory.workloads.append(body)
        case Pod() | Replicated() | BatchJob() | CronJob() | VolcanoJob():
            inventory.workloads.append(WrittenWorkload(kind, body))
        case _:
            inventory.others.append(body)


_VOLCANO_BATCH: Final = "batch.volcano.sh/v1alpha1"
Matching = Callable[[PodSpec], list[str]]
"""Returns the nodes that a pod's selector and affinity allow."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """The pods of one workload, in the order of creation. `group` is created before them."""

    pods: tuple[Pod, ...] = ()
    group: WrittenPodGroup | None = None
    note: str = ""


def expand(workload: WrittenWorkload, nodes: Matching) -> Expansion:
    """The objects that a workload creates, whatever its status says."""
    body = workload.body
    match body:
        case Pod():
            return Expansion((body,))
        case CronJob():
            return Expansion(note="not run: it creates its Jobs on a schedule")
        case BatchJob():
            return _batch(body)
        case VolcanoJob():
            return _volcano(body)
        case Replicated():
            pods = tuple(_replicated(workload.kind, body, nodes))
            return Expansion(pods, note="" if pods else "asks for no pods")


def _replicated(kind: str, body: Replicated, nodes: Matching) -> Iterator[Pod]:
    meta, template = body.metadata, body.spec.template
    name, owner_kind = meta.name, kind
    if kind == "DaemonSet":
        owner = _owner("apps/v1", kind, name)
        for node in nodes(template.spec):
            suffix = generated(kind, meta.namespace, name, node)
            spec = _on_node(template.spec, node)
            yield _pod(template, meta, f"{name}-{suffix}", owner, spec=spec)
        return
    if kind == "Deployment":
        template_hash = generated(kind, meta.namespace, name, length=10)
        name, owner_kind = f"{name}-{template_hash}", "ReplicaSet"
        labels = replace(template.metadata.labels or PodLabels(), template_hash=template_hash)
        template = replace(template, metadata=replace(template.metadata, labels=labels))
    owner = _owner("apps/v1", owner_kind, name)
    for i in range(1 if body.spec.replicas is None else body.spec.replicas):
        ordinal = kind == "StatefulSet"
        suffix = str(i) if ordinal else generated(kind, meta.namespace, name, i)
        yield _pod(template, meta, f"{name}-{suffix}", owner)


def _batch(job: BatchJob) -> Expansion:
    meta, spec = job.metadata, job.spec
    if spec.suspend:
        return Expansion(note="suspended: it has no pods")
    name = meta.name
    count = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is not None:
        count = min(count, spec.completions)
    owner = _owner("batch/v1", "Job", name)
    pods = []
    for i in range(count):
        suffix = generated("Job", meta.namespace, name, i)
        index = f"{i}-" if spec.completion_mode == "Indexed" else ""
        pods.append(_pod(spec.template, meta, f"{name}-{index}{suffix}", owner))
    return Expansion(tuple(pods), note="" if pods else "asks for no pods")


def _volcano(job: VolcanoJob) -> Expansion:
    """Volcano creates the pod group, copies the job's annotations to it, then creates the pods."""
    meta, spec = job.metadata, job.spec
    name, queue = meta.name, spec.queue or DEFAULT_QUEUE
    group = f"{name}-{generated('Volcano Job', meta.namespace, name)}"
    smallest = sum(t.replicas if t.min_available is None else t.min_available for t in spec.tasks)
    owner = _owner(_VOLCANO_BATCH, "Job", name)
    pods: list[Pod] = []
    for number, task in enumerate(spec.tasks):
        notes = replace(
            task.template.metadata.annotations or PodAnnotations(),
            group=group,
            queue_volcano_job=queue,
        )
        task_meta = replace(task.template.metadata, annotations=notes)
        template = PodTemplate(metadata=task_meta, spec=task.template.spec)
        task_name = task.name or f"default{number}"
        pods += [
            _pod(template, meta, f"{name}-{task_name}-{i}", owner) for i in range(task.replicas)
        ]
    new = WrittenPodGroup(
        metadata=WrittenGroupMeta(
            name=group,
            namespace=meta.namespace,
            annotations=job.metadata.annotations,
            owner_references=(owner,),
        ),
        spec=GroupSpec(
            queue=queue,
            min_member=spec.min_available or smallest,
            priority_class_name=spec.priority_class_name,
        ),
    )
    note = "" if pods else "asks for no pods"
    return Expansion(tuple(pods), new, note=note)


def _pod(
    template: PodTemplate, workload: Meta, name: str, owner: Owner, *, spec: PodSpec | None = None
) -> Pod:
    meta = replace(
        template.metadata, name=name, namespace=workload.namespace, owner_references=(owner,)
    )
    return Pod(metadata=meta, spec=spec or template.spec)


def _owner(api_version: str, kind: str, name: str) -> Owner:
    return Owner(api_version=api_version, kind=kind, name=name, controller=True)


def _on_node(spec: PodSpec, node: str) -> PodSpec:
    """What the DaemonSet controller adds so that a pod runs only on this node."""
    own = spec.affinity and spec.affinity.node_affinity and spec.affinity.node_affinity.required
    here = (Expression(key=NODE_NAME, operator="In", values=(node,)),)
    terms = (own.node_selector_terms if own else ()) or (Term(),)
    required = NodeSelector(
        node_selector_terms=tuple(replace(term, match_fields=here) for term in terms)
    )
    return replace(spec, affinity=Affinity(node_affinity=NodeAffinity(required=required)))
