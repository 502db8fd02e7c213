"""The Queue: a tenant's quota. Volcano's object, and in its status our rows per card and resource.

Card quotas are in annotations (`quota.vocabulary`), not in the spec. The spec has Volcano's fields,
so objects move between the two without a change; what only Volcano reads is kept as it is written.
"""

from typing import Final

from pydantic import Field

from .custom_resource import Column, CustomResource
from .fields import (
    Count32,
    Int32,
    Int64,
    Opaque,
    QuantityText,
    ResourceList,
    StoredObject,
    Time,
    WireModel,
    constrained,
    not_negative,
    rule,
)

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
    """Resources that are kept for a queue and lent to no other queue."""

    resource: ResourceList | None = constrained(rules=[not_negative("guarantee.resource")])
    """Amounts by resource name."""


class QueueSpecSchema(WireModel):
    """The settings of a queue."""

    weight: Int32 | None = constrained(server_default=1, maximum=65535, rules=[_WEIGHT])
    """The queue's share, relative to the weights of other queues."""
    capability: ResourceList | None = constrained(rules=[not_negative("capability")])
    """The most cpu and memory that the queue may hold. A resource that is not listed is not
    limited. Cards are limited by the annotation volcano.sh/card.quota. Resource names of cards are
    allowed here, for Volcano, but have no effect on card quotas."""
    reclaimable: bool | None = constrained(server_default=True)
    """Whether other queues may take back what this queue holds beyond what it deserves."""
    extend_clusters: list[Opaque] | None = None
    """Other clusters that jobs of the queue may be sent to."""
    guarantee: GuaranteeSchema | None = None
    """Resources that are kept for the queue, also while it does not use them."""
    affinity: Opaque | None = None
    """Node groups on which the queue's pods may run."""
    type: str | None = constrained(maxLength=253)
    """A class of queues, free text."""
    parent: str | None = constrained(maxLength=253, rules=[_FLAT])
    """Queues have no hierarchy: leave this out, or write 'root'."""
    deserved: ResourceList | None = constrained(rules=[not_negative("deserved")])
    """What the queue may hold without having to give it back."""
    priority: Int32 | None = constrained(minimum=0)
    """Queues with a higher number are served first."""
    dequeue_strategy: str | None = constrained(server_default="traverse", enum=["fifo", "traverse"])
    """What happens when a job has to wait. 'fifo': jobs behind it that may use one of the same
    cards wait too. 'traverse': jobs behind it may go first."""
    dra: Opaque | None = None
    """Amounts of devices claimed through Dynamic Resource Allocation. Only Volcano uses this: such
    devices do not count for card quotas."""


STATUSES: Final = ("True", "False", "Unknown")


class QueueCondition(WireModel):
    """One fact about an object: true, false or unknown."""

    type: str = Field(json_schema_extra={"maxLength": 316, "minLength": 1})
    """The name of the fact."""
    status: str = Field(json_schema_extra={"enum": list(STATUSES)})
    """True, False or Unknown."""
    observed_generation: Int64 | None = constrained(minimum=0)
    """The generation of the object that this condition is about. If it is lower than
    metadata.generation, the condition is out of date."""
    last_transition_time: Time
    """When the status last changed."""
    reason: str = Field(
        json_schema_extra={
            "minLength": 1,
            "maxLength": 1024,
            "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        }
    )
    """The reason for the status, as one word for programs."""
    message: str = Field(json_schema_extra={"maxLength": 32768})
    """The reason as a sentence; may be empty."""


class CardStatus(WireModel):
    """One card of a queue. Numbers are whole cards."""

    name: str
    """Name of the card, as in the quota."""
    resource: str | None = None
    """The resource name by which pods request this card."""
    quota: Int64 | None = None
    """How many cards the queue may hold."""
    allocated: Int64 | None = None
    """Held by pods that have a node and have not finished."""
    inqueue: Int64 | None = None
    """Held by pods that were released and have no node yet, or reserved for pod groups."""
    requested: Int64 | None = None
    """Requested by all pods that have not finished, including waiting pods."""
    elastic: Int64 | None = None
    """The part of allocated beyond the minimum of the pod groups."""
    guarantee: Int64 | None = None
    """How many cards the queue is guaranteed: its quota."""
    deserved: Int64 | None = None
    """How many cards the queue deserves: what volcano.sh/card.deserved says, else its quota, or a
    share by weight if quotas exceed the cluster."""
    offline: Int64 | None = None
    """The part of allocated that is off-line use; the rest is on-line."""
    surge: Int64 | None = None
    """How many cards rolling updates may borrow beyond the quota; absent if they may not borrow."""
    borrowed: Int64 | None = None
    """How many cards the queue holds beyond what it deserves. Absent if none, and rolling updates
    may not borrow."""


class ResourceStatus(WireModel):
    """Cpu or memory of a queue, as Kubernetes quantities."""

    name: str
    """cpu or memory."""
    quota: QuantityText | None = None
    """The most that the queue may hold; absent if it is not limited."""
    allocated: QuantityText | None = None
    """Held by pods that have a node and have not finished."""
    inqueue: QuantityText | None = None
    """Held by pods that were released and have no node yet, or reserved for pod groups."""
    requested: QuantityText | None = None
    """Requested by all pods that have not finished, including waiting pods."""
    elastic: QuantityText | None = None
    """The part of allocated beyond the minimum of the pod groups."""
    guarantee: QuantityText | None = None
    """spec.guarantee of the queue; absent if it is not set."""
    deserved: QuantityText | None = None
    """spec.deserved of the queue; absent if it is not set."""


class StatusColumns(WireModel):
    """The columns of kubectl get, as text."""

    cards: str | None = None
    """Allocated and quota of each card."""
    inqueue: str | None = None
    """Inqueue of each card."""
    elastic: str | None = None
    """Elastic of each card, and of cpu and memory."""
    requested: str | None = None
    """Requested of each card."""
    note: str | None = None
    """What is wrong with the queue: its quota cannot be read, or it is closed, over quota or
    oversold. Absent if nothing is wrong."""
    cpu: str | None = None
    """Allocated cpu cores, and the limit."""
    memory: str | None = None
    """Allocated memory, and the limit."""


class WaitingStatus(WireModel):
    """The pods of the queue that wait at their gate."""

    pods: Int64 | None = None
    """Number of waiting pods."""
    oldest: str | None = constrained(format="date-time")
    """Creation time of the pod that has waited longest. Absent if no pod waits."""


class QueueStatusSchema(WireModel):
    """What a queue holds now."""

    # Server-side apply leaves a field alone that is absent in what is applied.

    state: str | None = constrained(enum=["Open", "Closed", "Closing", "Unknown"])
    """Whether the queue takes new work. Absent means Open."""
    unknown: Count32 | None = None
    """Number of pod groups in phase Unknown."""
    pending: Count32 | None = None
    """Number of pod groups in phase Pending."""
    running: Count32 | None = None
    """Number of pod groups in phase Running."""
    inqueue: Count32 | None = None
    """Number of pod groups in phase Inqueue."""
    completed: Count32 | None = None
    """Number of pod groups in phase Completed."""
    reservation: Opaque | None = None
    """Nodes that Volcano has locked for the queue."""
    allocated: ResourceList | None = None
    """Resources that the queue's pods hold, by resource name. Volcano writes it, where it runs."""
    observed_generation: Int64 | None = None
    """The generation of the queue for which the rows below were computed."""
    cards: list[CardStatus] | None = constrained(map_keys=["name"])
    """One row for each card that has a quota or is in use."""
    resources: list[ResourceStatus] | None = constrained(map_keys=["name"])
    """One row for cpu and one for memory."""
    waiting: WaitingStatus | None = None
    """How many pods wait at their gate, and since when. Absent if no pod has waited yet."""
    conditions: list[QueueCondition] | None = constrained(map_keys=["type"])
    """QuotaValid, OverQuota and Oversold; also Borrowed if rolling updates may borrow."""
    columns: StatusColumns | None = None
    """The columns of kubectl get, as text."""


class QueueSchema(StoredObject):
    """A tenant's quota: how many of which cards, and how much cpu and memory, its pods may hold."""

    spec: QueueSpecSchema = QueueSpecSchema()
    """The settings of the queue. Its card quota is in the annotation volcano.sh/card.quota."""
    status: QueueStatusSchema = QueueStatusSchema()
    """What the queue holds now. Controllers write it."""


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
        Column("INQUEUE", ".status.columns.inqueue", "Released and not yet on a node"),
        Column("ELASTIC", ".status.columns.elastic", "Allocated beyond the minimum of pod groups"),
        Column("NOTE", ".status.columns.note", "What is wrong; empty if nothing is"),
        Column("AGE", ".metadata.creationTimestamp", type="date"),
        Column(
            "REQUESTED", ".status.columns.requested", "Requested, including waiting pods", wide=True
        ),
        Column("CPU", ".status.columns.cpu", "Allocated cores and limit", wide=True),
        Column("MEMORY", ".status.columns.memory", "Allocated memory and limit", wide=True),
    ),
)
