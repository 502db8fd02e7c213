"""The Queue: a tenant's quota. Volcano's object, with additions to its status.

Card quotas are in annotations (`quota.vocabulary`), not in the spec. The spec is Volcano's, field
for field, so objects move between the two without a change.
"""

from typing import Final

from cardquota.quota.vocabulary import API_GROUP, VERSION

from .constraint import constrained, rule
from .custom_resource import Column, CustomResource
from .number_field import Int32, Int64
from .object_meta import ObjectMeta
from .quantity_field import ResourceList, not_negative
from .queue_status import QueueStatusSchema
from .wire import WireModel

_FLAT: Final = rule(
    "self == '' || self == 'root'",
    "queues are flat here: a queue has no parent but 'root'. Leave spec.parent out, and give "
    "every queue the whole of its quota",
)
_WEIGHT: Final = rule(
    "self >= 1",
    "weight is a queue's share compared with other queues and must be at least 1",
)


class GuaranteeSchema(WireModel):
    """What is kept for a queue and lent to nobody."""

    resource: ResourceList | None = constrained(rules=[not_negative("guarantee.resource")])
    """Amounts by resource name."""


class ExtendCluster(WireModel):
    """Another cluster that jobs of the queue may be sent to."""

    name: str | None = None
    """Its name."""
    weight: Int32 | None = None
    """Its share compared with the other clusters."""
    capacity: ResourceList | None = None
    """What it has."""


class NodeGroupRule(WireModel):
    """Node groups that a queue must, or would rather, use or avoid."""

    required_during_scheduling_ignored_during_execution: list[str] | None = None
    """Node groups for which the rule is strict."""
    preferred_during_scheduling_ignored_during_execution: list[str] | None = None
    """Node groups for which the rule is a wish."""


class QueueAffinity(WireModel):
    """On which groups of nodes the pods of a queue may run."""

    node_group_affinity: NodeGroupRule | None = None
    """Node groups to use."""
    node_group_anti_affinity: NodeGroupRule | None = None
    """Node groups to avoid."""


class DeviceQuota(WireModel):
    """How much of one device class."""

    count: Int64
    """How many devices."""
    capacity: ResourceList | None = None
    """Consumable capacity, by dimension."""


class DeviceQuotas(WireModel):
    """Amounts of devices claimed by Dynamic Resource Allocation, by device class."""

    capability: dict[str, DeviceQuota] | None = None
    """The most that may be used."""
    deserved: dict[str, DeviceQuota] | None = None
    """What is used beyond this may be taken back."""
    guarantee: dict[str, DeviceQuota] | None = None
    """What is always kept for the queue."""


class QueueSpecSchema(WireModel):
    """What is wanted of a queue."""

    weight: Int32 | None = constrained(server_default=1, maximum=65535, rules=[_WEIGHT])
    """The queue's share, compared with the weights of other queues."""
    capability: ResourceList | None = constrained(rules=[not_negative("capability")])
    """The most of cpu and memory that the queue may hold; a resource that is absent is not
    limited. Cards are limited by the annotation volcano.sh/card.quota: their resource names are
    allowed here, for Volcano, and do not count for card quotas."""
    reclaimable: bool | None = constrained(server_default=True)
    """Whether others may take back what the queue holds beyond what it deserves."""
    extend_clusters: list[ExtendCluster] | None = None
    """Other clusters that jobs of the queue may be sent to."""
    guarantee: GuaranteeSchema | None = None
    """What is kept for the queue even while it does not use it."""
    affinity: QueueAffinity | None = None
    """On which groups of nodes the queue's pods may run."""
    type: str | None = constrained(maxLength=253)
    """A free classification of the queue."""
    parent: str | None = constrained(maxLength=253, rules=[_FLAT])
    """Queues are flat: absent, or 'root'."""
    deserved: ResourceList | None = constrained(rules=[not_negative("deserved")])
    """What the queue may hold without having to give it back."""
    priority: Int32 | None = constrained(minimum=0)
    """Queues with a higher number are served first."""
    dequeue_strategy: str | None = constrained(server_default="traverse", enum=["fifo", "traverse"])
    """What happens behind a job that has to wait: with 'fifo' the rest of the queue waits too, with
    'traverse' it goes on."""
    dra: DeviceQuotas | None = None
    """Amounts of devices claimed by Dynamic Resource Allocation. For Volcano: such devices do not
    count for card quotas."""


class QueueSchema(WireModel):
    """A tenant's quota: how much of which cards, and of cpu and memory, its pods may hold."""

    api_version: str = f"{API_GROUP}/{VERSION}"
    kind: str = "Queue"
    metadata: ObjectMeta = ObjectMeta()
    spec: QueueSpecSchema = QueueSpecSchema()
    """What is wanted of the queue. Its card quota stands in the annotation
    volcano.sh/card.quota."""
    status: QueueStatusSchema = QueueStatusSchema()
    """What the queue holds now; written by controllers."""


QUEUE: Final = CustomResource(
    kind="Queue",
    model=QueueSchema,
    plural="queues",
    short_names=("q", "queue-v1beta1"),
    scope="Cluster",
    status_subresource=True,
    columns=(
        Column("STATE", ".status.state", "Whether the queue takes new work"),
        Column("CARDS", ".status.columns.cards", "Allocated cards and quota, per card"),
        Column("INQUEUE", ".status.columns.inqueue", "Let through and not yet on a node"),
        Column("ELASTIC", ".status.columns.elastic", "Beyond the minimum of pod groups"),
        Column("NOTE", ".status.columns.note", "What is wrong with it; empty if nothing is"),
        Column("AGE", ".metadata.creationTimestamp", type="date"),
        Column("REQUESTED", ".status.columns.requested", "Asked for, waiting included", wide=True),
        Column("CPU", ".status.columns.cpu", "Allocated cores and limit", wide=True),
        Column("MEMORY", ".status.columns.memory", "Allocated memory and limit", wide=True),
    ),
)
