"""Nodes: labels, what is allocatable, and whether they take pods."""

from msgspec import field

from .. import vocabulary as v
from .meta import LabelledMeta, Meta, ResourceList, Wire


class Expression(Wire):
    """One node selector requirement."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None


class Term(Wire, omit_defaults=True):
    """One node selector term; its requirements hold together."""

    match_expressions: tuple[Expression, ...] | None = None
    match_fields: tuple[Expression, ...] | None = None


class NodeSelector(Wire):
    """Terms; one of them must hold."""

    node_selector_terms: tuple[Term, ...] = ()


class NodeAffinity(Wire):
    """Required node affinity. Preferred affinity is not read."""

    required: NodeSelector | None = field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Wire):
    """Affinity of a pod."""

    node_affinity: NodeAffinity | None = None


class Taint(Wire):
    """A taint of a node."""

    key: str = ""
    value: str | None = None
    effect: str = ""


class Toleration(Wire):
    """A toleration of a pod."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None


class _NodeCondition(Wire):
    type: str
    status: str = ""


class _NodeAnnotations(Wire):
    card_memory: str | None = field(default=None, name=v.CARD_MEMORY)
    unhealthy_cards: str | None = field(default=None, name=v.UNHEALTHY_CARDS)


class _NodeMeta(LabelledMeta):
    annotations: _NodeAnnotations | None = None


class _NodeStatus(Wire):
    capacity: ResourceList | None = None
    allocatable: ResourceList | None = None
    conditions: tuple[_NodeCondition, ...] | None = ()


class _NodeSpec(Wire):
    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = ()


class Node(Wire):
    """A node."""

    metadata: _NodeMeta
    spec: _NodeSpec = field(default_factory=_NodeSpec)
    status: _NodeStatus = field(default_factory=_NodeStatus)


class _ConfigMapData(Wire):
    unhealthy_cards: str | None = field(default=None, name=v.UNHEALTHY_CARDS_KEY)


class ConfigMap(Wire):
    """A ConfigMap."""

    metadata: Meta
    data: _ConfigMapData | None = None

    @property
    def node(self) -> str:
        """The node whose cards it is about; empty if it is about no node."""
        return node_of(self.metadata.name)

    @property
    def text(self) -> str:
        """The list. Without its key it is one that nobody can read, not an empty one."""
        text = self.data.unhealthy_cards if self.data is not None else None
        return f"no key {v.UNHEALTHY_CARDS_KEY}" if text is None else text


def node_of(name: str) -> str:
    """The node that a ConfigMap of this name is about; empty if it is about no node."""
    ours = name.startswith(v.UNHEALTHY_CARDS_OF)
    return name.removeprefix(v.UNHEALTHY_CARDS_OF) if ours else ""
