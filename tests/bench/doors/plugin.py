"""The commands of the plugin as a user runs them: a process each, before a fake API server with
1,000 queues and 20,000 pods.

Wall time is the user's, with the fake API server on the same cores; processor time is the
command's alone. Both are also told as a multiple of `--version` in the same round, which is what
it takes to start at all. A fake page costs the server less than a real one: a real API server
needs some seconds of its own for 20,000 pods, so of `check` only the part of the command is
measured.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from ..figure import Figure, Report, median
from ..processes.child import Child

PODS: Final = 20_000
_ROUNDS: Final = 3
_PLUGIN: Final = (sys.executable, "-m", "cardquota.cli.plugin")
_VERSION: Final = "--version"
_AT_ONCE: Final = 1.0
"""Seconds of processor time: on a quiet machine it is most of what the user waits for."""
_COMMANDS: Final[dict[str, float | None]] = {
    _VERSION: None,
    "top": _AT_ONCE,
    "top -o wide": _AT_ONCE,
    "top -o json": None,
    "cards -o wide": None,
    "queue team-001": _AT_ONCE,
    "explain job train -n team": _AT_ONCE,
    "check": None,
}
"""Each with its bound, if it has one."""
_ENDS_WELL: Final = {"check": 3}
"""Nothing is installed there."""


def run(report: Report) -> None:
    """Turn by turn; figures are medians."""
    with tempfile.TemporaryDirectory(prefix="cardquota-bench-") as scratch:
        folder = Path(scratch)
        report(Figure("load of the machine over the last minute, before", os.getloadavg()[0], ""))
        command = [sys.executable, "-m", "bench.processes.plugin_api", scratch, str(PODS)]
        walls: dict[str, list[float]] = {one: [] for one in _COMMANDS}
        costs: dict[str, list[float]] = {one: [] for one in _COMMANDS}
        with Child(command, folder / "fake.log") as fake:
            fake.says()
            for _ in range(_ROUNDS):
                for one in _COMMANDS:
                    wall, cost = _timed(one, folder)
                    walls[one].append(wall)
                    costs[one].append(cost)
    for one, bound in _COMMANDS.items():
        report(median(one, walls[one], "s"))
        report(median(f"{one}: its processor time", costs[one], "s", bound))
        if one != _VERSION:
            ratios = [c / v for c, v in zip(costs[one], costs[_VERSION], strict=True)]
            report(median(f"{one}: the same against {_VERSION}", ratios, ""))
    report(Figure("load of the machine over the last minute, after", os.getloadavg()[0], ""))


def _timed(command: str, folder: Path) -> tuple[float, float]:
    """Wall and processor time, seconds."""
    env = {**os.environ, "KUBECONFIG": str(folder / "kubeconfig")}
    began = time.monotonic()
    with subprocess.Popen(
        [*_PLUGIN, *command.split()],
        cwd=folder,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        said = process.stderr.read().decode() if process.stderr is not None else ""
    if process.returncode != _ENDS_WELL.get(command, 0):
        raise RuntimeError(f"{command} ended with {process.returncode}: {said}")
    return wall, usage.ru_utime + usage.ru_stime
