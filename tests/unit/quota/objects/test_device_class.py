"""P7: of a DeviceClass two names are read, whatever version it is of."""

import json

import msgspec
import pytest

from cardquota.quota.objects import DeviceClass


@pytest.mark.parametrize(
    ("spec", "resource"),
    [
        (
            {"extendedResourceName": "example.com/npu", "selectors": [{"cel": {}}]},
            "example.com/npu",
        ),
        ({"selectors": []}, None),
        ({}, None),
    ],
)
def test_its_names(spec: dict[str, object], resource: str | None) -> None:
    body = {"apiVersion": "resource.k8s.io/v1", "metadata": {"name": "npu"}, "spec": spec}
    found = msgspec.json.decode(json.dumps(body), type=DeviceClass)
    assert (found.metadata.name, found.spec.extended_resource_name) == ("npu", resource)


def test_one_without_a_specification_can_be_read() -> None:
    found = msgspec.convert({"metadata": {"name": "npu"}}, DeviceClass)
    assert found.spec.extended_resource_name is None
