"""Images, as far as they need neither Debian's archive nor the package index."""

import gzip
import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from cardquota_dev.failure import PlaneError
from cardquota_dev.image import locks, target
from cardquota_dev.image.archive import Image, write_archive
from cardquota_dev.image.build import build_images
from cardquota_dev.image.requirements import image_lacks

CONFIG = {"Entrypoint": ["program"], "User": "65532:65532"}


def a_folder(at: Path, umask: int) -> Path:
    """The same files, made by somebody with this umask."""
    before = os.umask(umask)
    try:
        (at / "below").mkdir(parents=True)
        (at / "below" / "program").write_text("x")
        (at / "below" / "program").chmod(0o4777)
        (at / "link").symlink_to("below/program")
        (at / "again").hardlink_to(at / "below" / "program")
    finally:
        os.umask(before)
    return at


def an_archive(at: Path, umask: int) -> tuple[Path, str]:
    layer = a_folder(at / "layer", umask)
    image = Image("program:1", "amd64", CONFIG, [(layer, "the program")], moment=86_400)
    return at / "image.tar", write_archive(image, at / "image.tar")


def content(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as files:
        members = [one for one in files if one.isfile()]
        return {one.name: files.extractfile(one).read() for one in members}  # type: ignore[union-attr]


def test_an_archive_is_the_same_whoever_makes_it(tmp_path: Path) -> None:
    (one, digest), (other, again) = (
        an_archive(tmp_path / f"{umask:o}", umask) for umask in (0o000, 0o077)
    )
    assert digest == again
    assert one.read_bytes() == other.read_bytes()


def test_an_archive_refers_to_all_that_is_in_it_by_digest(tmp_path: Path) -> None:
    archive, digest = an_archive(tmp_path, 0o022)
    files = content(archive)
    (manifest,) = json.loads(files["index.json"])["manifests"]
    assert manifest["digest"] == digest
    assert manifest["annotations"]["io.containerd.image.name"] == "docker.io/library/program:1"
    blobs = {name: one for name, one in files.items() if name.startswith("blobs/sha256/")}
    for name, one in blobs.items():
        assert hashlib.sha256(one).hexdigest() == Path(name).name
    written = json.loads(blobs[f"blobs/sha256/{digest.removeprefix('sha256:')}"])
    (for_docker,) = json.loads(files["manifest.json"])
    assert for_docker["Config"] == f"blobs/{written['config']['digest'].replace(':', '/')}"
    config = json.loads(files[for_docker["Config"]])
    assert (config["architecture"], config["config"]) == ("amd64", CONFIG)
    assert config["created"] == "1970-01-02T00:00:00+00:00"
    (layer,) = (gzip.decompress(blobs[name]) for name in for_docker["Layers"])
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]


def test_the_files_of_an_image_are_roots_and_give_no_other_rights(tmp_path: Path) -> None:
    archive, _ = an_archive(tmp_path, 0o002)
    files = content(archive)
    layer = files[json.loads(files["manifest.json"])[0]["Layers"][0]]
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        entries = {one.name: (one.type, one.mode, one.uid, one.mtime) for one in tar}
    assert entries == {
        "again": (tarfile.REGTYPE, 0o755, 0, 86_400),
        "below": (tarfile.DIRTYPE, 0o755, 0, 86_400),
        "below/program": (tarfile.REGTYPE, 0o755, 0, 86_400),
        "link": (tarfile.SYMTYPE, 0o777, 0, 86_400),
    }


def test_a_machine_without_locked_wheels_gets_no_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    lacking = "an image can be made on x86_64 and aarch64, and this machine is riscv64"
    assert image_lacks() == lacking
    with pytest.raises(PlaneError, match=lacking):
        list(build_images([target.OPERATOR], tmp_path))


def test_a_machine_without_apt_gets_no_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert image_lacks() == "an image is made of Debian's packages, and apt-get is missing"


def test_a_machine_of_another_distribution_gets_no_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("apt-get", "dpkg-deb"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    theirs = {"ID": "debian", "VERSION_ID": "13", "PRETTY_NAME": "Debian GNU/Linux 13 (trixie)"}
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: theirs)
    assert image_lacks() == (
        "an image has Python 3.11 of Debian 12, and this machine is Debian GNU/Linux 13 (trixie)"
    )


def test_a_lock_with_another_version_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert locks.stale_locks() == []
    newer = tmp_path / "constraints.txt"
    lines = locks.CONSTRAINTS.read_text().splitlines()
    newer.write_text("\n".join("grpcio==9.9" if "grpcio=" in one else one for one in lines))
    monkeypatch.setattr(locks, "CONSTRAINTS", newer)
    assert locks.stale_locks() == ["requirements-node.lock: grpcio"]


def test_the_node_agent_imports_only_what_its_image_has() -> None:
    imports = (
        "import importlib, pkgutil, sys\n"
        "from importlib.metadata import packages_distributions\n"
        "import cardquota_node\n"
        "for one in pkgutil.walk_packages(cardquota_node.__path__, 'cardquota_node.'):\n"
        "    if not one.name.endswith('__main__'):\n"
        "        importlib.import_module(one.name)\n"
        "owners = packages_distributions()\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*(','.join(owners[name]) for name in names & owners.keys()))\n"
    )
    command = [sys.executable, "-c", imports]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = target.NODE.lock.read_text().splitlines()
    locked = {line.partition("==")[0] for line in lines if "==" in line}
    assert "grpcio" in locked
    # gRPC imports its tools if they are there, and a hook of this environment setuptools.
    has = {*locked, "cardquota", "grpcio-tools", "setuptools"}
    imported = [one.lower().replace("_", "-") for one in done.stdout.split()]
    assert [one for one in imported if has.isdisjoint(one.split(","))] == []
