"""The process that runs one plane: starts it, waits for the end, ends it.

Guarantees: one supervisor per folder (by a lock that ends with it). On SIGTERM, SIGINT or SIGHUP
all is ended in order before it returns. If it dies in any other way, the watchdog ends everything.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..build.lock import acquire
from ..failure import PlaneError
from .deployed.network import Network
from .folder import Folder
from .options import Options
from .plane import Plane
from .process import Process
from .real_node.end import end_real_node
from .real_node.mounts import enter
from .real_node.requirements import provide
from .state import PlaneState, end_recorded

_LOG = "supervisor"


def supervise(options: Options) -> None:
    """Run a plane until stopped. Prints the administrator's kubeconfig once it is ready."""
    if options.real_node:
        provide()
    folder = options.folder
    folder.prepare()
    lock = acquire(folder.lock, wait=False)
    if lock is None:
        raise PlaneError(f"{folder.path} already holds a running plane: `down` ends it")
    try:
        end_recorded(folder)  # an earlier plane whose watchdog also died
        end_real_node(folder)
        folder.clear()
        if options.real_node:
            enter(folder)
        network = Network() if options.deployed is not None else None
        state = PlaneState()
        with _watchdog(folder, lock, state):
            asyncio.run(_run(Plane(options, state, network), options, state))
    finally:
        os.close(lock)


async def _run(plane: Plane, options: Options, state: PlaneState) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    if options.until_stdin_closes:
        loop.add_reader(0, _at_end_of_input, ended)
    starting = asyncio.create_task(plane.start())
    waiting = asyncio.create_task(ended.wait())
    try:
        await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            await starting  # raises the error of the start
            print(options.folder.kubeconfig, flush=True)
            if options.background:
                _let_go(options.folder)
            await waiting
    finally:
        for task in (starting, waiting):
            task.cancel()
        # An error of the start was raised above. Here everything is ended in any case.
        await asyncio.gather(starting, waiting, return_exceptions=True)
        state.ready = False
        await plane.stop()


def _at_end_of_input(ended: asyncio.Event) -> None:
    if not os.read(0, 4096):
        asyncio.get_running_loop().remove_reader(0)
        ended.set()


def _let_go(folder: Folder) -> None:
    """Close our output: its end tells the process that started us that we are ready."""
    log = os.open(folder.log(_LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


@contextmanager
def _watchdog(folder: Folder, lock: int, state: PlaneState) -> Iterator[None]:
    """A watchdog for the block. It ends by itself after the block has ended everything."""
    reading, writing = os.pipe()
    log = os.open(folder.log("watchdog"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        watchdog = subprocess.Popen(
            [sys.executable, "-m", "cardquota_dev.plane.watchdog", str(folder.path)],
            stdin=reading,
            stdout=log,
            stderr=log,
            pass_fds=(lock,),
            start_new_session=True,
        )
    finally:
        os.close(reading)
        os.close(log)
    state.put(Process.of("supervisor", os.getpid()))
    state.put(Process.of("watchdog", watchdog.pid))
    state.write(folder)
    try:
        yield
    finally:
        state.drop(["supervisor", "watchdog"])
        state.write(folder)
        os.close(writing)
        watchdog.wait()
