"""The generated schemas are structural, and what cannot be structural is refused."""

from collections.abc import Iterator
from typing import Any

import pytest

from cardquota.api import QueueStatusSchema, SchemaError, WireModel, constrained, structural
from cardquota_dev.generate import RESOURCES

Node = dict[str, Any]


def nodes(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    """Every node of a schema, with its path."""
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    if "items" in node:
        yield from nodes(node["items"], f"{path}[]")
    if "additionalProperties" in node:
        yield from nodes(node["additionalProperties"], f"{path}{{}}")


def everything() -> Iterator[tuple[str, Node]]:
    """Every node of every CRD."""
    for resource in RESOURCES:
        version = resource.definition()["spec"]["versions"][0]
        yield from nodes(version["schema"]["openAPIV3Schema"], resource.kind)


def test_every_node_is_structural() -> None:
    for path, node in everything():
        assert ("type" in node) != bool(node.get("x-kubernetes-int-or-string")), path
        assert node.keys().isdisjoint({"$ref", "$defs", "anyOf", "oneOf", "allOf", "title"}), path
        if "x-kubernetes-preserve-unknown-fields" in node:
            assert node["type"] == "object", path
            assert "properties" not in node, path
        assert not ("properties" in node and "additionalProperties" in node), path


def test_keys_of_list_maps_are_required_scalars() -> None:
    keys = "x-kubernetes-list-map-keys"
    found = [(path, node, key) for path, node in everything() for key in node.get(keys, ())]
    fields = [f"Queue.status.{name}" for name in ("cards", "resources", "conditions")]
    assert [path for path, _, _ in found] == fields
    for path, node, key in found:
        assert node["type"] == "array", path
        assert node["x-kubernetes-list-type"] == "map", path
        assert key in node["items"]["required"], path
        assert node["items"]["properties"][key]["type"] == "string", path


def test_rules_are_bounded_and_speak() -> None:
    rules = 0
    for path, node in everything():
        for rule in node.get("x-kubernetes-validations", ()):
            rules += 1
            assert len(rule["message"]) > 20, path
            bound = {"object": "maxProperties", "string": "maxLength", "array": "maxItems"}
            if node["type"] in bound:
                assert node[bound[node["type"]]] <= 256, path
    assert rules == 7


def test_every_field_of_ours_is_described() -> None:
    for resource in RESOURCES:
        spec_and_status = structural(resource.model)["properties"]
        for name in ("spec", "status"):
            for path, node in nodes(spec_and_status[name], name):
                if not path.endswith(("{}", "[]")):
                    assert node.get("description"), f"{resource.kind} {path}"


class Inner(WireModel):
    """The inner one."""

    number: int | None = constrained(server_default=0)
    """A number."""


class Outer(WireModel):
    """The outer one."""

    near: Inner | None = None
    """Said   nearer,
    so it wins."""
    far: Inner | None = None
    some_words: tuple[str, ...] | None = None


def test_references_nulls_and_defaults_are_resolved() -> None:
    number = {"description": "A number.", "type": "integer", "default": 0}
    assert structural(Outer) == {
        "description": "The outer one.",
        "type": "object",
        "properties": {
            "near": {
                "description": "Said nearer, so it wins.",
                "type": "object",
                "properties": {"number": number},
            },
            "far": {
                "description": "The inner one.",
                "type": "object",
                "properties": {"number": number},
            },
            "someWords": {"type": "array", "items": {"type": "string"}},
        },
    }


class Either(WireModel):
    either: int | str


class Anything(WireModel):
    anything: Any


class Unsayable(WireModel):
    number: float = constrained(exclusiveMinimum=0)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Either, "Either.either: a union of types"),
        (Anything, "Anything.anything: a node without a type"),
        (Unsayable, "Unsayable.number: exclusiveMinimum cannot be said"),
    ],
)
def test_what_is_not_structural_is_refused(model: type[WireModel], text: str) -> None:
    with pytest.raises(SchemaError, match=text):
        structural(model)


def test_a_status_that_says_nothing_owns_nothing() -> None:
    assert QueueStatusSchema().to_wire() == {}
    assert QueueStatusSchema(state="Open", observed_generation=1).to_wire() == {
        "state": "Open",
        "observedGeneration": 1,
    }
