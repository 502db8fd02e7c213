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
