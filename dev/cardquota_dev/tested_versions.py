"""`test-versions`: the demo, and the tests that rest most on the API server, on the oldest and the
newest Kubernetes. What came of it is kept in results/, and docs/versions.md shows it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from .build.versions import MINORS, VARIABLE, chosen, release
from .failure import PlaneError
from .paths import CHECKOUT, GO_MODULES

RESULTS: Final = CHECKOUT / "results" / "kubernetes-versions.json"
"""By minor version: the release, how many tests passed, and how many were skipped for what."""

_TESTS: Final = tuple(
    f"tests/integration/{name}"
    for name in (
        "admission",
        "extender",
        "install",
        "leader",
        "process/test_configuration.py",
        "process/test_fence.py",
        "ways_round",
    )
)
"""Webhook, policies, fence and extender, and all that is tried to get round a quota."""


def try_versions(*, workers: int, write: bool) -> None:
    """The chosen version alone, or else the oldest and the newest. Raises PlaneError if anything
    fails; then nothing is written.
    """
    minors = [chosen()] if os.environ.get(VARIABLE) else [MINORS[0], MINORS[-1]]
    found = {minor: _try(minor, workers) for minor in minors}
    for minor, result in found.items():
        print(f"Kubernetes {minor}: {json.dumps(result)}", flush=True)
    if write:
        kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
        RESULTS.write_text(json.dumps(kept | found, indent=2, sort_keys=True) + "\n")


def _try(minor: str, workers: int) -> dict[str, Any]:
    env = os.environ | {VARIABLE: minor}
    demo = ("cardquota_dev", "demo")
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        tests = ("pytest", "-q", "-n", str(workers), f"--junitxml={report}", *_TESTS)
        for module in (demo, tests):
            print(f"\n=== Kubernetes {minor}: {module[0]}", flush=True)
            command = [sys.executable, "-m", *module]
            if subprocess.run(command, env=env, cwd=CHECKOUT, check=False).returncode != 0:
                raise PlaneError(f"Kubernetes {minor}: {' '.join(module[:2])} failed")
        return {"release": release(GO_MODULES / minor), **_counts(report)}


def _counts(report: Path) -> dict[str, Any]:
    cases = list(ET.parse(report).iter("testcase"))  # noqa: S314 - our own file
    skipped = Counter(one.get("message", "") for case in cases for one in case.findall("skipped"))
    return {"passed": len(cases) - skipped.total(), "skipped": dict(skipped)}
