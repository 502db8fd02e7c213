"""What a Queue holds now: Volcano's fields, and our rows per card and per resource."""

from .condition import QueueCondition
from .constraint import constrained
from .number_field import CardSecondsField, Count32, Int64
from .quantity_field import QuantityText, ResourceList
from .wire import WireModel


class CardStatus(WireModel):
    """One card of a queue, in whole cards."""

    name: str
    """The card, as it is named in the quota."""
    resource: str | None = None
    """The resource name that pods ask for to get this card."""
    quota: Int64 | None = None
    """How many the queue may hold."""
    allocated: Int64 | None = None
    """Held by pods that are on a node and have not finished."""
    inqueue: Int64 | None = None
    """Let through or reserved, and not yet on a node."""
    requested: Int64 | None = None
    """Asked for by all pods that have not finished, those that wait included."""
    elastic: Int64 | None = None
    """The part of allocated that is beyond the minimum of its pod groups."""
    guarantee: Int64 | None = None
    """Kept for the queue."""
    deserved: Int64 | None = None
    """The queue's fair part of what the cluster has."""
    offline: Int64 | None = None
    """The part of allocated that is off-line use; the rest is on-line."""
    surge: Int64 | None = None
    """How many cards rolling updates may borrow beyond the quota; absent where they may not."""
    borrowed: Int64 | None = None
    """How many of these are borrowed now."""
    seconds: CardSecondsField | None = None
    """How long cards were held, in card-seconds, until cardSecondsUntil."""


class ResourceStatus(WireModel):
    """Cpu or memory of a queue, as quantities."""

    name: str
    """cpu or memory."""
    quota: QuantityText | None = None
    """The most that the queue may hold; absent where it is not limited."""
    allocated: QuantityText | None = None
    """Held by pods that are on a node and have not finished."""
    inqueue: QuantityText | None = None
    """Let through or reserved, and not yet on a node."""
    requested: QuantityText | None = None
    """Asked for by all pods that have not finished, those that wait included."""
    elastic: QuantityText | None = None
    """The part of allocated that is beyond the minimum of its pod groups."""
    guarantee: QuantityText | None = None
    """What the queue's spec guarantees it; absent where it says nothing."""
    deserved: QuantityText | None = None
    """What the queue deserves by its spec; absent where it says nothing."""


class StatusColumns(WireModel):
    """What kubectl get prints: the rows above, each on one line."""

    cards: str | None = None
    """Allocated and quota, per card."""
    inqueue: str | None = None
    """Let through and not yet on a node, per card."""
    elastic: str | None = None
    """Beyond the minimum of pod groups, per card, and of cpu and memory."""
    requested: str | None = None
    """Asked for, per card."""
    note: str | None = None
    """What is wrong: quota unreadable, closed, over quota, oversold; absent if nothing is."""
    cpu: str | None = None
    """Allocated cores and limit."""
    memory: str | None = None
    """Allocated memory and limit."""


class ReservationStatus(WireModel):
    """Nodes that Volcano has locked for a queue."""

    nodes: list[str] | None = None
    """Their names."""
    resource: ResourceList | None = None
    """What is idle on them."""


class WaitingStatus(WireModel):
    """The pods that wait at their gate."""

    pods: Int64 | None = None
    """How many."""
    oldest: str | None = constrained(format="date-time")
    """When the first of them was created: it has waited since. Absent where none waits."""


class QueueStatusSchema(WireModel):
    """What a queue holds now. Absent fields are not written by whoever applies this."""

    state: str | None = constrained(enum=["Open", "Closed", "Closing", "Unknown"])
    """Whether the queue takes new work. Absent: Open."""
    unknown: Count32 | None = None
    """Pod groups in phase Unknown."""
    pending: Count32 | None = None
    """Pod groups in phase Pending."""
    running: Count32 | None = None
    """Pod groups in phase Running."""
    inqueue: Count32 | None = None
    """Pod groups in phase Inqueue."""
    completed: Count32 | None = None
    """Pod groups in phase Completed."""
    reservation: ReservationStatus | None = None
    """Nodes that Volcano has locked for the queue."""
    allocated: ResourceList | None = None
    """What the queue's pods hold, by resource name. Written by Volcano where it runs."""
    observed_generation: Int64 | None = None
    """The generation of the queue that the rows below were worked out for."""
    cards: list[CardStatus] | None = constrained(map_keys=["name"])
    """One row per card with a quota or in use."""
    card_seconds_until: str | None = constrained(format="date-time")
    """Until when the seconds of the rows are counted."""
    resources: list[ResourceStatus] | None = constrained(map_keys=["name"])
    """One row for cpu and one for memory."""
    waiting: WaitingStatus | None = None
    """How many pods wait at their gate, and since when. Absent: none has waited yet."""
    conditions: list[QueueCondition] | None = constrained(map_keys=["type"])
    """QuotaValid, OverQuota, Oversold, and Borrowed where rolling updates may borrow."""
    columns: StatusColumns | None = None
    """The rows as kubectl get prints them."""
