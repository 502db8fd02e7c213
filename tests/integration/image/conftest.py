"""The images, built once for all tests, and their files. Skipped, with the reason, where a machine
cannot have them.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cardquota_dev.image.build import build_images
from cardquota_dev.image.requirements import image_lacks
from cardquota_dev.image.target import NODE, OPERATOR

from .in_container import unpack


@dataclass(frozen=True)
class Unpacked:
    """An image, and its files where a container can have them."""

    archive: Path
    digest: str
    root: Path
    config: dict[str, Any]
    """How a container of it is started."""
    about: dict[str, Any]
    """All that the image says of itself."""

    @property
    def files(self) -> dict[str, Path]:
        """By the path in the image."""
        return {str(one.relative_to(self.root)): one for one in self.root.rglob("*")}


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Unpacked]:
    """Both, by name."""
    if lacking := image_lacks() or ("containers need root" if os.geteuid() != 0 else ""):
        pytest.skip(lacking)
    folder = tmp_path_factory.mktemp("images")
    targets, found = (OPERATOR, NODE), {}
    for target, image in zip(targets, build_images(targets, folder), strict=True):
        root = folder / target.name
        about = unpack(image.archive, root)
        found[target.name] = Unpacked(image.archive, image.digest, root, about["config"], about)
    return found


@pytest.fixture(scope="session")
def operator(images: dict[str, Unpacked]) -> Unpacked:
    return images[OPERATOR.name]


@pytest.fixture(scope="session")
def agent(images: dict[str, Unpacked]) -> Unpacked:
    return images[NODE.name]
