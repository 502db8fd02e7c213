"""D6: rows that an administrator adds to the vendor table, and those that cannot be used."""

import re
from pathlib import Path

import pytest
import yaml

from builders import a_node
from cardquota.install import render
from cardquota.quota.nodes.node_facts import node_facts
from cardquota.settings import Settings, SettingsError, load

MINE = {"name": "Mine", "prefix": "mine.example", "type": "xpu"}
OWN_LABELS = {
    **MINE,
    "resources": ["other.example/xpu"],
    "resourcePrefix": "xpu",
    "productLabels": ["mine.example/model", "mine.example/old-model"],
    "memoryLabel": "mine.example/ram",
    "memoryUnit": "written",
}


def settings(tmp_path: Path, *rows: object) -> Settings:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"vendors": list(rows)}))
    return load(path)


def test_a_row_is_known_in_the_table_and_to_the_api_server(tmp_path: Path) -> None:
    found = settings(tmp_path, OWN_LABELS)
    for resource in ("mine.example/xpu", "other.example/xpu", "mine.example/xpu7"):
        row = found.vendor_table.owner(resource)
        assert row is not None
        assert row.name == "Mine"
        assert re.search(found.vendor_table.pattern, resource)
    assert found.vendor_table.owner("mine.example/xpu.x") is None
    assert "xpu[A-Za-z0-9_-]+" in render(found)
    node = a_node().put({"mine.example/xpu7": "4"}, "status", "allocatable")
    for label in OWN_LABELS["productLabels"]:
        labels = {label: "M-1", "mine.example/ram": "32G"}
        facts = node_facts(node.put(labels, "metadata", "labels").wire(), found.vendor_table)
        ((card, amount),) = facts.cards
        assert (card.name, card.resource, amount) == ("M-1", "mine.example/xpu7", 4)
        assert card.labels == ((label, "M-1"),)


def test_a_row_replaces_its_namesake(tmp_path: Path) -> None:
    labels = ["ours.example/card"]
    row = {"name": "Ours", "prefix": "amd.com", "type": "gpu", "productLabels": labels}
    found = settings(tmp_path, row)
    assert [one.name for one in found.vendor_table if one.prefix == "amd.com"] == ["Ours"]


GPUS = {"name": "Theirs", "prefix": "nvidia.com", "type": "gpu"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "mig-1g.5gb"}, "type <mig-1g.5gb> names slices of cards"),
        ({"type": "gpu.shared"}, "type <gpu.shared> names shares of cards"),
        *(
            ({"type": f"gpu.{end}"}, f"type <gpu.{end}> names a label of cards")
            for end in ("product", "memory", "count", "replicas")
        ),
        (
            {"resources": ["x.example/gpu", "nvidia.com/mig-1g.18gb"]},
            "resources <nvidia.com/mig-1g.18gb> names slices of cards",
        ),
        ({"resources": ["nvidia.com/gpu.shared"]}, "names shares of cards"),
    ],
)
def test_d3_d4_parts_are_no_cards(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    """Shares and slices would be charged as whole cards, or no more be counted at all."""
    with pytest.raises(SettingsError) as refused:
        settings(tmp_path, {**GPUS, **changes})
    assert said in str(refused.value)
    assert "vendors.0: " in str(refused.value)
    assert "<Theirs>: " in str(refused.value)
    assert "shares and slices need no row" in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**MINE, "colour": "red"}], "vendors.0.colour: there is no such setting"),
        ([{**MINE, "prefix": "a/b"}], "vendors.0.prefix: "),
        ([{**MINE, "resources": ["xpu"]}], "must be a resource name, such as amd.com/gpu"),
        ([{**MINE, "resources": ["a.example/x y"]}], "must be a resource name"),
        ([{**MINE, "productLabels": ["a b"]}], "must be a label key"),
        ([{**MINE, "memoryLabel": "a/b/c"}], "must be a label key"),
        ([{**MINE, "memoryUnit": "bytes"}], "vendors.0.memoryUnit: "),
        ([{**MINE, "resourceTypes": "xpu[0-9]+"}], "is not read any more: write resourcePrefix"),
        ([{**MINE, "resourcePrefix": "xpu[0-9]+"}], "must be the beginning of names"),
        ([{**MINE, "resourcePrefix": "mig-1g"}], "must be the beginning of names"),
        ([{**MINE, "memoryLabel": "a.example/ram"}], "memoryLabel goes with productLabels"),
        ([MINE, {**MINE, "name": "Again"}], "two rows for mine.example/xpu: keep one"),
    ],
)
def test_a_row_that_is_of_no_use_is_refused(tmp_path: Path, rows: list[object], said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        settings(tmp_path, *rows)
    assert said in str(refused.value)
