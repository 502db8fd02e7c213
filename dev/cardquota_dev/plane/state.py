"""state.json: what runs in a plane, for people, for tests, and for the command that ends it."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..failure import PlaneError
from .folder import Folder, write_private_json
from .process import Process


@dataclass
class PlaneState:
    """What runs. Written whole at every change, so a reader never sees a part."""

    ready: bool = False
    """Whether all parts have been ready at once."""
    server: str = ""
    """The API server's URL."""
    webhook: str = ""
    """The URL of the product for the API server: the one replica, or the balancer."""
    extender: str = ""
    """The URL of the product for the scheduler. Empty if that does not ask it."""
    enqueue: str = ""
    """The URL where Volcano may ask the product which groups to enqueue. Empty: nowhere."""
    bin_dir: str = ""
    """The folder with kubectl."""
    processes: list[Process] = field(default_factory=list)
    """All running processes, `supervisor` and `watchdog` included, in the order of starting."""

    def put(self, process: Process) -> None:
        """Record a process, in place of one with the same name."""
        names = [one.name for one in self.processes]
        if process.name in names:
            self.processes[names.index(process.name)] = process
        else:
            self.processes.append(process)

    def drop(self, names: Iterable[str]) -> None:
        """Forget processes that have ended."""
        gone = set(names)
        self.processes = [one for one in self.processes if one.name not in gone]

    def process(self, name: str) -> Process:
        """The process of that name. Raises PlaneError."""
        for one in self.processes:
            if one.name == name:
                return one
        raise PlaneError(f"no process {name} in this plane")

    def write(self, folder: Folder) -> None:
        """Replace the file."""
        write_private_json(
            folder.state,
            {
                "ready": self.ready,
                "server": self.server,
                "webhook": self.webhook,
                "extender": self.extender,
                "enqueue": self.enqueue,
                "binDir": self.bin_dir,
                "kubeconfigs": {
                    "admin": str(folder.kubeconfig),
                    "tenant": str(folder.tenant_kubeconfig),
                    "product": str(folder.product_kubeconfig),
                },
                "processes": [one.written() for one in self.processes],
            },
        )


def read_state(folder: Folder) -> PlaneState | None:
    """The content of the file. None if there is none. Raises PlaneError if it is unreadable."""
    try:
        text = folder.state.read_text()
    except FileNotFoundError:
        return None
    try:
        stored = json.loads(text)
        return PlaneState(
            ready=bool(stored["ready"]),
            server=str(stored["server"]),
            webhook=str(stored["webhook"]),
            extender=str(stored["extender"]),
            enqueue=str(stored.get("enqueue", "")),
            bin_dir=str(stored["binDir"]),
            processes=[Process.read(one) for one in stored["processes"]],
        )
    except (ValueError, TypeError, KeyError) as error:
        raise PlaneError(f"{folder.state} cannot be read: {error!r}") from error


def end_recorded(folder: Folder) -> None:
    """End all recorded processes that still run, the newest first, but never the caller."""
    try:
        state = read_state(folder)
    except PlaneError:
        return  # nothing is known
    for process in reversed(state.processes if state else []):
        if process.pid != os.getpid():
            process.kill()


def log_tail(path: Path, lines: int = 15) -> str:
    """The last lines of a log, indented; for messages."""
    try:
        tail = path.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return ""
    return "".join(f"\n  {line}" for line in tail)
