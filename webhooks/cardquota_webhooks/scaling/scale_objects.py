"""What is read of a Scale: how many replicas a scalable object shall have, and has."""

from typing import Annotated

import msgspec

from cardquota.quota.objects.wire import Wire

Replicas = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
"""A number that the API server could send: it has 32 bits."""


class ScaleMeta(Wire):
    """Metadata of a Scale: that of the object that is scaled."""

    name: str = ""
    uid: str = ""


class ScaleSpec(Wire):
    """How many replicas it shall have. Absent: 0."""

    replicas: Replicas | None = None


class ScaleStatus(Wire):
    """How many replicas it has, and which pods are theirs."""

    replicas: Replicas | None = None
    selector: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"null"))
    """A text. Older versions of the API have a map here."""


class Scale(Wire):
    """The scale subresource of any kind."""

    metadata: ScaleMeta = msgspec.field(default_factory=ScaleMeta)
    spec: ScaleSpec | None = None
    status: ScaleStatus | None = None

    @property
    def replicas(self) -> int:
        """Of its specification."""
        return (self.spec.replicas or 0) if self.spec is not None else 0

    @property
    def present(self) -> int:
        """Of its status."""
        return (self.status.replicas or 0) if self.status is not None else 0

    @property
    def selector(self) -> str:
        """Which pods are its own, as a label selector; empty if it says none, or not as a text."""
        if self.status is None:
            return ""
        found = msgspec.json.decode(self.status.selector)
        return found if isinstance(found, str) else ""
