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

_ROUNDS = 100
_PAUSE = 0.05


def name_of(folder: Folder) -> str:
    """The name of the cgroup, below the root of each hierarchy."""
    return f"cardquota-{hashlib.sha256(bytes(folder.path)).hexdigest()[:12]}"


def usable() -> bool:
    """Whether there is a hierarchy with memory in which we may make a cgroup."""
    for root in _hierarchies():
        unified = root / "cgroup.controllers"
        has = unified.read_text().split() if unified.exists() else [root.name]
        if "memory" in has and os.access(root, os.W_OK):
            return True
    return False


def make(folder: Folder) -> str:
    """Make the cgroup, with all controllers that there are. Returns its path."""
    for root in _hierarchies():
        ours = root / name_of(folder)
        ours.mkdir(exist_ok=True)
        if (root / "cgroup.controllers").exists():
            for controller in (root / "cgroup.controllers").read_text().split():
                with suppress(OSError):  # one that may not be handed on
                    (root / "cgroup.subtree_control").write_text(f"+{controller}")
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


def _hierarchies() -> list[Path]:
    try:
        mounts = Path("/proc/mounts").read_text().splitlines()
    except OSError:
        return []
    rows = [line.split() for line in mounts]
    return [Path(row[1]) for row in rows if row[2] in {"cgroup", "cgroup2"}]
