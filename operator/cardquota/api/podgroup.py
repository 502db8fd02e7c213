"""The PodGroup: pods that start together or not at all. Volcano's object, field for field.

As in Volcano, the status is no subresource: Volcano writes the phase with a plain update, and a
subresource would silently drop that. So the phase is written on the object itself, whichever of the
two CRDs is installed.

The operator does not read where in the network the pods of a group may be. These fields are
declared so that the API server keeps them for Volcano.
"""

from typing import Final

from pydantic import ConfigDict

from .custom_resource import Column, CustomResource
from .fields import (
    Count32,
    Int32,
    ResourceList,
    StoredObject,
    WireModel,
    constrained,
    not_negative,
    rule,
)
from .queue_status import Time


class LabelRequirement(WireModel):
    """A requirement on a label: its key, an operator and, for `In` and `NotIn`, values."""

    key: str
    """The key of the label."""
    operator: str
    """`In`, `NotIn`, `Exists` or `DoesNotExist`."""
    values: list[str] | None = constrained(atomic=True)
    """The values that `In` and `NotIn` compare with."""


class LabelSelector(WireModel):
    """Selects by labels. All labels must match and all requirements must hold."""

    model_config = ConfigDict(json_schema_extra={"x-kubernetes-map-type": "atomic"})

    match_labels: dict[str, str] | None = None
    """Labels, with the value that each must have."""
    match_expressions: list[LabelRequirement] | None = constrained(atomic=True)
    """Requirements other than equality."""


class NetworkTopology(WireModel):
    """How far apart in the network pods may be."""

    mode: str | None = constrained(server_default="hard", enum=["hard", "soft"])
    """hard: the rule must hold. soft: the rule should hold."""
    highest_tier_allowed: int | None = constrained(minimum=0)
    """The highest tier of the network that the pods may span, by number."""
    highest_tier_name: str | None = constrained(maxLength=253)
    """The highest tier by name. Set only one of the two."""


class SubGroupPolicy(WireModel):
    """Subgroups of the pods of a pod group."""

    name: str | None = constrained(maxLength=253)
    """Name of the policy."""
    network_topology: NetworkTopology | None = None
    """How far apart in the network the pods of one subgroup may be."""
    sub_group_size: Int32 | None = constrained(server_default=1, minimum=1)
    """Number of pods in one subgroup."""
    min_sub_groups: Int32 | None = constrained(server_default=0, minimum=0)
    """How many subgroups must be able to start together."""
    label_selector: LabelSelector | None = None
    """Which pods of the pod group the policy applies to."""
    match_label_keys: list[str] | None = constrained(atomic=True)
    """Pods with equal values of these labels belong to one subgroup."""


class PodGroupTerm(WireModel):
    """Other pod groups, and the network tier at which they are kept apart."""

    weight: Int32 | None = None
    """Weight of a preferred term, 1 to 100."""
    pod_group_selector: LabelSelector
    """Selects pod groups by their labels."""
    namespace_selector: LabelSelector | None = None
    """Selects the namespaces of these pod groups; absent: this namespace."""
    topology_tier_name: str | None = constrained(maxLength=253)
    """Name of the tier."""
    topology_tier: Int32 | None = constrained(minimum=0)
    """Number of the tier. Set only one of name and number."""


class SubGroupTerm(WireModel):
    """Subgroups, and the network tier that they share or at which they are kept apart."""

    weight: Int32 | None = None
    """Weight of a preferred term, 1 to 100."""
    sub_groups: list[str] | None = constrained(atomic=True)
    """Names of entries in subGroupPolicy."""
    topology_tier_name: str | None = constrained(maxLength=253)
    """Name of the tier."""
    topology_tier: Int32 | None = constrained(minimum=0)
    """Number of the tier. Set only one of name and number."""


class PodGroupTerms(WireModel):
    """Required and preferred terms about other pod groups."""

    required: list[PodGroupTerm] | None = constrained(atomic=True)
    """All these terms must hold."""
    preferred: list[PodGroupTerm] | None = constrained(atomic=True)
    """These terms should hold."""


class SubGroupTerms(WireModel):
    """Required and preferred terms about subgroups of this pod group."""

    required: list[SubGroupTerm] | None = constrained(atomic=True)
    """All these terms must hold."""
    preferred: list[SubGroupTerm] | None = constrained(atomic=True)
    """These terms should hold."""


class TopologyAffinity(WireModel):
    """Which groups share a part of the network, and which are kept apart."""

    pod_group_anti_affinity: PodGroupTerms | None = None
    """Other pod groups to keep apart from."""
    sub_group_affinity: SubGroupTerms | None = None
    """Subgroups that share a part of the network."""
    sub_group_anti_affinity: SubGroupTerms | None = None
    """Subgroups that are kept apart."""


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
    network_topology: NetworkTopology | None = None
    """How far apart in the network the group's pods may be."""
    sub_group_policy: list[SubGroupPolicy] | None = None
    """Subgroups of pods, each with its own minimum and network topology."""
    topology_affinity: TopologyAffinity | None = None
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
