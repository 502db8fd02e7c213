"""What pods get from the cluster around them: namespaces, defaults, priorities, device classes."""

from collections.abc import Iterator

from msgspec import field

from .. import vocabulary as v
from .meta import LabelledMeta, Meta, ResourceList, Wire


class _NamespaceAnnotations(Wire):
    queue: str | None = field(default=None, name=v.QUEUE_NAME)


class NamespaceMeta(LabelledMeta):
    """Metadata of a namespace."""

    annotations: _NamespaceAnnotations | None = None


class Namespace(Wire):
    """A namespace."""

    metadata: NamespaceMeta


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


class Overhead(Wire):
    """The overhead that is added to each pod."""

    pod_fixed: ResourceList | None = None


class RuntimeClass(Wire):
    """A runtime class."""

    metadata: Meta
    overhead: Overhead | None = None


class PriorityClass(Wire):
    """A priority class."""

    metadata: Meta
    value: int = 0
    global_default: bool = False


class _DeviceClassSpec(Wire):
    extended_resource_name: str | None = None


class DeviceClass(Wire):
    """A device class of any served version. `extendedResourceName` is new in 1.34."""

    metadata: Meta
    spec: _DeviceClassSpec = field(default_factory=_DeviceClassSpec)


class _Device(Wire):
    device_class_name: str = ""


class _DeviceRequest(_Device):
    """`v1` and `v1beta2` have one of the lists of devices, older versions a class or the second."""

    exactly: _Device | None = None
    first_available: tuple[_Device, ...] | None = ()


class _Devices(Wire):
    requests: tuple[_DeviceRequest, ...] | None = ()


class _ClaimSpec(Wire):
    devices: _Devices = field(default_factory=_Devices)


class _ClaimOrTemplateSpec(_ClaimSpec):
    spec: _ClaimSpec | None = None
    """Of a template: of its claims."""


class ResourceClaim(Wire):
    """A ResourceClaim or a ResourceClaimTemplate, of any version since 1.31."""

    metadata: Meta
    spec: _ClaimOrTemplateSpec

    def device_classes(self) -> Iterator[str]:
        """All that it may get devices of; empty texts for what is not known."""
        spec = self.spec.spec or self.spec
        for request in spec.devices.requests or ():
            for device in request.first_available or (request.exactly or request,):
                yield device.device_class_name
