"""What is stored of slots, and what is known of them if that is lost; and the load of a card."""

import logging
from pathlib import Path

import pytest

from cardquota_node.cdi import CdiFolder
from cardquota_node.inventory import NodeCard
from cardquota_node.kubelet import RefusedError
from cardquota_node.slot_file import SLOTS, SlotFile, text_of
from cardquota_node.slot_resource import KIND, SlotLoad
from cardquota_node.slot_rule import Slot, SlotHolder, Slots

HELD = Slot("GPU-1", SlotHolder("team", "p", "main", "uid"), for_pod=True)
MOVED: Slots = {"GPU-0_0": HELD, "GPU-1_0": Slot("GPU-0")}


def a_file(folder: Path) -> SlotFile:
    return SlotFile(folder, CdiFolder(KIND, folder))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert a_file(tmp_path / "cdi").read() == {}
    a_file(tmp_path / "cdi").write(MOVED)
    assert a_file(tmp_path / "cdi").read() == MOVED
    (path,) = (tmp_path / "cdi").iterdir()
    assert path.suffix not in (".json", ".yaml")


@pytest.mark.parametrize("text", ["", "{", '{"GPU-0_0": {}}', '{"GPU-0_0": {"card": 1}}'])
def test_if_it_is_broken_that_is_said_and_the_containers_files_are_read(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    cdi = CdiFolder(KIND, tmp_path)
    cdi.write("GPU-0_0", {SLOTS: text_of({"GPU-0_0": HELD})}, [])
    cdi.write("GPU-2_0", {SLOTS: "{"}, [])
    cdi.write("GPU-3_0", {}, [])
    (tmp_path / "cardquota-slots.state").write_text(text)
    with caplog.at_level(logging.WARNING):
        assert a_file(tmp_path).read() == {"GPU-0_0": HELD}
    assert "cardquota-slots.state cannot be read" in caplog.text


def test_what_cannot_be_written_is_an_error_and_the_former_stays(tmp_path: Path) -> None:
    a_file(tmp_path).write(MOVED)
    (tmp_path / "cardquota-slots.unfinished").mkdir()
    with pytest.raises(RefusedError, match="nobody would know who has which slot: Is a directory"):
        a_file(tmp_path).write({})
    assert a_file(tmp_path).read() == MOVED


@pytest.mark.parametrize(
    ("load", "utilization", "expected"),
    [
        (SlotLoad.UTILIZATION, 30, 30.0),
        (SlotLoad.UTILIZATION, None, 100.0),
        (SlotLoad.MEMORY, 30, 25.0),
        (SlotLoad.MEMORY, None, 25.0),
    ],
)
def test_the_load_of_a_card(load: SlotLoad, utilization: int | None, expected: float) -> None:
    card = NodeCard(
        index=0,
        uuid="GPU-0",
        product="NVIDIA-A10",
        path="/dev/null",
        memory=24_564,
        used=6_141,
        utilization=utilization,
    )
    assert load.of(card) == expected
