"""What a definition of Queues keeps of our status."""

from functools import partial
from typing import Any

import msgspec
import pytest

from cardquota.api import QUEUE
from cardquota.control.queues import (
    Definition,
    QueueDefinition,
    StatusAnnotation,
    StatusFields,
    kept_of,
)
from cardquota.quota import vocabulary as v


def schema(status: object) -> dict[str, Any]:
    return {"openAPIV3Schema": {"type": "object", "properties": {"status": status}}}


def definition(status: object, version: str = v.VERSION) -> Definition:
    versions = [{"name": "v1alpha1"}, {"name": version, "schema": schema(status)}]
    body = {"metadata": {"name": "queues"}, "spec": {"versions": versions}}
    return msgspec.convert(body, Definition)


VOLCANOS = {"properties": {"state": {"type": "string"}, "allocated": {"type": "object"}}}
OLDER = {
    "properties": {
        "cards": {"items": {"properties": {"name": {}, "quota": {}}}},
        "columns": {"properties": {"cards": {}}},
        "observedGeneration": {"type": "integer"},
    }
}


def test_ours_keeps_all_of_it() -> None:
    """Down to the fields of rows: else the API server would refuse what we write."""
    body = QUEUE.definition()
    (version,) = (one for one in body["spec"]["versions"] if one["name"] == v.VERSION)
    kept = kept_of(version["schema"])
    assert kept is not None
    assert {"cards", "resources", "conditions", "columns"} <= set(kept)
    assert {"name", "quota", "allocated", "surge"} <= kept["cards"]
    assert "inqueue" in kept["columns"]
    assert kept["observedGeneration"] == frozenset()


def test_volcanos_keeps_none_and_an_older_one_of_ours_some() -> None:
    assert kept_of(schema(VOLCANOS)) is None
    assert kept_of(schema(OLDER)) == {
        "cards": frozenset({"name", "quota"}),
        "columns": frozenset({"cards"}),
        "observedGeneration": frozenset(),
    }


@pytest.mark.parametrize("where", ["root", "status", "rows"])
def test_one_that_keeps_everything(where: str) -> None:
    keeps = {"x-kubernetes-preserve-unknown-fields": True}
    if where == "root":
        root = {"type": "object", **keeps}
        assert kept_of({"openAPIV3Schema": root}) == {}
        # Not of what is named below it: there the API server drops what has no name.
        assert kept_of({"openAPIV3Schema": {**root, "properties": {"status": VOLCANOS}}}) is None
    elif where == "status":
        assert kept_of(schema({"type": "object", **keeps})) == {}
    else:
        rows = {"items": {**keeps, "properties": {"name": {}}}}
        assert kept_of(schema({"properties": {"cards": rows}})) == {"cards": frozenset()}


@pytest.mark.parametrize(
    "odd", [None, {}, [], {"openAPIV3Schema": None}, schema(None), schema({"properties": [1]})]
)
def test_a_schema_that_says_nothing_keeps_nothing(odd: object) -> None:
    assert kept_of(odd) is None


@pytest.mark.parametrize(("standalone", "place"), [(True, StatusFields), (False, StatusAnnotation)])
def test_where_it_is_not_known_the_setting_tells(standalone: bool, place: type) -> None:
    assert isinstance(QueueDefinition(standalone=standalone).place, place)


def test_who_listens_is_told_of_another_place_alone() -> None:
    found, told = QueueDefinition(standalone=True), list[type]()

    def changed() -> None:
        told.append(type(found.place))

    found.listen(changed)
    found.seen(definition(VOLCANOS))
    found.seen(definition(VOLCANOS))
    found.seen(definition(OLDER))
    found.gone("", "queues", "u")
    found.undecodable("", "queues", "u", "no schema")
    found.seen(definition(OLDER, version="v2"))
    assert told == [StatusAnnotation, StatusFields, StatusFields, StatusAnnotation]
    found.leave(changed)
    found.seen(definition(OLDER))
    assert len(told) == 4


def test_who_leaves_late_takes_no_other_along() -> None:
    """A term of ours may end when the next one has begun: its Kopf has to be restarted as well."""
    found, told = QueueDefinition(standalone=True), list[str]()
    first, second = partial(told.append, "first"), partial(told.append, "second")
    found.listen(first)
    found.listen(second)
    found.leave(first)
    found.seen(definition(VOLCANOS))
    assert told == ["second"]
