"""Does a replica stay below its memory limit, whatever objects somebody makes?

The largest cluster that is promised comes first. Then come all attacks one after the other:
objects just below each single limit, far more than are kept. Pods are gone before the next attack,
all other objects stay. The process runs under the limit of the manifests where this one may make a
cgroup, and ends there if it takes more.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..figure import Figure, Report
from ..processes.child import Child

_MANIFEST: Final = Path(__file__).parents[3] / "manifests/base/deployment.yaml"
_ROOTS: Final = (
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
    ("/sys/fs/cgroup", "memory.max"),
)


def run(report: Report) -> None:
    """Resident memory after each part."""
    (most,) = re.findall(r"limits: \{memory: (\d+)Mi\}", _MANIFEST.read_text())
    limit = int(most) * 2**20
    with tempfile.TemporaryDirectory(prefix="cardquota-bench-") as folder:
        command = [sys.executable, "-m", "bench.processes.kept_memory"]
        with _limited(limit) as join, Child(command, Path(folder) / "child.log") as child:
            report(Figure("under a real limit (1), or only measured (0)", float(join(child)), ""))
            while True:
                try:
                    said = json.loads(child.says())
                except RuntimeError:
                    if child.end() == 0:
                        break
                    raise
                resident = child.memory().resident
                report(Figure(f"{said['what']}", resident, "MB", limit / 1e6))
                child.hears("")
            report(Figure("objects of which only the name is kept", said["left_out"], ""))


@contextmanager
def _limited(limit: int) -> "Iterator[_Join]":
    """A cgroup with this limit, if one can be made."""
    for root, name in _ROOTS:
        group = Path(root) / f"cardquota-bench-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / name).exists():
                (group / name).write_text(str(limit))
                yield _Join(group)
                return
        finally:
            group.rmdir()
    yield _Join(None)


class _Join:
    def __init__(self, group: Path | None) -> None:
        self._group = group

    def __call__(self, child: Child) -> bool:
        """Put the process into the group. Returns whether there is one."""
        if self._group is not None:
            (self._group / "cgroup.procs").write_text(str(child.pid))
        return self._group is not None
