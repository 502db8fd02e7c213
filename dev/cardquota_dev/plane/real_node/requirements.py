"""What a machine must have for a real node, and how the plane gets what it can get itself."""

import os
import shutil
from pathlib import Path
from typing import Final

from ...build.build import build
from ...build.installed_program import LackingError, found_program, provided_program
from ...build.versions import CNI, CONTAINERD, kubelet
from . import cgroups

_RUNC: Final = "runc"
_MOUNTS: Final = 21
"""The number of the capability to mount (CAP_SYS_ADMIN)."""


def real_node_lacks() -> str:
    """What this machine lacks for a real node, in one line. Empty: nothing."""
    status = Path("/proc/self/status")
    if not status.exists():
        return "a real node needs Linux"
    if os.geteuid() != 0:
        return "a real node needs root: it mounts, and starts containers"
    held = next(one for one in status.read_text().splitlines() if one.startswith("CapEff:"))
    if not int(held.split()[1], 16) >> _MOUNTS & 1:
        return "a real node needs the right to mount (CAP_SYS_ADMIN), which this root has not"
    if not cgroups.usable():
        return "a real node needs cgroups for memory that can be written, below /sys/fs/cgroup"
    if not Path("/dev/kmsg").exists():
        return "a real node needs /dev/kmsg: the kubelet reads it"
    if found_program(_RUNC) is None and shutil.which("apt-get") is None:
        return "a real node needs runc, and there is no apt-get to install it"
    return ""


def provide() -> None:
    """Install and build what is missing for a real node.

    Raises LackingError if the machine can have none, PlaneError if a build fails.
    """
    if lacking := real_node_lacks():
        raise LackingError(lacking)
    runc()
    build(CONTAINERD)
    build(kubelet())
    build(CNI)


def runc() -> Path:
    """The program that starts containers. Installs Debian's if there is none.

    Raises LackingError if it cannot be installed.
    """
    return provided_program(_RUNC)
