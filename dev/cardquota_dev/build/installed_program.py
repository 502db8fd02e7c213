"""Programs of Debian's packages that some tests need, installed where this machine may."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from ..failure import PlaneError

CHROMIUM: Final = "chromium"


class LackingError(PlaneError):
    """What this machine cannot have, and why, in one line."""


def found_program(name: str) -> Path | None:
    """Where it is; None if it is not installed."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin")
    return Path(found) if found else None


def provided_program(name: str) -> Path:
    """The program, from the package of the same name if it is not there.

    Raises LackingError if it cannot be installed.
    """
    if (found := found_program(name)) is not None:
        return found
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise LackingError(f"there is no {name} on PATH, and to install it takes root and apt-get")
    print(f"No {name} on PATH: installing Debian's package", flush=True)
    _apt_get("update", "--quiet=2")
    _apt_get("install", "--quiet=2", "--yes", "--no-install-recommends", name)
    if (found := found_program(name)) is None:
        raise LackingError(f"apt-get has installed {name}, but there is no such program")
    return found


def _apt_get(*arguments: str) -> None:
    command = ["apt-get", *arguments]
    silent = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=silent, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise LackingError(f"{' '.join(command)} failed: {' '.join(last)}")
