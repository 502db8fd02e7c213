"""`make release`: each file is tried from the folder, with nothing of the checkout around it."""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

from cardquota import __version__
from cardquota_dev.build.versions import HELM, built
from cardquota_dev.failure import PlaneError
from cardquota_dev.image.target import architecture
from cardquota_dev.paths import CHECKOUT
from cardquota_dev.plane.discovery import binary
from cardquota_dev.release.release import SUMS, archived, release
from cardquota_dev.testing import Cluster

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files by name."""
    folder = tmp_path_factory.mktemp("release") / "dist"
    files = list(release(folder, "registry.example/", "https://example.com/v1/"))
    assert sorted(files) == sorted(folder.iterdir())
    return {file.name: file for file in files}


def clean(folder: Path) -> dict[str, str]:
    """An environment that knows nothing but this Python and the system."""
    path = f"{Path(sys.base_prefix) / 'bin'}:/usr/bin:/bin"
    keep = {k: v for k, v in os.environ.items() if k.startswith("PIP_") or k.endswith("_proxy")}
    return {**keep, "PATH": path, "HOME": str(folder)}


def said(folder: Path, *command: str | Path) -> str:
    """What it prints, from a folder of its own."""
    folder.mkdir(exist_ok=True)
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=clean(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def named(dist: dict[str, Path], tail: str) -> Path:
    return dist[f"cardquota-{__version__}{tail}"]


@pytest.mark.parametrize("tail", ["-py3-none-any.whl", ".tar.gz"])
def test_wheel_and_source_are_installed(dist: dict[str, Path], tmp_path: Path, tail: str) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    said(tmp_path, sys.executable, "-m", "venv", tmp_path / "venv")
    lock = CHECKOUT / "constraints.txt"
    said(tmp_path, python, "-m", "pip", "-q", "install", "-c", lock, named(dist, tail))
    program = tmp_path / "venv" / "bin" / "cardquota"
    assert said(tmp_path, program, "--version") == f"cardquota {__version__}\n"
    assert "ValidatingAdmissionPolicy" in said(tmp_path, program, "manifests")


def test_the_plugin_is_one_program_and_krew_finds_it(
    dist: dict[str, Path], tmp_path: Path, plane: Cluster
) -> None:
    krew = yaml.safe_load(dist["krew.yaml"].read_text())
    (platform,) = krew["spec"]["platforms"]
    archive = dist[Path(platform["uri"]).name]
    assert platform["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    with tarfile.open(archive) as tar:
        assert sorted(tar.getnames()) == sorted(one["from"] for one in platform["files"])
        tar.extractall(tmp_path, filter="data")
    program = tmp_path / platform["bin"]
    assert said(tmp_path, program, "--version") == f"cardquota {__version__}\n"
    cards = said(tmp_path, program, "cards", "-o", "json", "--kubeconfig", plane.kubeconfig)
    assert "cards" in json.loads(cards)


def test_the_chart_is_what_helm_takes(dist: dict[str, Path], tmp_path: Path) -> None:
    chart = dist[f"cardquota-chart-{__version__}.tgz"]
    shown = said(
        tmp_path, built(HELM) / "helm", "template", "cardquota", chart, "--kube-version=1.33"
    )
    kinds = {one["kind"] for one in yaml.safe_load_all(shown) if one}
    assert {"Deployment", "ValidatingAdmissionPolicy", "MutatingWebhookConfiguration"} <= kinds


def test_the_manifests_are_built_and_applied(
    dist: dict[str, Path], tmp_path: Path, plane: Cluster
) -> None:
    with tarfile.open(dist[f"cardquota-manifests-{__version__}.tar.gz"]) as tar:
        tar.extractall(tmp_path, filter="data")
    kubectl = binary("kubectl")
    built = said(tmp_path, kubectl, "kustomize", tmp_path / "manifests" / "base")
    one_file = dist["install.yaml"].read_text()
    assert f"image: registry.example/cardquota:{__version__}" in one_file

    def names(text: str) -> set[tuple[str, str]]:
        found = (one for one in yaml.safe_load_all(text) if one)
        return {(one["kind"], one["metadata"]["name"]) for one in found}

    assert names(built) == names(one_file)
    applied = plane.kubectl("create", "--dry-run=client", "-f", str(dist["install.yaml"]))
    assert applied.returncode == 0, applied.stderr


def test_the_images_are_whole(dist: dict[str, Path]) -> None:
    for name in ("cardquota", "cardquota-node"):
        stem = f"{name}-{__version__}-{architecture()}"
        with tarfile.open(dist[f"{stem}.tar"]) as tar:
            for member in tar.getmembers():
                if member.name.startswith("blobs/sha256/") and member.isfile():
                    content = tar.extractfile(member)
                    assert content is not None
                    found = hashlib.sha256(content.read()).hexdigest()
                    assert found == Path(member.name).name
        bill = json.loads(dist[f"{stem}.cdx.json"].read_text())
        assert bill["bomFormat"] == "CycloneDX"


def test_the_checksums_are_of_all_files(dist: dict[str, Path]) -> None:
    folder = dist[SUMS].parent
    told = said(folder, "sha256sum", "--check", "--strict", SUMS)
    assert len(told.splitlines()) == len(dist) - 1


def test_a_release_is_not_mixed_with_another(tmp_path: Path) -> None:
    (tmp_path / "of-yesterday.whl").touch()
    with pytest.raises(PlaneError, match="is not empty"):
        next(release(tmp_path, "", ""))


def test_an_archive_is_the_same_each_time(tmp_path: Path) -> None:
    one, other = (archived(CHECKOUT / "crds", tmp_path / name) for name in "ab")
    assert one.read_bytes() == other.read_bytes()
