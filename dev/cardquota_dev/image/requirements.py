"""What a machine must have for images to be made on it."""

import platform
import shutil
from typing import Final

from .target import PYTHON, architectures

_DEBIAN: Final = ("debian", "12")
"""The distribution whose Python is the images'."""


def image_lacks() -> str:
    """What this machine lacks, in one line. Empty: nothing."""
    if (machine := platform.machine()) not in architectures():
        known = " and ".join(architectures())
        return f"an image can be made on {known}, and this machine is {machine}"
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            return f"an image is made of Debian's packages, and {program} is missing"
    try:
        said = platform.freedesktop_os_release()
    except OSError:
        said = {}
    if (said.get("ID"), said.get("VERSION_ID")) != _DEBIAN:
        name = said.get("PRETTY_NAME", "something else")
        return f"an image has Python {PYTHON} of Debian 12, and this machine is {name}"
    return ""
