"""The PodGroup: pods that start together or not at all. Volcano's object.

As in Volcano, the status is no subresource: Volcano writes the phase with a plain update, and a
subresource would silently drop that. So the phase is written on the object itself, whichever of the
two CRDs is installed.

The operator does not read where in the network the pods of a group may be: the API server keeps
these fields for Volcano as they are written.
"""

from typing import Final

from .custom_resource import Column, CustomResource
from .fields import (
    Count32,
    Int32,
    Opaque,
    ResourceList,
    StoredObject,
    Time,
    WireModel,
    constrained,
    not_negative,
    rule,
)

_QUEUE_NAME: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_MIN_MEMBER: Final = rule(
    "self >= 0",
    "minMember is the number of pods that start together and cannot be negative",
)


_REASON: Final = '.status.conditions[?(@.type=="Unschedulable")].reason'


class PodGroupSpec(WireModel):
    """The settings of a pod group."""

    min_member: Int32 | None = constrained(rules=[_MIN_MEMBER])
    """How many pods must be able to start together. No pod starts before that."""
    min_task_member: dict[str, Int32] | None = None
    """How many pods of each task must be able to start together, by task name."""
    queue: str | None = constrained(server_default="default", maxLength=253, pattern=_QUEUE_NAME)
    """The queue that the group's pods are charged to."""
    priority_class_name: str | None = constrained(maxLength=253)
    """The PriorityClass of the group."""
    min_resources: ResourceList | None = constrained(rules=[not_negative("minResources")])
    """What minMember pods request together. To say which cards they request, set the annotation
    volcano.sh/card.request."""
    network_topology: Opaque | None = None
    """How far apart in the network the group's pods may be."""
    sub_group_policy: list[Opaque] | None = None
    """Subgroups of pods, each with its own minimum and network topology."""
    topology_affinity: Opaque | None = None
    """Which groups share a part of the network, and which are kept apart."""


class PodGroupCondition(WireModel):
    """One condition of a pod group, in Volcano's form."""

    type: str | None = None
    """The name of the condition."""
    status: str | None = None
    """True, False or Unknown."""
    transition_id: str | None = constrained(alias="transitionID")
    """The scheduling session that set the condition."""
    last_transition_time: Time | None = None
    """When the condition was last set."""
    reason: str | None = None
    """The reason for the status, as one word for programs."""
    message: str | None = None
    """The reason as a sentence."""


class PodGroupColumns(WireModel):
    """The columns of kubectl get, as text."""

    cards: str | None = constrained(maxLength=1024)
    """Requested cards, each model by itself."""


class PodGroupStatus(WireModel):
    """The state of a pod group."""

    phase: str | None = constrained(enum=["Pending", "Running", "Unknown", "Inqueue", "Completed"])
    """Pending: it waits for quota. Inqueue: it has its quota. Running: minMember pods run. Unknown:
    all or some pods ran, and now fewer run. Completed: its pods have succeeded."""
    conditions: list[PodGroupCondition] | None = None
    """Unschedulable: why the group waits. Scheduled: it was released."""
    running: Count32 | None = None
    """Number of pods that have a node and have not finished."""
    succeeded: Count32 | None = None
    """Number of pods that have succeeded."""
    failed: Count32 | None = None
    """Number of pods that have failed."""
    columns: PodGroupColumns | None = None
    """The columns of kubectl get, as text. Volcano does not have this field."""


class PodGroupSchema(StoredObject):
    """Pods that start together or not at all."""

    spec: PodGroupSpec = PodGroupSpec()
    """The settings of the group."""
    status: PodGroupStatus = PodGroupStatus()
    """The state of the group. Controllers write it."""


POD_GROUP: Final = CustomResource(
    kind="PodGroup",
    model=PodGroupSchema,
    plural="podgroups",
    short_names=("pg", "podgroup-v1beta1"),
    scope="Namespaced",
    columns=(
        Column("PHASE", ".status.phase", "State of the group"),
        Column("QUEUE", ".spec.queue", "Queue that its pods are charged to"),
        Column("CARDS", ".status.columns.cards", "Requested cards"),
        Column("MIN", ".spec.minMember", "Pods that start together", type="integer"),
        Column("RUNNING", ".status.running", "Pods on a node", type="integer"),
        Column("REASON", _REASON, "Why it waits"),
        Column("AGE", ".metadata.creationTimestamp", type="date"),
    ),
)
