"""What a pod's affinity requires of the labels of its node."""

from msgspec import field

from .wire import Wire


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
