"""Packages of Debian, without installing them and without root.

apt works in a folder of ours: it checks signatures as always, and this machine's packages play no
part.
"""

import os
import subprocess
from pathlib import Path

from .failure import PlaneError


def apt_get(folder: Path, *arguments: str) -> None:
    """Run apt-get in this folder, with all its state there. Raises PlaneError."""
    folder = folder.resolve()
    for path in (folder / "lists" / "partial", folder / "archives" / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    options = {
        "Dir::State": folder,
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder,
        "Debug::NoLocking": "true",
        "APT::Sandbox::User": "",  # the folder belongs to who runs it
    }
    given = [f"-o={name}={value}" for name, value in options.items()]
    run(["apt-get", "--quiet=2", "--yes", *given, *arguments], folder)


def unpack(file: Path, root: Path) -> None:
    """Put the package's files below this root. Raises PlaneError."""
    run(["dpkg-deb", "--extract", str(file), str(root)])


def field(file: Path, name: str = "") -> str:
    """What a package says of itself: all, or one field. Raises PlaneError."""
    return run(["dpkg-deb", "--field", str(file), *filter(None, [name])])


def run(command: list[str], folder: Path | None = None) -> str:
    """Its output. Raises PlaneError with the last line of what it says is wrong."""
    plain = os.environ | {"LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=plain, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise PlaneError(f"there is no {command[0]}") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or "without a word").splitlines()[-1]
        raise PlaneError(f"{command[0]} failed: {last}")
    return done.stdout
