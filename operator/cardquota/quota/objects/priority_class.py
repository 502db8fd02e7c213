"""Priority classes: the number behind a name."""

from .meta import Meta
from .wire import Wire


class PriorityClass(Wire):
    """A priority class."""

    metadata: Meta
    value: int = 0
    global_default: bool = False
