"""The two images: their names, what a container of them runs, and where things lie in them."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from ..paths import CHECKOUT

PYTHON: Final = "3.11"
"""The version of Debian 12's Python, for which the wheels are locked."""

INTERPRETER: Final = PurePosixPath(f"/usr/bin/python{PYTHON}")

PREFIX: Final = PurePosixPath("/opt/cardquota")
"""A virtual environment: Debian's own packages of Python modules are not in its way."""

SITE_PACKAGES: Final = PREFIX / "lib" / f"python{PYTHON}" / "site-packages"

USER: Final = 65_532
"""User and group: the same numbers as in manifests/base/deployment.yaml."""

ENVIRONMENT: Final = {
    "PATH": f"{PREFIX}/bin:/usr/bin",
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Target:
    """One image."""

    name: str
    """Of the image, and of the program that its container runs."""
    title: str
    lock: Path
    """Its wheels, all but the project's own."""
    ports: tuple[int, ...]


OPERATOR: Final = Target(
    "cardquota", "cardquota operator", CHECKOUT / "requirements.lock", (8080, 8081, 9443)
)
NODE: Final = Target(
    "cardquota-node", "cardquota node agent", CHECKOUT / "requirements-node.lock", (9446,)
)
TARGETS: Final = {"operator": OPERATOR, "node": NODE}


def architecture() -> str:
    """The architecture of this machine, and so of the image, by its name in OCI and Debian."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def architectures() -> Sequence[str]:
    """Those for which wheels are locked, as wheels name them."""
    return tuple(_ARCHITECTURES)
