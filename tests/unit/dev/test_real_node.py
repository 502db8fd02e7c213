import os
import platform
import tarfile
from pathlib import Path

import pytest

from cardquota_dev.plane.real_node import requirements
from cardquota_dev.plane.real_node.image import write_image
from cardquota_dev.plane.real_node.requirements import LackingError, provide, real_node_lacks


@pytest.mark.skipif(platform.system() != "Linux", reason="says that it needs Linux")
def test_without_root_there_is_one_line_and_nothing_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(requirements, "build", lambda _: pytest.fail("built"))
    assert real_node_lacks() == "a real node needs root: it mounts, and starts containers"
    with pytest.raises(LackingError, match="needs root"):
        provide()


def test_an_image_is_the_same_for_the_same_program(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"x")
    for name in ("a", "b"):
        write_image(program, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with tarfile.open(tmp_path / "a") as files:
        assert files.getnames() == ["layer.tar", "config.json", "manifest.json"]
