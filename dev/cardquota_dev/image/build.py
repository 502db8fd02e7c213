"""One image, from the checkout to its archive."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardquota import __version__

from ..failure import PlaneError
from ..paths import CHECKOUT
from .archive import Image, set_modes, write_archive
from .layers import Layer, project_layer, python_layer, wheels_layer
from .requirements import image_lacks
from .sbom import write_bill
from .target import ENVIRONMENT, USER, Target, architecture


@dataclass(frozen=True)
class BuiltImage:
    """An image in its archive."""

    archive: Path
    digest: str
    """Of its manifest."""
    bill: Path
    """What is in it, as CycloneDX."""


def build_images(targets: Iterable[Target], folder: Path) -> Iterator[BuiltImage]:
    """Write archives of images into the folder, and beside each what is in it. Raises PlaneError.

    Two builds of one commit are equal, as long as Debian has no newer package.
    """
    machine, made = architecture(), moment()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        for target, layers in _layers(targets, Path(scratch), made):
            name, stem = f"{target.name}:{__version__}", f"{target.name}-{__version__}-{machine}"
            contents = [(layer.folder, layer.says) for layer in layers]
            archive = folder / f"{stem}.tar"
            digest = write_archive(Image(name, machine, config(target), contents, made), archive)
            parts = [part for layer in layers for part in layer.parts]
            bill = folder / f"{stem}.cdx.json"
            write_bill(name, digest, parts, made, bill)
            yield BuiltImage(archive, digest, bill)


def build_root(target: Target, folder: Path) -> None:
    """Write an image's files into the folder, for a build by other means. Raises PlaneError."""
    with tempfile.TemporaryDirectory() as scratch:
        for _, layers in _layers([target], Path(scratch), moment()):
            for layer in layers:
                shutil.copytree(layer.folder, folder, symlinks=True, dirs_exist_ok=True)
    set_modes(folder)


def _layers(
    targets: Iterable[Target], scratch: Path, moment: int
) -> Iterator[tuple[Target, list[Layer]]]:
    if lacking := image_lacks():
        raise PlaneError(lacking)
    python = python_layer(scratch / "python")
    project = project_layer(python, scratch / "project", moment)
    for target in targets:
        wheels = wheels_layer(python, target, scratch / target.name)
        yield target, [python, wheels, project]


def config(target: Target) -> Mapping[str, Any]:
    """How a container of the image is started, and what the image says of itself."""
    labels = {
        "title": target.title,
        "version": __version__,
        "licenses": "Apache-2.0",
        "revision": _git("describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"),
    }
    return {
        "User": f"{USER}:{USER}",
        "Env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
        "Entrypoint": [target.name],
        "Cmd": ["run"],
        "ExposedPorts": {f"{port}/tcp": {} for port in target.ports},
        "Labels": {f"org.opencontainers.image.{key}": said for key, said in labels.items() if said},
    }


def moment() -> int:
    """The time that all files get: of the commit, or what the variable says that is for this."""
    said = os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct") or "0"
    if not said.isdecimal():
        raise PlaneError(f"SOURCE_DATE_EPOCH is no number of seconds: {said}")
    return int(said)


def _git(*arguments: str) -> str:
    """What git says of the checkout. Empty where there is no git, or this is no clone."""
    command = ["git", "-C", str(CHECKOUT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()
