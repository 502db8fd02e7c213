"""The cards of a node, by a file or without a driver, and the unit of their memory (K2, K3)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from cardquota.quota.cards import SharedUnit
from cardquota_node.inventory import FileInventory, InventoryError, Mig, NodeCard, NoDriverError
from cardquota_node.inventory.nvml_inventory import NvmlInventory
from cardquota_node.inventory.xid_watch import XidWatch
from cardquota_node.memory_units import UnitSetting, unit_of
from cardquota_node.node_cards import NodeCards


def card(index: int, memory: int = 16_376) -> NodeCard:
    path = f"/dev/nvidia{index}"
    return NodeCard(
        index=index, uuid=f"GPU-{index}", product="NVIDIA-A10", path=path, memory=memory
    )


ONE = {"uuid": "GPU-0", "product": "NVIDIA-A10", "memory": 100}


def listed(folder: Path, *cards: object, text: str | None = None) -> tuple[NodeCard, ...]:
    path = folder / "cards.yaml"
    path.write_text(yaml.safe_dump({"cards": list(cards)}) if text is None else text)
    return FileInventory(path).cards()


def test_a_file_lists_cards_in_its_order(tmp_path: Path) -> None:
    found = listed(tmp_path, ONE, {**ONE, "uuid": "GPU-1", "problem": "XID 79", "mig": "enabled"})
    assert [(one.index, one.uuid, one.healthy) for one in found] == [
        (0, "GPU-0", True),
        (1, "GPU-1", False),
    ]
    assert listed(tmp_path) == ()


@pytest.mark.parametrize(
    ("cards", "said"),
    [
        ([ONE, ONE], "uuid <GPU-0> is there <2> times"),
        ([{**ONE, "slices": ["GPU-0"], "mig": "enabled"}], "uuid <GPU-0> is there <2> times"),
        ([{**ONE, "memory": 0}], "cards.0.memory: must be greater than or equal to 1"),
        ([{**ONE, "memory": "100"}], "cards.0.memory: must be a whole number"),
        ([{**ONE, "used": 101}], "used <101> MiB is more than memory <100>"),
        ([{**ONE, "slices": ["a"]}], "slices need mig: enabled, it is <unsupported>"),
        ([{**ONE, "colour": "red"}], "cards.0.colour: there is no such setting"),
        ([{**ONE, "uuid": "<b>"}], "cards.0.uuid: must match the pattern"),
        ([{**ONE, "uuid": "a" * 58}], "cards.0.uuid: must match the pattern"),
        ([{**ONE, "path": "nvidia0"}], "cards.0.path: must match the pattern"),
        ([{**ONE, "product": "NVIDIA A10"}], "cards.0.product: must match the pattern"),
        ([{**ONE, "uuid": f"GPU-{n}"} for n in range(257)], "cards: must have at most 256 items"),
        (["GPU-0"], "cards.0: must be a mapping"),
    ],
)
def test_what_cannot_be_cards_is_refused_with_its_key(
    tmp_path: Path, cards: list[object], said: str
) -> None:
    with pytest.raises(InventoryError) as error:
        listed(tmp_path, *cards)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cards: [1", "is not YAML"),
        ("\x80", "is not YAML"),
        ("uuid: 2026-99-99", "is not YAML"),
        ("memory: 0x_", "is not YAML"),
        ("a: " + "9" * 5_000, "is not YAML"),
        ("a: !!timestamp x", "is not YAML"),
        ('a: !!int ""', "is not YAML"),
        ("a: !!bool x", "is not YAML"),
        ("- a", "must be a mapping"),
        ("", "cards: is missing"),
        ("# " + "a" * 1024 * 1024, "has more than <1048576> bytes"),
    ],
)
def test_so_is_what_is_no_list_of_cards(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InventoryError, match=said):
        listed(tmp_path, text=text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match=r"none\.yaml: cannot be read: No such file"):
        FileInventory(tmp_path / "none.yaml").cards()


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a driver")
def test_without_a_driver_that_is_said() -> None:
    with pytest.raises(NoDriverError, match="this node has no NVIDIA driver"):
        NvmlInventory().cards()


# --- in which unit ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "wanted", "unit"),
    [
        ((40_000,), UnitSetting.AUTO, SharedUnit.MIB),
        ((40_001,), UnitSetting.AUTO, SharedUnit.GIB),
        ((81_559,) * 8, UnitSetting.AUTO, SharedUnit.GIB),
        ((16_376,), UnitSetting.GIB, SharedUnit.GIB),
    ],
)
def test_there_are_never_more_ids_than_the_kubelet_takes(
    sizes: tuple[int, ...], wanted: UnitSetting, unit: SharedUnit
) -> None:
    assert unit_of([card(n, size) for n, size in enumerate(sizes)], wanted) is unit


def test_a_card_of_less_than_the_unit_is_refused() -> None:
    with pytest.raises(InventoryError, match="card <1> has <1000> MiB, less than a GiB"):
        unit_of([card(0), card(1, 1_000)], UnitSetting.GIB)


def test_a_unit_that_makes_too_many_is_refused() -> None:
    with pytest.raises(InventoryError, match="have <40001> MiB in all"):
        unit_of([card(0, 40_001)], UnitSetting.MIB)


# --- health ---------------------------------------------------------------------------------------


def test_a_card_that_answers_nothing_is_the_one_that_stood_there_and_sick() -> None:
    cards, told = NodeCards(UnitSetting.AUTO), []
    cards.listen(lambda: told.append(json.dumps([one.healthy for one in cards.cards])))
    lost = NodeCard(index=1, uuid="", product="", path="", memory=0, problem="lost: it is gone")
    for seen in ([card(0), card(1)], [card(0), card(1)], [card(0), lost], [card(0), card(1)]):
        cards.see(seen)
    assert told == ["[true, true]", "[true, false]", "[true, true]"]


def test_a_card_that_was_never_seen_well_keeps_its_place_for_the_others() -> None:
    cards = NodeCards(UnitSetting.AUTO)
    lost = NodeCard(index=0, uuid="", product="", path="", memory=0, problem="lost: it is gone")
    cards.see([lost, card(1)])
    assert [(one.index, one.uuid, one.healthy) for one in cards.cards] == [
        (0, "lost-0", False),
        (1, "GPU-1", True),
    ]
    assert cards.size(cards.cards[0]) > 0
    cards.see([card(0), card(1)])
    assert [(one.uuid, one.healthy) for one in cards.cards] == [("GPU-0", True), ("GPU-1", True)]


def test_a_card_that_is_not_listed_for_a_while_is_sick_meanwhile_and_the_unit_stays() -> None:
    cards = NodeCards(UnitSetting.AUTO)
    all_cards = [card(n) for n in range(4)]
    cards.see(all_cards)
    for seen in (all_cards[:2], all_cards[2:]):
        cards.see(seen)
        assert [one.index for one in cards.cards] == [0, 1, 2, 3]
        assert [one for one in cards.cards if one.healthy] == seen
        assert cards.unit is SharedUnit.GIB
    cards.see(all_cards)
    assert all(one.healthy for one in cards.cards)
    # In another order they are the same cards, each in its new place.
    cards.see([replace(one, index=3 - one.index) for one in all_cards])
    assert [one.uuid for one in cards.cards] == ["GPU-3", "GPU-2", "GPU-1", "GPU-0"]


def test_a_card_that_is_divided_cannot_be_had_as_a_whole() -> None:
    cards = NodeCards(UnitSetting.AUTO)
    cards.see([replace(card(0), mig=Mig.ENABLED), card(1)])
    assert [one.problem for one in cards.cards] == ["it is divided into slices (MIG)", ""]


def test_faults_of_applications_are_none_of_the_card_and_others_pass_with_time() -> None:
    now = [0.0]
    faults = XidWatch((31,), 60.0, lambda: now[0])
    faults.report("GPU-0", 31)
    assert faults.problem("GPU-0") == ""
    faults.report("GPU-0", 79)
    now[0] = 59.0
    assert (faults.problem("GPU-0"), faults.problem("GPU-1")) == ("XID 79", "")
    faults.report("GPU-0", 48)
    now[0] = 118.0
    assert faults.problem("GPU-0") == "XID 48"
    now[0] = 119.0
    assert faults.problem("GPU-0") == ""
