"""The cgroup of one plane's containers, in all hierarchies: all of it is ours, so all of it ends.

Its name follows from the plane's folder: whoever ends a plane needs to know nothing else.
"""

import hashlib
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from ...failure import PlaneError
from ..folder import Folder

_CONTROLLERS = frozenset({"cpu", "cpuset", "hugetlb", "memory", "pids"})
_ROUNDS = 100
_PAUSE = 0.05


def name_of(folder: Folder) -> str:
    """The name of the cgroup, below the root of each hierarchy."""
    return f"cardquota-{hashlib.sha256(bytes(folder.path)).hexdigest()[:12]}"


def usable() -> bool:
    """Whether we may make a cgroup with all that a kubelet asks for, memory among it.

    In a container with one hierarchy of version 2, processes at its root forbid that.
    """
    return any(
        "memory" in _has(root) and os.access(root, os.W_OK) and _has(root) == _handed_on(root)
        for root in _hierarchies()
    )


def make(folder: Folder) -> str:
    """Make the cgroup, with all that a kubelet asks for. Returns its path."""
    for root in _hierarchies():
        _handed_on(root)
        (root / name_of(folder)).mkdir(exist_ok=True)
    return f"/{name_of(folder)}"


def existing(folder: Folder) -> list[Path]:
    """Where the cgroup is, in each hierarchy that has it."""
    paths = (root / name_of(folder) for root in _hierarchies())
    return [path for path in paths if path.exists()]


def end(folder: Folder) -> None:
    """Kill all that is in the cgroup, and remove it. Raises PlaneError if something does not go."""
    for _ in range(_ROUNDS):
        if not (tops := existing(folder)):
            return
        for top in tops:
            _kill_and_remove(top)
        time.sleep(_PAUSE)
    raise PlaneError(f"containers of {folder.path} do not end: see cgroup {name_of(folder)}")


def _kill_and_remove(top: Path) -> None:
    for below, _, _ in os.walk(top, topdown=False):
        with suppress(OSError):
            for pid in (Path(below) / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            Path(below).rmdir()  # fails until its last process is gone


def _has(root: Path) -> frozenset[str]:
    """The controllers of a hierarchy that a kubelet asks for."""
    unified = root / "cgroup.controllers"
    return _CONTROLLERS.intersection(
        unified.read_text().split() if unified.exists() else root.name.split(",")
    )


def _handed_on(root: Path) -> frozenset[str]:
    """Those that a cgroup below the root has: in version 2 they must be handed on, as far as they
    can be.
    """
    handed_on = root / "cgroup.subtree_control"
    if not handed_on.exists():
        return _has(root)
    for controller in _has(root).difference(handed_on.read_text().split()):
        with suppress(OSError):
            handed_on.write_text(f"+{controller}")
    return _CONTROLLERS.intersection(handed_on.read_text().split())


def _hierarchies() -> list[Path]:
    try:
        mounts = Path("/proc/mounts").read_text().splitlines()
    except OSError:
        return []
    rows = [line.split() for line in mounts]
    return [Path(row[1]) for row in rows if row[2] in {"cgroup", "cgroup2"}]
