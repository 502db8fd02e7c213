"""What a machine must have for a real node, and how the plane gets what it can get itself."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from ...build.build import build
from ...build.versions import CNI, CONTAINERD, kubelet
from ...failure import PlaneError
from . import cgroups


class LackingError(PlaneError):
    """Why this machine can have no real node, in one line."""


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
    if _runc() is None and shutil.which("apt-get") is None:
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
    if (found := _runc()) is not None:
        return found
    print("No runc on PATH: installing Debian's package", flush=True)
    _apt_get("update", "--quiet=2")
    _apt_get("install", "--quiet=2", "--yes", "--no-install-recommends", "runc")
    if (found := _runc()) is None:
        raise LackingError("apt-get has installed runc, but there is no such program")
    return found


def _runc() -> Path | None:
    found = shutil.which("runc", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin")
    return Path(found) if found else None


def _apt_get(*arguments: str) -> None:
    command = ["apt-get", *arguments]
    silent = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=silent, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise LackingError(f"{' '.join(command)} failed: {' '.join(last)}")
