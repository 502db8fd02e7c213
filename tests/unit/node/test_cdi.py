"""The files by which the container runtime learns what a container gets."""

import json
from pathlib import Path

import pytest

from cardquota_node.cdi import CdiFolder
from cardquota_node.kubelet import RefusedError

KIND = "cardquota.volcano.sh/memory"


def test_a_file_says_what_a_device_stands_for(tmp_path: Path) -> None:
    cdi = CdiFolder(KIND, tmp_path / "cdi")
    cdi.write("GPU-0_1", {"A": "x=y"}, ["/dev/nvidia0"])
    (path,) = (tmp_path / "cdi").iterdir()
    assert json.loads(path.read_text()) == {
        "cdiVersion": "0.5.0",
        "kind": KIND,
        "devices": [
            {
                "name": "GPU-0_1",
                "containerEdits": {"env": ["A=x=y"], "deviceNodes": [{"path": "/dev/nvidia0"}]},
            }
        ],
    }
    assert cdi.name("GPU-0_1") == "cardquota.volcano.sh/memory=GPU-0_1"
    assert (cdi.environment("GPU-0_1"), list(cdi.devices())) == ({"A": "x=y"}, ["GPU-0_1"])


def test_a_file_is_replaced_whole_and_only_our_own_are_removed(tmp_path: Path) -> None:
    cdi, foreign = CdiFolder(KIND, tmp_path), tmp_path / "nvidia.json"
    foreign.write_text("{}")
    for value in "12":
        cdi.write("a", {"N": value}, [])
    assert cdi.environment("a") == {"N": "2"}
    cdi.remove("a")
    cdi.remove("a")
    assert [path.name for path in tmp_path.iterdir()] == ["nvidia.json"]


OF_ANOTHER = '{"kind": "%s", "devices": [{"name": "%s", "containerEdits": {"env": ["N=1"]}}]}'


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", '{"devices": []}', '{"devices": [{}]}', "[" * 20_000),
        OF_ANOTHER.replace('"N=1"', "1") % (KIND, "a"),
        OF_ANOTHER.replace("N=1", "N") % (KIND, "a"),
        OF_ANOTHER % (KIND, "b"),
        OF_ANOTHER % ("nvidia.com/gpu", "a"),
    ],
)
def test_a_file_that_somebody_broke_says_nothing_and_is_written_anew(
    tmp_path: Path, text: str
) -> None:
    cdi = CdiFolder(KIND, tmp_path)
    cdi.write("a", {"N": "1"}, [])
    (path,) = tmp_path.iterdir()
    path.write_text(text)
    assert cdi.environment("a") == {}
    cdi.write("a", {"N": "2"}, [])
    assert cdi.environment("a") == {"N": "2"}


def test_where_nothing_can_be_written_no_container_starts_without_its_card(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RefusedError, match="so the container would have no card: Not a directory"):
        CdiFolder(KIND, tmp_path / "file" / "cdi").write("a", {}, [])
