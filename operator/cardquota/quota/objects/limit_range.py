"""Limit ranges: what containers of a namespace ask for that say nothing themselves."""

from msgspec import field

from .meta import Meta
from .wire import Amounts, Wire


class LimitRangeItem(Wire):
    """What holds for one type of things. Only what defaults come from is read."""

    type: str = ""
    default: Amounts | None = None
    default_request: Amounts | None = None
    max: Amounts | None = None
    min: Amounts | None = None


class LimitRangeSpec(Wire):
    """Specification of a limit range."""

    limits: tuple[LimitRangeItem, ...] | None = ()


class LimitRange(Wire):
    """A limit range."""

    metadata: Meta
    spec: LimitRangeSpec = field(default_factory=LimitRangeSpec)
