"""One custom resource: its model, names and kubectl columns, and the CRD generated from them.

Its schema is structural, the form of OpenAPI that a CRD requires: every node has a type, there are
no references, and `anyOf` mentions no types. So references are resolved in place, and `X | None`
becomes an `X` that is not required. Anything else that is not structural is an error here, at
generation, and not at the API server.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel

from cardquota.quota.vocabulary import API_GROUP, VERSION

from .fields import SERVER_DEFAULT, WireModel


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`."""

    name: str
    path: str
    description: str = ""
    type: Literal["string", "integer", "date"] = "string"
    wide: bool = False
    """Only with `-o wide`."""

    def to_wire(self) -> dict[str, Any]:
        """The JSON form."""
        wire: dict[str, Any] = {"name": self.name, "type": self.type, "jsonPath": self.path}
        if self.description:
            wire["description"] = self.description
        if self.wide:
            wire["priority"] = 1
        return wire


@dataclass(frozen=True, slots=True)
class CustomResource:
    """The content of a CustomResourceDefinition."""

    kind: str
    model: type[WireModel]
    plural: str
    scope: Literal["Cluster", "Namespaced"]
    short_names: tuple[str, ...] = ()
    status_subresource: bool = False
    columns: tuple[Column, ...] = ()
    group: str = API_GROUP
    version: str = VERSION

    @property
    def file_name(self) -> str:
        """The file name of the committed CRD in `crds/`."""
        return f"{self.group}_{self.plural}.yaml"

    def definition(self) -> dict[str, Any]:
        """The CustomResourceDefinition."""
        columns = [column.to_wire() for column in self.columns]
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{self.plural}.{self.group}"},
            "spec": {
                "group": self.group,
                "names": {
                    "kind": self.kind,
                    "listKind": f"{self.kind}List",
                    "plural": self.plural,
                    "singular": self.kind.lower(),
                    **({"shortNames": list(self.short_names)} if self.short_names else {}),
                },
                "scope": self.scope,
                "versions": [
                    {
                        "name": self.version,
                        "served": True,
                        "storage": True,
                        "subresources": {"status": {}} if self.status_subresource else {},
                        # The API server leaves out what is empty.
                        **({"additionalPrinterColumns": columns} if columns else {}),
                        "schema": {"openAPIV3Schema": self._schema()},
                    }
                ],
            },
        }

    def _schema(self) -> dict[str, Any]:
        """The model's schema; the fields that the API server defines itself have only a type."""
        schema = structural(self.model)
        schema["properties"] |= {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
        }
        return schema


Node = dict[str, Any]

_LEAVES: Final = (
    *("type", "x-kubernetes-int-or-string", "format", "enum", "minimum", "maximum"),
    *("minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern"),
    *("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"),
    *("x-kubernetes-validations", "x-kubernetes-preserve-unknown-fields", "required"),
)
"""The keywords that are copied, in output order."""

_DROPPED: Final = frozenset({"title", "default", "$defs"})
_HANDLED: Final = frozenset(
    {"description", SERVER_DEFAULT, "properties", "items", "additionalProperties"}
)


class SchemaError(Exception):
    """The model cannot be expressed as a structural schema."""


def structural(model: type[BaseModel]) -> Node:
    """The structural schema of a model. Raises SchemaError."""
    return structural_of(model.model_json_schema(by_alias=True), model.__name__)


def structural_of(raw: Mapping[str, Any], name: str) -> Node:
    """That of any JSON schema. `name`: for messages. Raises SchemaError."""
    return _node(raw, raw.get("$defs", {}), name)


def _node(raw: Mapping[str, Any], defs: Mapping[str, Any], path: str) -> Node:
    """One node, with everything below it. `path` is for messages."""
    flat = _resolved(raw, defs, path)
    unknown = flat.keys() - set(_LEAVES) - _HANDLED - _DROPPED
    if unknown:
        raise SchemaError(f"{path}: {', '.join(sorted(unknown))} cannot be said in a CRD")
    if "type" not in flat and not flat.get("x-kubernetes-int-or-string"):
        raise SchemaError(f"{path}: a node without a type")

    node: Node = {}
    if "description" in flat:
        node["description"] = " ".join(flat["description"].split())
    node |= {key: flat[key] for key in _LEAVES if key in flat}
    if SERVER_DEFAULT in flat:
        node["default"] = flat[SERVER_DEFAULT]
    if "properties" in flat:
        node["properties"] = {
            name: _node(child, defs, f"{path}.{name}") for name, child in flat["properties"].items()
        }
    if "items" in flat:
        node["items"] = _node(flat["items"], defs, f"{path}[]")
    if isinstance(flat.get("additionalProperties"), dict):
        node["additionalProperties"] = _node(flat["additionalProperties"], defs, f"{path}{{}}")
    return node


def _resolved(raw: Mapping[str, Any], defs: Mapping[str, Any], path: str) -> Node:
    """The node without `$ref` and the null of `X | None`. The outer keywords win."""
    flat = dict(raw)
    while "$ref" in flat or "anyOf" in flat:
        if "$ref" in flat:
            target = defs[flat.pop("$ref").removeprefix("#/$defs/")]
        else:
            options = [option for option in flat.pop("anyOf") if option.get("type") != "null"]
            if len(options) != 1:
                raise SchemaError(f"{path}: a union of types is not structural")
            target = options[0]
        flat = {**target, **flat}
    return flat
