"""The Queue: a tenant's quota. Volcano's object, with additions to its status.

Card quotas are in annotations (`quota.vocabulary`), not in the spec. The spec has Volcano's fields,
so objects move between the two without a change; what only Volcano reads is kept as it is written.
"""

from typing import Final

from .custom_resource import Column, CustomResource
from .fields import (
    Int32,
    Opaque,
    ResourceList,
    StoredObject,
    WireModel,
    constrained,
    not_negative,
    rule,
)
from .queue_status import QueueStatusSchema

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
        Column("INQUEUE", ".status.columns.inqueue", "Let through and not yet on a node"),
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
