"""What a Queue holds now: Volcano's fields, and our rows per card and per resource."""

from typing import Annotated, Final

from pydantic import Field, WithJsonSchema

from .fields import Count32, Int64, Opaque, QuantityText, ResourceList, WireModel, constrained

Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time, RFC 3339."""

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
    """How many cards the queue deserves: its quota, or a share by weight if quotas exceed the
    cluster."""
    offline: Int64 | None = None
    """The part of allocated that is off-line use; the rest is on-line."""
    surge: Int64 | None = None
    """How many cards rolling updates may borrow beyond the quota; absent if they may not borrow."""
    borrowed: Int64 | None = None
    """How many cards rolling updates borrow now."""


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
