"""Debian's packages: Python, the libraries that it needs, and nothing else.

apt chooses them for a machine on which nothing is installed. No script of a package is run: so
neither a shell nor dpkg comes into the image.
"""

import shutil
from pathlib import Path
from typing import Final

from ..debian import apt_get, field, unpack
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
    installed = (
        f"Package: {name}\nProvides: {provided}\nVersion: 999\nArchitecture: all\n"
        "Status: install ok installed\n"
        for name, provided in _LEFT_OUT.items()
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "status").write_text("\n".join(installed))
    apt_get(folder, "update")
    apt_get(folder, "install", "--download-only", "--no-install-recommends", *_WANTED)
    parts = [
        Part(DEBIAN, field(file, "Package").strip(), field(file, "Version").strip(), file)
        for file in (folder / "archives").glob("*.deb")
    ]
    return sorted(parts, key=lambda one: one.name)


def unpack_packages(parts: list[Part], root: Path) -> None:
    """Put the packages' files below this root, and for each what dpkg would know of it."""
    known = root / "var" / "lib" / "dpkg" / "status.d"
    known.mkdir(parents=True)
    for part in parts:
        unpack(part.file, root)
        (known / part.name).write_text(field(part.file))
    for pattern in _UNUSED:
        for path in root.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
