"""The base of all models here, their fields, and what the API server checks of these or fills in.

On the wire names are camelCase, and a field that is `None` is absent. So a partly filled model
makes a server-side apply that owns only the fields it sets. Constraints exist only in the CRD: the
models accept whatever is stored. The default of a field is therefore also the API server's; in the
models an absent field is `None`.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
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


SERVER_DEFAULT: Final = "x-server-default"
"""Used instead of `default` until `schema` renders it, so that pydantic's defaults are left out."""


def rule(expression: str, message: str) -> dict[str, str]:
    """A CEL rule with the text for users who violate it."""
    return {"rule": expression, "message": message}


def constrained(
    *,
    server_default: str | int | bool | None = None,
    rules: Sequence[dict[str, str]] = (),
    map_keys: Sequence[str] = (),
    alias: str | None = None,
    **keywords: Any,
) -> Any:
    """An optional field with constraints. `keywords` are OpenAPI's own (`maximum`, `enum`, ...).

    `map_keys`: the list is a map by these keys, so server-side apply merges it row by row.
    """
    extra: dict[str, Any] = dict(keywords)
    if server_default is not None:
        extra[SERVER_DEFAULT] = server_default
    if rules:
        extra["x-kubernetes-validations"] = list(rules)
    if map_keys:
        extra["x-kubernetes-list-type"] = "map"
        extra["x-kubernetes-list-map-keys"] = list(map_keys)
    return Field(default=None, json_schema_extra=extra, alias=alias)


Int32 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int32"})]
"""A number of 32 bits, as Volcano's counts."""

Int64 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int64"})]
"""A number of 64 bits: of cards, a generation."""

Count32 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int32", "minimum": 0})]
"""A 32-bit number that is never negative."""


_FORM: Final = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
_LONGEST: Final = 64
_MOST_RESOURCES: Final = 256

Quantity = Annotated[
    int | str,
    WithJsonSchema(
        {"x-kubernetes-int-or-string": True, "pattern": _FORM, "maxLength": _LONGEST},
    ),
]
"""A quantity as people write it: a whole number or a string."""

QuantityText = Annotated[
    str, WithJsonSchema({"type": "string", "pattern": _FORM, "maxLength": _LONGEST})
]
"""A quantity in canonical form, as we write it: always a string."""

ResourceList = Annotated[
    dict[str, Quantity],
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": _MOST_RESOURCES,
            "additionalProperties": {
                "x-kubernetes-int-or-string": True,
                "pattern": _FORM,
                "maxLength": _LONGEST,
            },
        }
    ),
]
"""Quantities by resource name. The bound on its size keeps CEL rules affordable."""


Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time, RFC 3339."""

Opaque = Annotated[
    dict[str, Any],
    WithJsonSchema({"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
]
"""What only Volcano defines and reads."""


def not_negative(what: str) -> dict[str, str]:
    """The rule that no amount of a ResourceList is negative. `what` names the list."""
    return rule(
        "self.all(name, type(self[name]) == int ? self[name] >= 0 : !self[name].startsWith('-'))",
        f"an amount in {what} is negative: write 0 for none, or leave the resource out",
    )
