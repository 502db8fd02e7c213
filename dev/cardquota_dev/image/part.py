"""A part of an image that somebody else made: a package of Debian, or a wheel."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEBIAN: Final = "deb"
PYPI: Final = "pypi"


@dataclass(frozen=True)
class Part:
    """One part, as a file."""

    kind: str
    """`DEBIAN` or `PYPI`: as package URLs have it."""
    name: str
    version: str
    file: Path

    @property
    def sha256(self) -> str:
        """The hash of the file, in hexadecimal digits."""
        return file_hash(self.file)


def file_hash(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
