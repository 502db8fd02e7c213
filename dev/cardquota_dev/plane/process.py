"""Processes by pid, without ever ending a foreign one.

Pids are reused. So a process is identified by its pid and start time, and is signalled only if both
match.
"""

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

MARK = "DEV_PLANE_FOLDER"
"""Set to the plane's folder in the environment of every process of a plane."""

_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """One process of a plane, which leads a session and a group of its own."""

    name: str
    pid: int
    started: str
    """Its start time, in the operating system's format. Empty if it was already gone."""
    address: str = ""
    """The URL that it listens on, or empty."""

    @classmethod
    def of(cls, name: str, pid: int, address: str = "") -> Self:
        """The running process with that pid."""
        return cls(name, pid, started(pid), address)

    @classmethod
    def read(cls, value: dict[str, Any]) -> Self:
        """A process from the result of `written`."""
        return cls(
            name=str(value["name"]),
            pid=int(value["pid"]),
            started=str(value["started"]),
            address=str(value["address"]),
        )

    def written(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)

    @property
    def alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        return bool(self.started) and started(self.pid) == self.started

    def signal(self, number: signal.Signals) -> None:
        """Signal only this process, if it still runs."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it and its whole group at once."""
        if self.alive:
            with suppress(ProcessLookupError):
                if os.getpgid(self.pid) == self.pid:
                    os.killpg(self.pid, signal.SIGKILL)
                else:
                    os.kill(self.pid, signal.SIGKILL)


def started(pid: int) -> str:
    """The start time of the process with that pid. Empty if there is none (or only a zombie)."""
    if (_PROC / "self" / "stat").exists():
        try:
            text = (_PROC / str(pid) / "stat").read_text()
        except OSError:
            return ""
        # The name, in parentheses, may itself contain spaces and parentheses.
        fields = text.rpartition(")")[2].split()
        return "" if fields[0] in {"Z", "X"} else fields[19]
    command = ["ps", "-p", str(pid), "-o", "stat=,lstart="]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    status, _, start = listed.stdout.strip().partition(" ")
    return "" if status.startswith("Z") else start.strip()


def marked(folder: Path) -> list[Process]:
    """Processes with the mark of the plane in that folder, recorded or not.

    Only if /proc exists; elsewhere none are found.
    """
    wanted = f"{MARK}={folder}".encode()
    found = []
    for entry in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(Process.of("marked", int(entry.name)))
    return found
