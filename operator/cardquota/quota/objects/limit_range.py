"""Limit ranges: the defaults for containers of a namespace that set no amounts themselves."""

from msgspec import field

from .meta import Meta
from .wire import ResourceList, Wire


class LimitRangeItem(Wire):
    """The limits for one type of object. Only the fields that defaults come from are read."""

    type: str = ""
    default: ResourceList | None = None
    default_request: ResourceList | None = None
    max: ResourceList | None = None
    min: ResourceList | None = None


class LimitRangeSpec(Wire):
    """Specification of a limit range."""

    limits: tuple[LimitRangeItem, ...] | None = ()


class LimitRange(Wire):
    """A limit range."""

    metadata: Meta
    spec: LimitRangeSpec = field(default_factory=LimitRangeSpec)
