"""Object metadata, as far as the operator reads it.

The API server has its own schema for metadata, so none of this is in the CRDs.
"""

from .wire import WireModel


class ObjectMeta(WireModel):
    """Name, identity and annotations of an object."""

    name: str = ""
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    annotations: dict[str, str] | None = None
    labels: dict[str, str] | None = None
