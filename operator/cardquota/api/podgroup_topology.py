"""Where in the network the pods of a group may be: Volcano's fields, kept for Volcano.

The operator does not read them. They are declared so that the API server keeps them.
"""

from .constraint import constrained
from .label_selector import LabelSelector
from .number_field import Int32
from .wire import WireModel


class NetworkTopology(WireModel):
    """How far apart in the network pods may be."""

    mode: str | None = constrained(server_default="hard", enum=["hard", "soft"])
    """Whether this is a condition (hard) or a wish (soft)."""
    highest_tier_allowed: int | None = constrained(minimum=0)
    """The highest tier of the network that the pods may span, by number."""
    highest_tier_name: str | None = constrained(maxLength=253)
    """The same by name; only one of the two may be given."""


class SubGroupPolicy(WireModel):
    """Groups of pods within a pod group."""

    name: str | None = constrained(maxLength=253)
    """Name of the policy."""
    network_topology: NetworkTopology | None = None
    """How far apart in the network the pods of one such group may be."""
    sub_group_size: Int32 | None = constrained(server_default=1, minimum=1)
    """How many pods make one group."""
    min_sub_groups: Int32 | None = constrained(server_default=0, minimum=0)
    """How many of these groups must be able to start together."""
    label_selector: LabelSelector | None = None
    """Which pods of the pod group this is about."""
    match_label_keys: list[str] | None = constrained(atomic=True)
    """Pods with equal values of these labels belong to one group."""


class PodGroupTerm(WireModel):
    """Other pod groups, and the tier of the network at which they are kept apart."""

    weight: Int32 | None = None
    """How much a preferred term counts, 1 to 100."""
    pod_group_selector: LabelSelector
    """Which pod groups."""
    namespace_selector: LabelSelector | None = None
    """In which namespaces; absent: in this one."""
    topology_tier_name: str | None = constrained(maxLength=253)
    """The tier, by name."""
    topology_tier: Int32 | None = constrained(minimum=0)
    """The tier, by number; only one of the two may be given."""


class SubGroupTerm(WireModel):
    """Groups within this pod group, and the tier at which they share a part or keep apart."""

    weight: Int32 | None = None
    """How much a preferred term counts, 1 to 100."""
    sub_groups: list[str] | None = constrained(atomic=True)
    """Names of entries of subGroupPolicy."""
    topology_tier_name: str | None = constrained(maxLength=253)
    """The tier, by name."""
    topology_tier: Int32 | None = constrained(minimum=0)
    """The tier, by number; only one of the two may be given."""


class PodGroupTerms(WireModel):
    """Conditions and wishes about other pod groups."""

    required: list[PodGroupTerm] | None = constrained(atomic=True)
    """All of these must hold."""
    preferred: list[PodGroupTerm] | None = constrained(atomic=True)
    """These would be good."""


class SubGroupTerms(WireModel):
    """Conditions and wishes about groups within this pod group."""

    required: list[SubGroupTerm] | None = constrained(atomic=True)
    """All of these must hold."""
    preferred: list[SubGroupTerm] | None = constrained(atomic=True)
    """These would be good."""


class TopologyAffinity(WireModel):
    """Which groups share a part of the network, and which keep apart."""

    pod_group_anti_affinity: PodGroupTerms | None = None
    """Other pod groups to keep away from."""
    sub_group_affinity: SubGroupTerms | None = None
    """Groups within this one that share a part."""
    sub_group_anti_affinity: SubGroupTerms | None = None
    """Groups within this one that keep apart."""
