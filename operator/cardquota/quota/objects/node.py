"""Nodes: labels, what is allocatable, and whether they take pods."""

from msgspec import field

from .. import vocabulary as v
from .meta import LabelledMeta
from .taints import Taint
from .wire import ResourceList, Wire


class NodeCondition(Wire):
    """A condition of a node."""

    type: str
    status: str = ""


class NodeAnnotations(Wire):
    """The annotations of a node that mean something to us."""

    card_memory: str | None = field(default=None, name=v.CARD_MEMORY)
    unhealthy_cards: str | None = field(default=None, name=v.UNHEALTHY_CARDS)


class NodeMeta(LabelledMeta):
    """Metadata of a node."""

    annotations: NodeAnnotations | None = None


class NodeStatus(Wire):
    """Status of a node."""

    capacity: ResourceList | None = None
    allocatable: ResourceList | None = None
    conditions: tuple[NodeCondition, ...] | None = ()


class NodeSpec(Wire):
    """Specification of a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = ()


class Node(Wire):
    """A node."""

    metadata: NodeMeta
    spec: NodeSpec = field(default_factory=NodeSpec)
    status: NodeStatus = field(default_factory=NodeStatus)
