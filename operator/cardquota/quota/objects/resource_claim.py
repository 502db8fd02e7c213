"""Claims of devices and templates of claims: of which device classes (P7)."""

from collections.abc import Iterator

from msgspec import field

from .meta import Meta
from .wire import Wire


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
