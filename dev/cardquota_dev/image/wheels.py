"""The wheels: those of the locks, by their hashes, and the project's own, built from the checkout.

They are installed by files alone: pip would run the Python of this machine, and write its path into
the programs.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Final

from installer import install
from installer.destinations import SchemeDictionaryDestination
from installer.sources import WheelFile
from packaging.utils import canonicalize_name, parse_wheel_filename

from ..failure import PlaneError
from ..paths import CHECKOUT
from .locks import wheel_tags
from .part import PYPI, Part
from .target import PREFIX, SITE_PACKAGES

_PIP: Final = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def download_wheels(lock: Path, folder: Path) -> list[Part]:
    """The wheels of a lock, as files in this folder, sorted by name. Raises PlaneError."""
    tags = wheel_tags(platform.machine())
    _pip("download", "--require-hashes", "--no-deps", *tags, f"--requirement={lock}", to=folder)
    return _parts(folder)


def build_wheel(folder: Path, moment: int) -> list[Part]:
    """The project's own wheel, with this time in it. Raises PlaneError."""
    options = ("--no-deps", "--no-build-isolation", "--no-cache-dir")
    _pip("wheel", *options, str(CHECKOUT), to=folder, moment=moment)
    return _parts(folder)


def install_wheels(parts: list[Part], root: Path) -> None:
    """Put the wheels' files and programs below this root."""
    for part in parts:
        destination = SchemeDictionaryDestination(
            {
                "purelib": str(SITE_PACKAGES),
                "platlib": str(SITE_PACKAGES),
                "scripts": str(PREFIX / "bin"),
                "headers": str(PREFIX / "include"),
                "data": str(PREFIX),
            },
            interpreter=str(PREFIX / "bin" / "python"),
            script_kind="posix",
            bytecode_optimization_levels=(),
            destdir=str(root),
        )
        with WheelFile.open(part.file) as wheel:
            install(wheel, destination, additional_metadata={})


def _parts(folder: Path) -> list[Part]:
    parts = []
    for file in folder.glob("*.whl"):
        name, version, _, _ = parse_wheel_filename(file.name)
        parts.append(Part(PYPI, canonicalize_name(name), str(version), file))
    return sorted(parts, key=lambda one: one.name)


def _pip(command: str, *arguments: str, to: Path, moment: int = 0) -> None:
    to.mkdir(parents=True)
    where = f"--dest={to}" if command == "download" else f"--wheel-dir={to}"
    done = subprocess.run(
        [*_PIP, command, where, *arguments],
        env=os.environ | {"SOURCE_DATE_EPOCH": str(moment)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise PlaneError(f"pip {command} failed:\n{done.stderr.strip()}")
