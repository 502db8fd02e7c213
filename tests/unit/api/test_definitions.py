"""Names, columns, fields and bounds that people and Volcano rely on."""

import re
from typing import Any

import pytest

from cardquota.api import POD_GROUP, QUEUE, CustomResource
from cardquota.api.reviews import QUEUE_REVIEW, WORKLOAD_REVIEW


def version(resource: CustomResource) -> dict[str, Any]:
    found: dict[str, Any] = resource.definition()["spec"]["versions"][0]
    return found


def field(resource: CustomResource, path: str) -> dict[str, Any]:
    node: dict[str, Any] = version(resource)["schema"]["openAPIV3Schema"]
    for name in path.split("."):
        node = node["items"] if name == "items" else node["properties"][name]
    return node


def columns(resource: CustomResource, *, wide: bool) -> list[str]:
    return [
        column["name"]
        for column in version(resource)["additionalPrinterColumns"]
        if wide or not column.get("priority")
    ]


def test_names_are_volcanos() -> None:
    assert QUEUE.definition()["spec"]["names"] == {
        "kind": "Queue",
        "listKind": "QueueList",
        "plural": "queues",
        "singular": "queue",
        "shortNames": ["q", "queue-v1beta1"],
    }
    assert POD_GROUP.definition()["spec"]["names"] == {
        "kind": "PodGroup",
        "listKind": "PodGroupList",
        "plural": "podgroups",
        "singular": "podgroup",
        "shortNames": ["pg", "podgroup-v1beta1"],
    }
    assert QUEUE.definition()["spec"]["scope"] == "Cluster"
    assert POD_GROUP.definition()["spec"]["scope"] == "Namespaced"
    assert QUEUE_REVIEW.definition()["spec"]["scope"] == "Cluster"
    assert WORKLOAD_REVIEW.definition()["spec"]["scope"] == "Namespaced"


def test_only_the_queue_has_a_status_subresource_as_in_volcano() -> None:
    assert version(QUEUE)["subresources"] == {"status": {}}
    assert version(POD_GROUP)["subresources"] == {}


def test_f1_what_nobody_has_answered_cannot_be_stored() -> None:
    """The status is required, and no subresource, which a create could not write."""
    for review in (QUEUE_REVIEW, WORKLOAD_REVIEW):
        definition = version(review)
        assert definition["subresources"] == {}
        assert "status" in definition["schema"]["openAPIV3Schema"]["required"]
    definition = version(QUEUE_REVIEW)
    spec = definition["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert (spec["limit"]["default"], spec["limit"]["maximum"]) == (20, 200)
    assert spec["queue"]["maxLength"] == 253


def test_columns_of_queues() -> None:
    short = ["STATE", "CARDS", "INQUEUE", "ELASTIC", "NOTE", "AGE"]
    assert columns(QUEUE, wide=False) == short
    assert columns(QUEUE, wide=True) == [*short, "REQUESTED", "CPU", "MEMORY"]


def test_columns_of_pod_groups() -> None:
    short = ["PHASE", "QUEUE", "CARDS", "MIN", "RUNNING", "REASON", "AGE"]
    assert columns(POD_GROUP, wide=False) == short
    assert columns(POD_GROUP, wide=True) == short


@pytest.mark.parametrize("resource", [QUEUE, POD_GROUP])
def test_columns_point_at_fields_that_exist(resource: CustomResource) -> None:
    for column in version(resource)["additionalPrinterColumns"]:
        path = re.sub(r"\[[^]]*\]", ".items", column["jsonPath"]).removeprefix(".")
        if not path.startswith("metadata."):
            assert field(resource, path)["type"] == column["type"]


QUEUE_SPEC = """weight capability reclaimable extendClusters guarantee affinity type parent
    deserved priority dequeueStrategy dra"""
NODE_GROUPS = """requiredDuringSchedulingIgnoredDuringExecution
    preferredDuringSchedulingIgnoredDuringExecution"""
QUEUE_STATUS = """state unknown pending running inqueue completed reservation allocated
    observedGeneration cards resources waiting conditions columns"""
GROUP_SPEC = """minMember minTaskMember queue priorityClassName minResources networkTopology
    subGroupPolicy topologyAffinity"""


@pytest.mark.parametrize(
    ("resource", "path", "fields"),
    [
        (QUEUE, "spec", QUEUE_SPEC),
        (QUEUE, "spec.affinity.nodeGroupAffinity", NODE_GROUPS),
        (QUEUE, "status", QUEUE_STATUS),
        (POD_GROUP, "spec", GROUP_SPEC),
        (POD_GROUP, "status", "phase conditions running succeeded failed columns"),
    ],
)
def test_fields(resource: CustomResource, path: str, fields: str) -> None:
    assert list(field(resource, path)["properties"]) == fields.split()


CARD_NUMBERS = ["quota", "allocated", "inqueue", "requested", "elastic", "guarantee", "deserved"]


def test_rows_of_a_queues_status() -> None:
    cards = field(QUEUE, "status.cards")
    assert cards["x-kubernetes-list-map-keys"] == ["name"]
    kinds = {name: node["type"] for name, node in cards["items"]["properties"].items()}
    assert kinds == {"name": "string", "resource": "string"} | dict.fromkeys(
        [*CARD_NUMBERS, "offline", "surge", "borrowed"], "integer"
    )
    waiting = field(QUEUE, "status.waiting")["properties"]
    assert (waiting["pods"]["type"], waiting["oldest"]["format"]) == ("integer", "date-time")
    resources = field(QUEUE, "status.resources")
    assert resources["x-kubernetes-list-map-keys"] == ["name"]
    assert list(resources["items"]["properties"]) == ["name", *CARD_NUMBERS]
    assert resources["items"]["required"] == ["name"]
    assert field(QUEUE, "status.conditions")["x-kubernetes-list-map-keys"] == ["type"]


def test_transition_id_keeps_volcanos_spelling() -> None:
    items = field(POD_GROUP, "status.conditions")["items"]
    assert "transitionID" in items["properties"]
