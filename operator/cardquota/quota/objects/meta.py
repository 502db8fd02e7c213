"""Object metadata: what objects of all kinds have."""

from msgspec import field

from .wire import Wire


class Owner(Wire):
    """An owner reference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class Meta(Wire):
    """Object metadata without annotations and labels."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = field(default="0", name="resourceVersion")
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    generation: int = 0


class LabelledMeta(Meta):
    """Metadata with labels."""

    labels: dict[str, str] | None = None
