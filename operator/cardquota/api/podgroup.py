"""The PodGroup: pods that start together or not at all. Volcano's object, field for field.

As in Volcano, the status is no subresource: Volcano writes the phase with a plain update, and a
subresource would silently drop that. So the phase is written on the object itself, whichever of the
two CRDs is installed.
"""

from typing import Final

from cardquota.quota.vocabulary import API_GROUP, VERSION

from .condition import Time
from .constraint import constrained, rule
from .custom_resource import Column, CustomResource
from .number_field import Count32, Int32
from .object_meta import ObjectMeta
from .podgroup_topology import NetworkTopology, SubGroupPolicy, TopologyAffinity
from .quantity_field import ResourceList, not_negative
from .wire import WireModel

_QUEUE_NAME: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_MIN_MEMBER: Final = rule(
    "self >= 0",
    "minMember is the number of pods that start together and cannot be negative",
)


_REASON: Final = '.status.conditions[?(@.type=="Unschedulable")].reason'


class PodGroupSpec(WireModel):
    """What is wanted of a pod group."""

    min_member: Int32 | None = constrained(rules=[_MIN_MEMBER])
    """How many pods must be able to start together; until then none does."""
    min_task_member: dict[str, Int32] | None = None
    """How many pods of each task must be able to start together, by task name."""
    queue: str | None = constrained(server_default="default", maxLength=253, pattern=_QUEUE_NAME)
    """The queue that the group's pods are charged to."""
    priority_class_name: str | None = constrained(maxLength=253)
    """The PriorityClass of the group."""
    min_resources: ResourceList | None = constrained(rules=[not_negative("minResources")])
    """What the minimum number of pods will ask for together. Cards are named by the annotation
    volcano.sh/card.request."""
    network_topology: NetworkTopology | None = None
    """How far apart in the network the group's pods may be."""
    sub_group_policy: list[SubGroupPolicy] | None = None
    """Groups within the group, with their own minimum and network topology."""
    topology_affinity: TopologyAffinity | None = None
    """Which groups share a part of the network, and which keep apart."""


class PodGroupCondition(WireModel):
    """One thing that happened to a pod group, as Volcano writes it."""

    type: str | None = None
    """What happened."""
    status: str | None = None
    """Whether it holds: True, False or Unknown."""
    transition_id: str | None = constrained(alias="transitionID")
    """The scheduling session that found it."""
    last_transition_time: Time | None = None
    """When it was last found."""
    reason: str | None = None
    """One word for programs."""
    message: str | None = None
    """A sentence for people."""


class PodGroupColumns(WireModel):
    """What kubectl get prints, as text."""

    cards: str | None = constrained(maxLength=1024)
    """Cards that are asked for, never a sum over models."""


class PodGroupStatus(WireModel):
    """How far a pod group has come."""

    phase: str | None = constrained(enum=["Pending", "Running", "Unknown", "Inqueue", "Completed"])
    """Pending: waits for quota. Inqueue: has its quota. Running: the minimum runs. Unknown: it ran,
    or a part of it did, and now fewer pods run. Completed: its pods have succeeded."""
    conditions: list[PodGroupCondition] | None = None
    """Why the group waits (Unschedulable), or that it was let through (Scheduled)."""
    running: Count32 | None = None
    """Pods that are on a node and have not finished."""
    succeeded: Count32 | None = None
    """Pods that have succeeded."""
    failed: Count32 | None = None
    """Pods that have failed."""
    columns: PodGroupColumns | None = None
    """What kubectl get prints of it. Not Volcano's."""


class PodGroupSchema(WireModel):
    """Pods that start together or not at all."""

    api_version: str = f"{API_GROUP}/{VERSION}"
    kind: str = "PodGroup"
    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()
    """What is wanted of the group."""
    status: PodGroupStatus = PodGroupStatus()
    """How far the group has come; written by controllers."""


POD_GROUP: Final = CustomResource(
    kind="PodGroup",
    model=PodGroupSchema,
    plural="podgroups",
    short_names=("pg", "podgroup-v1beta1"),
    scope="Namespaced",
    status_subresource=False,
    columns=(
        Column("PHASE", ".status.phase", "How far the group has come"),
        Column("QUEUE", ".spec.queue", "Where its pods are charged"),
        Column("CARDS", ".status.columns.cards", "Cards that are asked for"),
        Column("MIN", ".spec.minMember", "Pods that start together", type="integer"),
        Column("RUNNING", ".status.running", "Pods on a node", type="integer"),
        Column("REASON", _REASON, "Why it waits"),
        Column("AGE", ".metadata.creationTimestamp", type="date"),
    ),
)
