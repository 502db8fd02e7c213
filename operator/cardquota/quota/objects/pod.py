"""Pods: what they ask for, where they may run, and their state."""

from typing import Final

from msgspec import Raw, field
from msgspec.json import Decoder
from msgspec.structs import asdict

from .. import vocabulary as v
from ..limits import BODY
from .meta import Meta, Owner, ResourceList, Wire
from .node import Affinity, Toleration


class PodAnnotations(Wire):
    """The annotations of a pod that mean something to us."""

    card_name: str | None = field(default=None, name=v.CARD_NAME)
    card_alias: str | None = field(default=None, name=v.CARD_NAME_ALIAS)
    queue: str | None = field(default=None, name=v.QUEUE_NAME)
    queue_volcano_job: str | None = field(default=None, name=v.QUEUE_NAME_VOLCANO_JOB)
    group: str | None = field(default=None, name=v.GROUP_NAME)
    task: str | None = field(default=None, name=v.TASK)
    allocated: str | None = field(default=None, name=v.ALLOCATED)
    charged_queue: str | None = field(default=None, name=v.CHARGED_QUEUE)
    term: str | None = field(default=None, name=v.TERM)
    plan: str | None = field(default=None, name=v.RECLAIM_PLAN)
    bound: str | None = field(default=None, name=v.BOUND)
    memory_card: str | None = field(default=None, name=v.GPU_MEMORY_CARD)
    memory_of_pod: str | None = field(default=None, name=v.GPU_MEMORY_OF_POD)
    memory_assigned: str | None = field(default=None, name=v.GPU_MEMORY_ASSIGNED)
    memory_assumed_at: str | None = field(default=None, name=v.GPU_MEMORY_ASSUMED_AT)
    mirror: str | None = field(default=None, name="kubernetes.io/config.mirror")
    preemptable: str | None = field(default=None, name=v.PREEMPTABLE)


class PodLabels(Wire):
    """The labels of a pod that mean something to us."""

    managed: str | None = field(default=None, name=v.MANAGED)
    template_hash: str | None = field(default=None, name="pod-template-hash")
    """Of a Deployment's pod: the end of the name of its ReplicaSet."""
    dag: str | None = field(default=None, name="dag_id")
    """Of a task of Airflow."""
    spark_role: str | None = field(default=None, name="spark-role")
    """Of Spark: `driver` or `executor`."""
    preemptable: str | None = field(default=None, name=v.PREEMPTABLE)


class PodMeta(Meta):
    """Metadata of a pod."""

    annotations: PodAnnotations | None = None
    labels: PodLabels | None = None
    owner_references: tuple[Owner, ...] = ()


class Resources(Wire):
    """Resource requirements of a container or of a pod as a whole."""

    limits: ResourceList | None = None
    requests: ResourceList | None = None


class Container(Wire):
    """A container. Only what decides its resources is read."""

    name: str = ""
    resources: Resources | None = None
    restart_policy: str | None = None


class Gate(Wire):
    """A scheduling gate."""

    name: str


class PodResourceClaim(Wire):
    """A claim of devices by Dynamic Resource Allocation, by itself or by its template (P7)."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class HeldSpec(Wire):
    """The part of a pod's specification that says what it holds, not where it may run.

    Once stored, none of these lists can have very many very small elements: each element needs a
    name of its own.
    """

    containers: tuple[Container, ...] | None = ()
    init_containers: tuple[Container, ...] | None = ()
    overhead: ResourceList | None = None
    resources: Resources | None = None
    scheduling_gates: tuple[Gate, ...] | None = ()
    node_name: str | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    preemption_policy: str | None = None
    runtime_class_name: str | None = None
    resource_claims: tuple[PodResourceClaim, ...] | None = ()


class PodSpec(HeldSpec):
    """Specification of a pod."""

    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = ()
    scheduler_name: str = ""


class PodCondition(Wire):
    """A condition of a pod; `PodScheduled` says when it was bound, or why it was not."""

    type: str
    status: str = ""
    reason: str | None = None
    last_transition_time: str | None = None


class ResourcesOnNode(Wire):
    """What the node has set aside, and what it has carried out: they differ from the specification
    while a pod is resized.
    """

    allocated_resources: ResourceList | None = None
    resources: Resources | None = None


class _ContainerStatus(ResourcesOnNode):
    name: str = ""


class PodStatus(ResourcesOnNode):
    """Status of a pod."""

    phase: str = ""
    conditions: tuple[PodCondition, ...] | None = ()
    container_statuses: tuple[_ContainerStatus, ...] | None = ()
    init_container_statuses: tuple[_ContainerStatus, ...] | None = ()


class Pod(Wire):
    """A pod."""

    metadata: PodMeta
    spec: PodSpec = field(default_factory=PodSpec)
    status: PodStatus = field(default_factory=PodStatus)

    @staticmethod
    def decode(encoded: bytes | Raw) -> "Pod":
        """Decode a stored pod of any size. One that is too long becomes a `LargePod`."""
        if len(encoded) <= BODY.most:
            return _WHOLE.decode(encoded)
        held = _HELD.decode(encoded)
        spec = PodSpec(**asdict(held.spec))
        size = len(encoded)
        return LargePod(metadata=held.metadata, spec=spec, status=held.status, size=size)


class LargePod(Pod):
    """A longer pod than is read. Where it may run is not known."""

    size: int = 0
    """Bytes of its JSON."""


class _HeldPod(Wire):
    metadata: PodMeta
    spec: HeldSpec = field(default_factory=HeldSpec)
    status: PodStatus = field(default_factory=PodStatus)


_WHOLE: Final = Decoder(Pod)
_HELD: Final = Decoder(_HeldPod)
