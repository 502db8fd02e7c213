from pathlib import Path

import pytest

from cardquota_dev.build import build, versions
from cardquota_dev.failure import PlaneError
from cardquota_dev.paths import GO_MODULES

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
    monkeypatch.delenv("KUBERNETES", raising=False)
    return versions.built(versions.kubernetes())


def test_all_is_built_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build.build_control_plane() == folder
    assert build.missing(versions.kubernetes()) == []
    assert "Building kwok" in capsys.readouterr().out
    build.build_control_plane()
    assert capsys.readouterr().out == ""


def test_a_failed_build_leaves_no_half_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", versions.KUBERNETES["kube-scheduler"])
    with pytest.raises(PlaneError, match="cannot compile"):
        build.build_control_plane()
    names = ["kube-apiserver", "kube-controller-manager"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert sorted(path.name for path in folder.parent.iterdir()) == ["bin", "lock"]


def test_each_version_has_a_folder_of_its_own_and_shares_etcd(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    build.build_control_plane()
    capsys.readouterr()
    monkeypatch.setenv("KUBERNETES", versions.MINORS[0])
    assert build.build_control_plane() != folder
    said = capsys.readouterr().out
    assert "Building kube-apiserver" in said
    assert "Building etcd" not in said


def test_a_version_that_is_not_there_is_refused_with_those_that_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES", "1.20")
    with pytest.raises(PlaneError, match=r"KUBERNETES=1\.20 is not one of 1\.33, .*1\.36"):
        build.build_control_plane()
    assert not folder.exists()


@pytest.mark.parametrize("minor", versions.MINORS)
def test_each_module_names_its_version(minor: str) -> None:
    flags = versions.linker_flags(GO_MODULES / minor)
    assert f"gitMinor={minor[2:]} " in flags


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
