from pathlib import Path

import pytest

from cardquota_dev.build import build, versions
from cardquota_dev.failure import PlaneError

GO = """#!/bin/sh
# Stands for Go: lists one package, "compiles" it, and fails on request.
case "$1" in
list) echo a/package ;;
build)
    echo a/package
    for last; do :; done
    while [ "$1" != -o ]; do shift; done
    echo binary > "$2"; chmod +x "$2"
    if [ "$last" = "$FAIL" ]; then echo "cannot compile"; exit 1; fi ;;
esac
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    compiler = tmp_path / "go"
    compiler.write_text(GO)
    compiler.chmod(0o755)
    monkeypatch.setattr(build, "go", lambda: compiler)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return versions.built()


def test_all_is_built_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build.build() == folder
    assert build.missing() == []
    assert "Building kwok" in capsys.readouterr().out
    build.build()
    assert capsys.readouterr().out == ""


def test_a_failed_build_leaves_no_half_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", versions.CONTROL_PLANE.packages["kube-scheduler"])
    with pytest.raises(PlaneError, match="cannot compile"):
        build.build()
    names = ["etcd", "kube-apiserver", "kube-controller-manager"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert sorted(path.name for path in folder.parent.iterdir()) == ["bin", "lock"]


def test_the_digest_follows_the_module(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("require (\n\tk8s.io/kubernetes v1.36.3 // indirect\n)\n")
    (tmp_path / "go.sum").write_text("one\n")
    wanted = versions.BinarySet(tmp_path, {"a": "a/package"})
    before = versions.digest(wanted)
    assert versions.digest(wanted) == before
    (tmp_path / "go.sum").write_text("two\n")
    after = versions.digest(wanted)
    assert after != before
    (tmp_path / "main.go").write_text("package main\n")
    assert versions.digest(wanted) != after
    assert versions.digest(versions.BinarySet(tmp_path, {})) != versions.digest(wanted)
