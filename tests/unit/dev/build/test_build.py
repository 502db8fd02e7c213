from pathlib import Path

import pytest

from cardquota_dev.build import build, toolchain, versions
from cardquota_dev.build.lock import exclusive, held
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
    assert build.missing(folder) == []
    assert "Building kwok" in capsys.readouterr().out
    build.build()
    assert capsys.readouterr().out == ""


def test_only_what_is_missing_is_built(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build.build()
    (folder / "kwok").unlink()
    capsys.readouterr()
    build.build()
    said = capsys.readouterr().out
    assert "Building kwok" in said
    assert "Building etcd" not in said


def test_a_failed_build_leaves_no_half_binary(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIL", versions.PACKAGES["kube-scheduler"])
    with pytest.raises(PlaneError, match="cannot compile"):
        build.build()
    assert sorted(path.name for path in folder.iterdir()) == [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
    ]
    assert sorted(path.name for path in folder.parent.iterdir()) == ["bin", "lock"]


def test_the_digest_follows_the_module(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("require (\n\tk8s.io/kubernetes v1.36.3 // indirect\n)\n")
    (tmp_path / "go.sum").write_text("one\n")
    before = versions.digest(tmp_path)
    assert versions.digest(tmp_path) == before
    (tmp_path / "go.sum").write_text("two\n")
    assert versions.digest(tmp_path) != before


def test_the_linker_sets_the_version_that_the_module_names() -> None:
    flags = versions.linker_flags()
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        assert f"-X {package}.gitVersion=v1.36.3" in flags
        assert f"-X {package}.gitMinor=36" in flags


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go version go1.26.8 linux/amd64", (1, 26)),
        ("go version go1.9 linux/amd64", (1, 9)),
        ("go version devel go1.27-abc linux/arm64", (1, 27)),
        ("nonsense", (0, 0)),
    ],
)
def test_a_version_is_read(text: str, version: tuple[int, int]) -> None:
    assert toolchain.version_of(text) == version


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not held(path)
    with exclusive(path):
        assert held(path)
    assert not held(path)
