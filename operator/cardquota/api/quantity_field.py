"""Kubernetes quantities as fields: `4`, `"500m"`, `4Gi`, and maps of them by resource name."""

from typing import Annotated, Final

from pydantic import WithJsonSchema

from .constraint import rule

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


def not_negative(what: str) -> dict[str, str]:
    """The rule that no amount of a ResourceList is negative. `what` names the list."""
    return rule(
        "self.all(name, type(self[name]) == int ? self[name] >= 0 : !self[name].startsWith('-'))",
        f"an amount in {what} is negative: write 0 for none, or leave the resource out",
    )
