"""What is in the images, and that two builds are equal."""

import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardquota_dev.image.build import build_images
from cardquota_dev.image.target import OPERATOR
from cardquota_dev.paths import CHECKOUT

from .conftest import Unpacked

pytestmark = pytest.mark.long

MOST = 150_000_000
"""Bytes of an image's files."""

DOCKERFILE = CHECKOUT / "Dockerfile"


def contents(root: Path) -> dict[str, tuple[str, str]]:
    """All files below a root, with their modes and what they hold."""
    return {str(one.relative_to(root)): (mode(one), held(one)) for one in root.rglob("*")}


def mode(path: Path) -> str:
    return stat.filemode(path.lstat().st_mode)


def held(path: Path) -> str:
    if path.is_symlink():
        return str(path.readlink())
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def test_two_builds_have_one_digest(operator: Unpacked, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        (again,) = build_images([OPERATOR], tmp_path / "elsewhere" / "below")
    finally:
        os.umask(before)
    assert again.digest == operator.digest
    assert again.archive.read_bytes() == operator.archive.read_bytes()


@pytest.mark.parametrize("name", ["cardquota", "cardquota-node"])
def test_an_image_has_what_its_program_needs_and_no_more(
    images: dict[str, Unpacked], name: str
) -> None:
    image = images[name]
    files = [one for one in image.files.values() if one.is_file() and not one.is_symlink()]
    assert sum(one.stat().st_size for one in files) < MOST
    programs = {
        one.name
        for folder in ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/libexec")
        for one in (image.root / folder).rglob("*")
    }
    assert programs == {"python3.11"}
    assert [str(one) for one in files if one.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)] == []
    assert [str(one) for one in files if one.stat().st_mode & 0o022] == []
    assert not any(re.search(r"/(pip|setuptools|ensurepip)/", one) for one in image.files)
    assert image.config["User"] == "65532:65532"
    assert image.config["Labels"]["org.opencontainers.image.version"] == "0.1.0"


def test_the_node_agent_comes_without_what_speaks_to_an_api_server(agent: Unpacked) -> None:
    packages = agent.root / "opt/cardquota/lib/python3.11/site-packages"
    assert (packages / "grpc").is_dir()
    assert [one for one in ("aiohttp", "kopf", "cryptography") if (packages / one).exists()] == []


@pytest.mark.parametrize("name", ["cardquota", "cardquota-node"])
def test_the_bill_has_all_packages_that_a_scanner_finds(
    images: dict[str, Unpacked], name: str
) -> None:
    image = images[name]
    bill = json.loads(image.archive.with_suffix(".cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert image.digest.replace(":", "%3A") in bill["metadata"]["component"]["purl"]
    said = {one["purl"].partition("?")[0] for one in bill["components"]}
    assert said == {*debian_packages(image.root), *python_packages(image.root)}


def debian_packages(root: Path) -> Iterator[str]:
    for file in (root / "var/lib/dpkg/status.d").iterdir():
        fields = dict(re.findall(r"^(Package|Version): (.*)$", file.read_text(), re.MULTILINE))
        version = fields["Version"].replace("+", "%2B").replace(":", "%3A")
        yield f"pkg:deb/debian/{fields['Package']}@{version}"


def python_packages(root: Path) -> Iterator[str]:
    for folder in (root / "opt/cardquota/lib/python3.11/site-packages").glob("*.dist-info"):
        said = (folder / "METADATA").read_text()
        fields = dict(re.findall(r"^(Name|Version): (.*)$", said, re.MULTILINE))
        yield f"pkg:pypi/{re.sub('[-_.]+', '-', fields['Name'].lower())}@{fields['Version']}"


class Dockerfile:
    """The steps of a Dockerfile, for who has no Docker. Each stage has its instructions, those of
    the stage that it is made from first.
    """

    def __init__(self) -> None:
        self.stages: dict[str, list[tuple[str, str]]] = {}
        said = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)
        for line in said.replace("\\\n", " ").splitlines():
            word, _, rest = line.partition(" ")
            if word == "FROM":
                base, _, name = rest.split()
                stage = self.stages[name] = list(self.stages.get(base, ()))
            elif word:
                stage.append((word, rest))

    def copied_from(self, stage: str) -> tuple[str, str]:
        """The stage whose folder is all that an image has, and the folder."""
        (copied,) = (rest for word, rest in self.stages[stage] if word == "COPY")
        found = re.fullmatch(r"--from=(\S+) (\S+) /", copied)
        assert found is not None
        return found[1], found[2]

    def run(self, stage: str, folder: Path) -> None:
        """Do the steps in a folder. What apt-get installs is on this machine."""
        source = folder / "src"
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        for word, rest in self.stages[stage]:
            if word == "COPY":
                assert rest == ". ."
                copy_context(source)
            elif word == "ENV":
                environment |= dict(one.split("=", 1) for one in shlex.split(rest))
            elif word == "RUN" and "apt-get" not in rest:
                here = re.sub(r"(?<=\s)/(?=tools|image)", f"{folder}/", f" {rest}")
                subprocess.run(["sh", "-ec", here], cwd=source, env=environment, check=True)

    def config(self, stage: str) -> dict[str, object]:
        """How a container of the stage is started, as an image says it."""
        said = dict(self.stages[stage])
        return {
            "User": said["USER"],
            "Env": shlex.split(said["ENV"]),
            "Entrypoint": json.loads(said["ENTRYPOINT"]),
            "Cmd": json.loads(said["CMD"]),
            "ExposedPorts": {f"{port}/tcp": {} for port in said["EXPOSE"].split()},
        }


def copy_context(folder: Path) -> None:
    """What Docker would be sent: what .dockerignore takes out of what is left out."""
    for line in (CHECKOUT / ".dockerignore").read_text().splitlines():
        if line.startswith("!"):
            path = CHECKOUT / line[1:]
            to = folder / line[1:]
            to.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(path, to)


def test_the_steps_of_the_dockerfile_give_the_same_files(agent: Unpacked, tmp_path: Path) -> None:
    steps = Dockerfile()
    stage, folder = steps.copied_from("node")
    steps.run(stage, tmp_path)
    theirs, ours = contents(tmp_path / folder.lstrip("/")), contents(agent.root)
    assert theirs.keys() == ours.keys()
    assert {name for name, one in theirs.items() if one != ours[name]} == set()


@pytest.mark.parametrize(("stage", "name"), [("operator", "cardquota"), ("node", "cardquota-node")])
def test_the_dockerfile_starts_containers_as_the_images_do(
    images: dict[str, Unpacked], stage: str, name: str
) -> None:
    ours = {key: one for key, one in images[name].config.items() if key != "Labels"}
    assert Dockerfile().config(stage) == ours
