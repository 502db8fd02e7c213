"""The pods of a workload: what the controllers of Kubernetes and Volcano would create, at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from ...quota.objects.meta import Meta, Owner
from ...quota.objects.node import Affinity, Expression, NodeAffinity, NodeSelector, Term
from ...quota.objects.pod import Pod, PodAnnotations, PodLabels, PodSpec
from ...quota.objects.pod_group import GroupSpec, WrittenGroupMeta, WrittenPodGroup
from ...quota.objects.workload import PodTemplate
from ...quota.selectors.selector import NODE_NAME
from ...quota.vocabulary import DEFAULT_QUEUE
from .inventory import BatchJob, CronJob, Replicated, VolcanoJob, WrittenWorkload, generated

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
