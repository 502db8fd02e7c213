from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota_dev.plane.credentials.keys import make_keys
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.options import Options
from cardquota_dev.plane.volcano.definitions import CHOICES, definition_files, product_files
from cardquota_dev.plane.volcano.registration import ACCOUNTS, accounts, webhooks

BOTH = {"queues.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh"}
PRODUCT = {f"{kind}.cardquota.volcano.sh" for kind in ("queuereviews", "terms", "workloadreviews")}
OWN = {"jobs.batch.volcano.sh", "commands.bus.volcano.sh"}


def defined(choice: str, *, volcano: bool = True) -> dict[str, Any]:
    files = definition_files(choice, volcano=volcano)
    found = (yaml.safe_load(file.read_text()) for file in files)
    return {one["metadata"]["name"]: one for one in found}


def status_of(definition: dict[str, Any]) -> dict[str, Any]:
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found: dict[str, Any] = schema["properties"]["status"]["properties"]
    return found


@pytest.mark.parametrize("volcano", [True, False])
def test_whose_definitions_there_are(volcano: bool) -> None:
    assert defined("none", volcano=volcano) == {}
    assert set(defined("volcano", volcano=volcano)) == BOTH | OWN
    assert set(defined("ours", volcano=volcano)) == BOTH | PRODUCT | (OWN if volcano else set())


def test_the_product_has_kinds_of_its_own() -> None:
    names = {".".join(path.stem.split("_")[::-1]) for path in product_files()}
    assert names == PRODUCT


def test_volcanos_queue_has_none_of_the_products_fields() -> None:
    name = "queues.scheduling.volcano.sh"
    theirs, ours = status_of(defined("volcano")[name]), status_of(defined("ours")[name])
    assert not {"cards", "conditions", "columns"} & theirs.keys()
    assert theirs.keys() < ours.keys()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "ours"),
        ({"volcano": "v"}, "ours"),
        ({"replicas": 0}, "none"),
        ({"replicas": 0, "volcano": "v"}, "volcano"),
        ({"crds": "volcano"}, "volcano"),
    ],
)
def test_defaults(options: dict[str, Any], expected: str, tmp_path: Path) -> None:
    found = Options(Folder(tmp_path), **options).definitions
    assert found == expected
    assert found in CHOICES


def test_options_of_the_stand_in_are_passed_on(tmp_path: Path) -> None:
    flags = Options(
        Folder(tmp_path), volcano="v", volcano_longest_pause=0.0, crds="none", replicas=0
    ).arguments()
    assert {"--volcano", "--volcano-namespace=v", "--volcano-longest-pause=0.0"} < set(flags)
    assert "--crds=none" in flags
    assert not any(one.startswith("--volcano") for one in Options(Folder(tmp_path)).arguments())


def test_each_process_has_an_account_with_its_own_role() -> None:
    items = accounts("batch-system", "tenant")["items"]
    named = [(one["kind"], one["metadata"]["name"]) for one in items]
    for account in ACCOUNTS:
        for kind in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding"):
            assert (kind, account) in named
    subjects = [one["subjects"][0] for one in items if one["kind"] == "ClusterRoleBinding"]
    spaces = {one.get("namespace") for one in subjects if one["kind"] == "ServiceAccount"}
    assert spaces == {"batch-system"}


def test_webhooks_are_asked_on_this_machine(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "plane")
    folder.prepare()
    folder.clear()
    for one in webhooks(4711, make_keys(folder))["items"]:
        (hook,) = one["webhooks"]
        assert hook["clientConfig"]["url"].startswith("https://127.0.0.1:4711/")
        assert hook["clientConfig"]["caBundle"]
