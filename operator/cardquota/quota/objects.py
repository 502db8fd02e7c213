"""What we read of Kubernetes objects, and nothing more: the only place that knows their JSON.

The structs are partial: msgspec skips every field that is not named here without building it, so
decoding a pod costs microseconds. They live only as long as one event: what is kept is in
`pod_facts`, `node_facts`, `queue_facts` and `group_facts`.
"""

from typing import Any

from msgspec import Struct, field

from . import vocabulary as v
from .quantity import Quantity

Amounts = dict[str, Quantity]


class Wire(Struct, rename="camel", kw_only=True):
    """Base of all structs: camelCase on the wire, absent fields take their defaults."""


class Owner(Wire):
    """An owner reference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class PodAnnotations(Wire):
    """The annotations of a pod that mean something to us."""

    card_name: str | None = field(default=None, name=v.CARD_NAME)
    card_alias: str | None = field(default=None, name=v.CARD_NAME_ALIAS)
    queue: str | None = field(default=None, name=v.QUEUE_NAME)
    queue_volcano_job: str | None = field(default=None, name=v.QUEUE_NAME_VOLCANO_JOB)
    group: str | None = field(default=None, name=v.GROUP_NAME)
    allocated: str | None = field(default=None, name=v.ALLOCATED)
    charged_queue: str | None = field(default=None, name=v.CHARGED_QUEUE)
    term: str | None = field(default=None, name=v.TERM)
    mirror: str | None = field(default=None, name="kubernetes.io/config.mirror")


class Meta(Wire):
    """Object metadata without annotations and labels."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = field(default="0", name="resourceVersion")
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    generation: int = 0


class PodMeta(Meta):
    """Metadata of a pod."""

    annotations: PodAnnotations | None = None
    owner_references: tuple[Owner, ...] = ()


class Resources(Wire):
    """Resource requirements of a container or of a pod as a whole."""

    limits: Amounts | None = None
    requests: Amounts | None = None


class Container(Wire):
    """A container, of which only the resources count."""

    resources: Resources | None = None
    restart_policy: str | None = None


class Gate(Wire):
    """A scheduling gate."""

    name: str


class Expression(Wire):
    """One node selector requirement."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None


class Term(Wire, omit_defaults=True):
    """One node selector term; its requirements hold together."""

    match_expressions: tuple[Expression, ...] | None = None
    match_fields: tuple[Expression, ...] | None = None


class NodeSelector(Wire):
    """Terms of which one must hold."""

    node_selector_terms: tuple[Term, ...] = ()


class NodeAffinity(Wire):
    """Required node affinity; what is only preferred does not concern us."""

    required: NodeSelector | None = field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Wire):
    """Affinity of a pod."""

    node_affinity: NodeAffinity | None = None


class ResourceClaim(Wire):
    """A claim of a device by Dynamic Resource Allocation (P7)."""

    name: str = ""


class PodSpec(Wire):
    """Specification of a pod."""

    containers: tuple[Container, ...] | None = ()
    init_containers: tuple[Container, ...] | None = ()
    overhead: Amounts | None = None
    resources: Resources | None = None
    scheduling_gates: tuple[Gate, ...] | None = ()
    node_name: str | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    resource_claims: tuple[ResourceClaim, ...] | None = ()


class PodCondition(Wire):
    """A condition of a pod; `PodScheduled` says when it was bound."""

    type: str
    status: str = ""
    last_transition_time: str | None = None


class PodStatus(Wire):
    """Status of a pod."""

    phase: str = ""
    conditions: tuple[PodCondition, ...] | None = ()


class Pod(Wire):
    """A pod."""

    metadata: PodMeta
    spec: PodSpec = field(default_factory=PodSpec)
    status: PodStatus = field(default_factory=PodStatus)


class LabelledMeta(Meta):
    """Metadata with labels."""

    labels: dict[str, str] | None = None


class NodeCondition(Wire):
    """A condition of a node."""

    type: str
    status: str = ""


class NodeStatus(Wire):
    """Status of a node."""

    allocatable: Amounts | None = None
    conditions: tuple[NodeCondition, ...] | None = ()


class NodeSpec(Wire):
    """Specification of a node."""

    unschedulable: bool = False


class Node(Wire):
    """A node."""

    metadata: LabelledMeta
    spec: NodeSpec = field(default_factory=NodeSpec)
    status: NodeStatus = field(default_factory=NodeStatus)


class NamespaceAnnotations(Wire):
    """The annotations of a namespace that mean something to us."""

    queue: str | None = field(default=None, name=v.QUEUE_NAME)


class NamespaceMeta(LabelledMeta):
    """Metadata of a namespace."""

    annotations: NamespaceAnnotations | None = None


class Namespace(Wire):
    """A namespace."""

    metadata: NamespaceMeta


class QueueAnnotations(Wire):
    """The annotations of a queue that mean something to us."""

    quota: str | None = field(default=None, name=v.QUOTA)
    policy: str | None = field(default=None, name=v.POLICY)
    namespaces: str | None = field(default=None, name=v.NAMESPACES)
    state: str | None = field(default=None, name=v.QUEUE_STATE)


class ManagedFields(Wire):
    """Who wrote which fields."""

    manager: str = ""
    fields: dict[str, Any] = field(default_factory=dict, name="fieldsV1")


class QueueMeta(Meta):
    """Metadata of a queue."""

    annotations: QueueAnnotations | None = None
    managed_fields: tuple[ManagedFields, ...] | None = ()


class Guarantee(Wire):
    """Resources a queue is guaranteed."""

    resource: Amounts | None = None


class QueueSpec(Wire):
    """Specification of a queue."""

    capability: Amounts | None = None
    deserved: Amounts | None = None
    guarantee: Guarantee | None = None
    weight: int | None = None
    priority: int | None = None
    parent: str | None = None
    dequeue_strategy: str | None = None


class QueueStatusCard(Wire):
    """A row of our own status: where the last good quota and the resource name survive us."""

    name: str = ""
    resource: str | None = None
    quota: int = 0


class QueueStatus(Wire):
    """Status of a queue."""

    state: str | None = None
    cards: tuple[QueueStatusCard, ...] | None = ()


class Queue(Wire):
    """A queue."""

    metadata: QueueMeta
    spec: QueueSpec = field(default_factory=QueueSpec)
    status: QueueStatus = field(default_factory=QueueStatus)


class GroupAnnotations(Wire):
    """The annotations of a pod group that mean something to us."""

    request: str | None = field(default=None, name=v.REQUEST)
    reservation: str | None = field(default=None, name=v.RESERVATION)


class GroupMeta(Meta):
    """Metadata of a pod group."""

    annotations: GroupAnnotations | None = None


class GroupSpec(Wire):
    """Specification of a pod group."""

    queue: str | None = None
    min_member: int | None = None
    min_resources: Amounts | None = None
    priority_class_name: str | None = None


class GroupStatus(Wire):
    """Status of a pod group."""

    phase: str | None = None
    running: int | None = None


class PodGroup(Wire):
    """A pod group."""

    metadata: GroupMeta
    spec: GroupSpec = field(default_factory=GroupSpec)
    status: GroupStatus = field(default_factory=GroupStatus)


class PriorityClass(Wire):
    """A priority class."""

    metadata: Meta
    value: int = 0
    global_default: bool = False
