"""The base of all models here: camelCase on the wire, lenient when reading.

Reading is lenient on purpose: an object may have been written under another version of the CRD. So
unknown fields are skipped and only types are checked. What the API server refuses is declared with
`constrained`, and exists only in the generated schema.

Writing: a field that is `None` is absent on the wire. So a partly filled model makes a server-side
apply that owns only the fields it sets.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    """An object as it stands in JSON. Docstrings of fields become descriptions in the CRD."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        use_attribute_docstrings=True,
    )

    def to_wire(self) -> dict[str, Any]:
        """The JSON form, without unset fields."""
        return self.model_dump(by_alias=True, exclude_none=True)


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
