"""Does a replica stay below its memory limit, whatever objects somebody makes?

The largest cluster that is promised comes first. Then come all attacks one after the other:
objects just below each single limit, far more than are kept. Pods are gone before the next attack,
all other objects stay. The process runs under the limit of the manifests where this one may make a
cgroup, and ends there if it takes more.
"""

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Final

from harness.floods import limited

from ..figure import Figure, Report
from ..processes.child import Child

_MANIFEST: Final = Path(__file__).parents[3] / "manifests/base/deployment.yaml"


def run(report: Report) -> None:
    """Resident memory after each part."""
    (most,) = re.findall(r"limits: \{memory: (\d+)Mi\}", _MANIFEST.read_text())
    limit = int(most) * 2**20
    with tempfile.TemporaryDirectory(prefix="cardquota-bench-") as folder:
        command = [sys.executable, "-m", "bench.processes.kept_memory"]
        with Child(command, Path(folder) / "child.log") as child, limited(child.pid, limit) as real:
            report(Figure("under a real limit (1), or only measured (0)", float(real), ""))
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
