"""How Kubernetes objects appear in JSON, and the metadata that objects of all kinds have."""

from msgspec import Struct, field

from ..amounts import Quantity

ResourceList = dict[str, Quantity]
"""By resource name, as JSON has them."""


class Wire(Struct, rename="camel", kw_only=True, gc=False, omit_defaults=True):
    """Base of all structs: camelCase on the wire, absent fields take their defaults."""


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
