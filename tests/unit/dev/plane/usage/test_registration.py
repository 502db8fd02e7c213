from pathlib import Path
from typing import Any

import pytest

from cardquota_dev.plane.credentials.keys import make_keys
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.usage.registration import api_services, is_available, objects


@pytest.fixture
def items(tmp_path: Path) -> list[dict[str, Any]]:
    folder = Folder(tmp_path / "plane")
    folder.prepare()
    folder.clear()
    found: list[dict[str, Any]] = objects(4711, make_keys(folder))["items"]
    return found


def test_both_apis_are_passed_on_to_the_port(items: list[dict[str, Any]]) -> None:
    (service,) = (one for one in items if one["kind"] == "Service")
    assert (service["spec"]["externalName"], service["spec"]["type"]) == (
        "127.0.0.1",
        "ExternalName",
    )
    apis = {one["metadata"]["name"]: one["spec"] for one in items if one["kind"] == "APIService"}
    assert list(apis) == api_services()
    for spec in apis.values():
        where = {name: service["metadata"][name] for name in ("name", "namespace")}
        assert spec["service"] == {**where, "port": 4711}
        assert spec["caBundle"]


def test_it_may_only_read(items: list[dict[str, Any]]) -> None:
    (role,) = (one for one in items if one["kind"] == "ClusterRole")
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list"}


@pytest.mark.parametrize(
    ("status", "available"),
    [
        ({}, False),
        ({"conditions": None}, False),
        ({"conditions": [{"type": "Available", "status": "False"}]}, False),
        ({"conditions": [{"type": "Available", "status": "True"}]}, True),
    ],
)
def test_available(status: dict[str, object], available: bool) -> None:
    assert is_available({"status": status}) is available
    assert not is_available(None)
