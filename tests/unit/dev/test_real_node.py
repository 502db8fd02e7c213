import os
import platform
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cardquota_dev.__main__ import app
from cardquota_dev.build.installed_program import LackingError
from cardquota_dev.plane.real_node import requirements
from cardquota_dev.plane.real_node.requirements import provide, real_node_lacks


@pytest.mark.skipif(platform.system() != "Linux", reason="says that it needs Linux")
def test_without_root_there_is_one_line_and_nothing_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(requirements, "build", lambda _: pytest.fail("built"))
    assert real_node_lacks() == "a real node needs root: it mounts, and starts containers"
    with pytest.raises(LackingError, match="needs root"):
        provide()


def test_the_operator_is_deployed_only_where_there_is_a_real_node(tmp_path: Path) -> None:
    archive = tmp_path / "image.tar"
    archive.touch()
    done = CliRunner().invoke(app, ["up", f"--dir={tmp_path / 'plane'}", f"--deployed={archive}"])
    assert (done.exit_code, (tmp_path / "plane").exists()) == (2, False)
    assert "goes with --node alone" in done.output
