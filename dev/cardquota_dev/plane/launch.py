"""Planes from outside: starting one that outlives its command, and ending one."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from ..build.lock import acquire, held
from ..failure import PlaneError
from .folder import Folder
from .options import Options
from .process import marked
from .real_node.end import end_real_node
from .state import PlaneState, end_recorded, read_state

_ORDERLY = 60.0
_VIOLENT = 20.0
_POLL = 0.05


def command(options: Options) -> list[str]:
    """The command that runs this plane in the foreground."""
    return [sys.executable, "-m", "cardquota_dev", "up", *options.arguments()]


def start_detached(options: Options) -> None:
    """Start a supervisor in its own session. Returns when its plane is ready.

    Its output until then goes to our standard output, the kubeconfig's path last.
    """
    supervisor = subprocess.Popen(
        command(replace(options, background=True)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert supervisor.stdout is not None  # noqa: S101
    try:
        with supervisor.stdout as lines:
            for line in lines:
                print(line, end="", flush=True)
    except BaseException:
        supervisor.terminate()
        supervisor.wait()
        raise
    if ready_state(options.folder, supervisor.pid) is None:
        raise PlaneError(f"the plane did not start (status {supervisor.wait()})")


def ready_state(folder: Folder, supervisor: int) -> PlaneState | None:
    """The state in the folder, if it is ready and belongs to that supervisor."""
    state = read_state(folder)
    if state is None or not state.ready or state.process("supervisor").pid != supervisor:
        return None
    return state


def end(folder: Folder) -> None:
    """End the plane in this folder, in order if possible, and remove the folder."""
    if not folder.ours:
        if folder.path.exists() and any(folder.path.iterdir()):
            raise PlaneError(f"{folder.path} holds no plane")
        return
    state = read_state(folder)
    running = {one.name: one for one in state.processes} if state else {}
    supervisor = running.get("supervisor")
    if supervisor is not None and supervisor.alive:
        supervisor.signal(signal.SIGTERM)
        if not _free_within(folder, _ORDERLY):
            supervisor.kill()  # its watchdog ends the other processes
    if not _free_within(folder, _VIOLENT):
        raise PlaneError(f"{folder.path} is still held: is `up` just starting there?")
    lock = acquire(folder.lock, wait=True)
    try:
        for process in running.values():
            process.kill()
        end_recorded(folder)
        for stray in marked(folder.path):
            stray.kill()
        end_real_node(folder)
        folder.remove()
    finally:
        if lock is not None:
            os.close(lock)


def _free_within(folder: Folder, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while held(folder.lock):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True


def absolute(path: Path) -> Path:
    """The path in a form that is valid from any working directory."""
    return Path(path).expanduser().resolve()
