"""One custom resource: its model, names and kubectl columns, and the CRD generated from them."""

from dataclasses import dataclass
from typing import Any, Literal

from cardquota.quota.vocabulary import API_GROUP, VERSION

from .schema import structural
from .wire import WireModel


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
    short_names: tuple[str, ...]
    scope: Literal["Cluster", "Namespaced"]
    status_subresource: bool
    columns: tuple[Column, ...]
    group: str = API_GROUP
    version: str = VERSION

    @property
    def file_name(self) -> str:
        """The file name of the committed CRD in `crds/`."""
        return f"{self.group}_{self.plural}.yaml"

    def definition(self) -> dict[str, Any]:
        """The CustomResourceDefinition."""
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
                        **self._columns(),
                        "schema": {"openAPIV3Schema": self._schema()},
                    }
                ],
            },
        }

    def _columns(self) -> dict[str, Any]:
        """The API server leaves out what is empty, and whoever applies it again would differ."""
        columns = [column.to_wire() for column in self.columns]
        return {"additionalPrinterColumns": columns} if columns else {}

    def _schema(self) -> dict[str, Any]:
        """The model's schema; the fields that the API server defines itself have only a type."""
        schema = structural(self.model)
        schema["properties"] |= {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
        }
        return schema
