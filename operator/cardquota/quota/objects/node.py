"""Nodes: labels, what is allocatable, and whether they take pods."""

from msgspec import field

from .meta import LabelledMeta
from .taints import Taint
from .wire import ResourceList, Wire


class NodeCondition(Wire):
    """A condition of a node."""

    type: str
    status: str = ""


class NodeStatus(Wire):
    """Status of a node."""

    allocatable: ResourceList | None = None
    conditions: tuple[NodeCondition, ...] | None = ()


class NodeSpec(Wire):
    """Specification of a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = ()


class Node(Wire):
    """A node."""

    metadata: LabelledMeta
    spec: NodeSpec = field(default_factory=NodeSpec)
    status: NodeStatus = field(default_factory=NodeStatus)
