"""Device classes of Dynamic Resource Allocation: the name by which their devices are asked for."""

from msgspec import field

from .meta import Meta
from .wire import Wire


class DeviceClassSpec(Wire):
    """Specification of a device class, without its selectors."""

    extended_resource_name: str | None = None


class DeviceClass(Wire):
    """A device class of any served version. `extendedResourceName` is new in 1.34."""

    metadata: Meta
    spec: DeviceClassSpec = field(default_factory=DeviceClassSpec)
