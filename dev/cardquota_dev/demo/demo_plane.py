"""The plane that the demo runs on, as long as it runs, or longer.

Guarantees: unless it is kept, the plane ends with this process, however that ends: its supervisor
reads the other end of a pipe that only we hold. A plane that is not ours is never ended, even if it
is in our folder.
"""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from ..build.lock import held
from ..failure import PlaneError
from ..plane.folder import Folder
from ..plane.launch import command, end, ready_state
from ..plane.options import Options
from ..plane.state import PlaneState, read_state
from .step_error import StepError

_ORDERLY = 60.0


@contextmanager
def demo_plane(folder: Folder, *, keep: bool, real_node: bool) -> Iterator[PlaneState]:
    """A plane with the product for the block. If kept, it outlives a block that ran its steps.

    Raises PlaneError if it does not start.
    """
    if held(folder.lock):
        raise PlaneError(f"{folder.path} already holds a running plane: `down` ends it")
    options = Options(
        folder=folder,
        background=True,
        until_stdin_closes=not keep,
        extender=True,
        quick_autoscaler=True,
        real_node=real_node,
    )
    with tempfile.TemporaryFile("w+") as errors:
        supervisor = subprocess.Popen(
            command(options),
            stdin=subprocess.DEVNULL if keep else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # we handle Ctrl-C
            text=True,
        )
        kept = False
        try:
            yield _started(supervisor, folder, errors)
            kept = keep
        except StepError:
            kept = keep
            raise
        finally:
            if not kept:
                _end(supervisor, folder)


def _started(supervisor: subprocess.Popen[str], folder: Folder, errors: IO[str]) -> PlaneState:
    assert supervisor.stdout is not None  # noqa: S101
    with supervisor.stdout as lines:
        said = lines.read()  # to its end: the supervisor closes it once all is ready
    state = ready_state(folder, supervisor.pid)
    if state is None:
        supervisor.wait()
        errors.seek(0)
        raise PlaneError(f"the plane did not start: {said}{errors.read()}".rstrip())
    return state


def _end(supervisor: subprocess.Popen[str], folder: Folder) -> None:
    supervisor.terminate()
    try:
        supervisor.wait(_ORDERLY)
    except subprocess.TimeoutExpired:
        supervisor.kill()  # its watchdog ends the other processes
        supervisor.wait()
    if supervisor.stdin is not None:
        supervisor.stdin.close()
    if not _somebody_elses(folder):
        end(folder)


def _somebody_elses(folder: Folder) -> bool:
    state = read_state(folder)
    return state is not None and any(
        one.name == "supervisor" and one.alive for one in state.processes
    )
