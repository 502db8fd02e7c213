"""What the API server makes of our definitions, beyond what stands in crds/."""

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


@pytest.mark.parametrize("resource", [QUEUE, POD_GROUP])
def test_columns_point_at_fields_that_exist(resource: CustomResource) -> None:
    for column in version(resource)["additionalPrinterColumns"]:
        path = re.sub(r"\[[^]]*\]", ".items", column["jsonPath"]).removeprefix(".")
        if not path.startswith("metadata."):
            assert field(resource, path)["type"] == column["type"]
