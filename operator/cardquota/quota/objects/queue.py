"""Queues: quota and limits as their owners write them, and our own status."""

from typing import Any

from msgspec import field

from .. import vocabulary as v
from .meta import Meta, ResourceList, Wire


class QueueAnnotations(Wire):
    """The annotations of a queue that mean something to us."""

    quota: str | None = field(default=None, name=v.QUOTA)
    policy: str | None = field(default=None, name=v.POLICY)
    namespaces: str | None = field(default=None, name=v.NAMESPACES)
    state: str | None = field(default=None, name=v.QUEUE_STATE)
    surge: str | None = field(default=None, name=v.SURGE)
    reclaim: str | None = field(default=None, name=v.QUEUE_RECLAIM)
    deserved: str | None = field(default=None, name=v.DESERVED)
    lendable: str | None = field(default=None, name=v.LENDABLE)
    status: Any = field(default=None, name=v.STATUS)


class Fields(Wire):
    """The status among the fields that a manager wrote. The other fields are not decoded."""

    status: Any = field(default=None, name="f:status")
    """By field, if it has the form that the API server writes."""


class _ManagedFields(Wire):
    manager: str = ""
    fields: Fields = field(default_factory=Fields, name="fieldsV1")


class _QueueMeta(Meta):
    annotations: QueueAnnotations | None = None
    managed_fields: tuple[_ManagedFields, ...] | None = ()


class Guarantee(Wire):
    """Resources a queue is guaranteed."""

    resource: ResourceList | None = None


class QueueSpec(Wire):
    """Specification of a queue."""

    capability: ResourceList | None = None
    deserved: ResourceList | None = None
    guarantee: Guarantee | None = None
    weight: int | None = None
    priority: int | None = None
    parent: str | None = None
    dequeue_strategy: str | None = None
    reclaimable: bool | None = None


class QueueStatusCard(Wire):
    """A row of our own status. It keeps the last good quota and the resource name over restarts.
    What else it says must not make the queue unreadable.
    """

    name: str = ""
    resource: str | None = None
    quota: int = 0
    allocated: Any = None
    inqueue: Any = None


class QueueStatus(Wire):
    """Status of a queue."""

    state: str | None = None
    cards: tuple[QueueStatusCard, ...] | None = ()
    observed_generation: Any = None
    """Stands there since we wrote it; Volcano takes it away with all else that is ours."""


class Queue(Wire):
    """A queue."""

    metadata: _QueueMeta
    spec: QueueSpec = field(default_factory=QueueSpec)
    status: QueueStatus = field(default_factory=QueueStatus)
