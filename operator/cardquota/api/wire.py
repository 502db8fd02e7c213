"""The base of all models here: camelCase on the wire.

A field that is `None` is absent there. So a partly filled model makes a server-side apply that owns
only the fields it sets. What the API server refuses is declared with `constrained`, and exists only
in the generated schema.
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


class StoredObject(WireModel):
    """A whole object. Of what the API server defines itself only the types are said."""

    api_version: str = ""
    kind: str = ""
    metadata: dict[str, Any] = {}
