"""Debian's packages: Python, the libraries that it needs, and nothing else.

apt chooses them for a machine on which nothing is installed, and checks their signatures. It works
in a folder of ours: so no root is needed, and this machine's packages play no part. No script of a
package is run: so neither a shell nor dpkg comes into the image.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from ..failure import PlaneError
from .part import DEBIAN, Part
from .target import PYTHON

_WANTED: Final = (
    f"python{PYTHON}-minimal",
    f"libpython{PYTHON}-stdlib",
    "libstdc++6",  # gRPC's, for the node agent
    "base-files",  # which distribution it is: who looks for vulnerable packages reads it
)

_LEFT_OUT: Final = {
    "dpkg": "dpkg",  # readline-common asks for it, to install a manual
    "mawk": "awk",  # base-files asks for it, for its installation
}
"""Packages that apt takes for installed, with what they provide."""

_UNUSED: Final = (
    "usr/share/doc/*/[!c]*",  # licences (`copyright`) stay
    "usr/share/doc/*/changelog*",
    "usr/share/bug",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
    "usr/lib/*/gconv",  # conversions of texts for C programs: Python has its own
)


def download_packages(folder: Path) -> list[Part]:
    """The present packages, as files in this folder, sorted by name. Raises PlaneError."""
    archives = folder / "archives"
    for path in (folder / "lists" / "partial", archives / "partial"):
        path.mkdir(parents=True)
    installed = (
        f"Package: {name}\nProvides: {provided}\nVersion: 999\nArchitecture: all\n"
        "Status: install ok installed\n"
        for name, provided in _LEFT_OUT.items()
    )
    (folder / "status").write_text("\n".join(installed))
    _apt_get(folder, "update")
    _apt_get(folder, "install", "--download-only", "--no-install-recommends", *_WANTED)
    parts = [
        Part(DEBIAN, _field(file, "Package"), _field(file, "Version"), file)
        for file in archives.glob("*.deb")
    ]
    return sorted(parts, key=lambda one: one.name)


def unpack_packages(parts: list[Part], root: Path) -> None:
    """Put the packages' files below this root, and for each what dpkg would know of it."""
    known = root / "var" / "lib" / "dpkg" / "status.d"
    known.mkdir(parents=True)
    for part in parts:
        _run(["dpkg-deb", "--extract", str(part.file), str(root)])
        (known / part.name).write_text(_run(["dpkg-deb", "--field", str(part.file)]))
    for pattern in _UNUSED:
        for path in root.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _field(file: Path, name: str) -> str:
    return _run(["dpkg-deb", "--field", str(file), name]).strip()


def _apt_get(folder: Path, *arguments: str) -> None:
    options = {
        "Dir::State": folder,
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder,
        "Debug::NoLocking": "true",
        "APT::Sandbox::User": "",  # the folder belongs to who runs it
    }
    given = [f"-o={name}={value}" for name, value in options.items()]
    _run(["apt-get", "--quiet=2", "--yes", *given, *arguments])


def _run(command: list[str]) -> str:
    """Its output. Raises PlaneError with the last line of what it says is wrong."""
    plain = os.environ | {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or "without a word").splitlines()[-1]
        raise PlaneError(f"{command[0]} failed: {last}")
    return done.stdout
