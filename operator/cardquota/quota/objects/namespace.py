"""Namespaces: their labels, and the queue they name."""

from msgspec import field

from .. import vocabulary as v
from .meta import LabelledMeta
from .wire import Wire


class NamespaceAnnotations(Wire):
    """The annotations of a namespace that mean something to us."""

    queue: str | None = field(default=None, name=v.QUEUE_NAME)


class NamespaceMeta(LabelledMeta):
    """Metadata of a namespace."""

    annotations: NamespaceAnnotations | None = None


class Namespace(Wire):
    """A namespace."""

    metadata: NamespaceMeta
