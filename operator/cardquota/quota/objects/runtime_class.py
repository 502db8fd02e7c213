"""Runtime classes: the overhead of a pod beside its containers."""

from .meta import Meta
from .wire import ResourceList, Wire


class Overhead(Wire):
    """The overhead that is added to each pod."""

    pod_fixed: ResourceList | None = None


class RuntimeClass(Wire):
    """A runtime class."""

    metadata: Meta
    overhead: Overhead | None = None
