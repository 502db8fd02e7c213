"""The supervisor's children: started, watched, restarted, ended.

Guarantees: each leads a session of its own and is recorded in state.json as soon as it runs. One
that dies while the plane starts fails the start, with the end of its log. One that dies later is
restarted after a second. `stop` returns when it is gone.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

from ..failure import PlaneError
from .components import Program
from .folder import Folder
from .process import MARK, Process
from .state import PlaneState, log_tail

RESTART_AFTER = 1.0
"""Seconds between the death of a child and its next start."""

_POLL = 0.03


class Children:
    """The running programs of one plane. One event loop, no threads."""

    def __init__(self, folder: Folder, state: PlaneState) -> None:
        self._folder, self._state = folder, state
        self._programs: dict[str, Program] = {}
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self.settled = False
        """Set once the plane is up. From then on a dead child is restarted, not reported."""

    async def start(self, program: Program) -> None:
        """Start a program and keep it running."""
        process = await self._spawn(program)
        self._programs[program.name] = program
        self._keepers[program.name] = asyncio.create_task(self._keep(program, process))

    async def until(
        self, condition: Callable[[], Awaitable[bool]], what: str, seconds: float
    ) -> None:
        """Wait for a condition. Raises PlaneError after the time, or if a child dies."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not await condition():
            for name, process in self._running.items():
                if process.returncode is not None and not self.settled:
                    tail = log_tail(self._folder.log(name))
                    raise PlaneError(f"{name} ended with status {process.returncode}:{tail}")
            if asyncio.get_running_loop().time() > deadline:
                raise PlaneError(f"{what}: not after {seconds:.0f} s")
            await asyncio.sleep(_POLL)

    async def stop(self, names: Iterable[str]) -> None:
        """End these together: SIGTERM, then SIGKILL for those that remain."""
        ending = [name for name in names if name in self._programs]
        for name in ending:
            self._keepers[name].cancel()
            with suppress(asyncio.CancelledError, PlaneError):
                await self._keepers[name]
        await asyncio.gather(*(self._end(name) for name in ending))
        for name in ending:
            del self._programs[name], self._running[name], self._keepers[name]
        self._state.drop(ending)
        self._state.write(self._folder)

    @property
    def names(self) -> list[str]:
        """Names of the running programs, in the order of starting."""
        return list(self._programs)

    async def _spawn(self, program: Program) -> asyncio.subprocess.Process:
        mark = {MARK: str(self._folder.path)}
        log = os.open(self._folder.log(program.name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            process = await asyncio.create_subprocess_exec(
                *program.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **program.environment, **mark},
                start_new_session=True,
            )
        except OSError as error:
            raise PlaneError(f"{program.name} cannot be started: {error}") from error
        finally:
            os.close(log)
        self._running[program.name] = process
        self._state.put(Process.of(program.name, process.pid, program.address))
        self._state.write(self._folder)
        return process

    async def _keep(self, program: Program, process: asyncio.subprocess.Process) -> None:
        while True:
            status = await process.wait()
            if not self.settled:
                return  # `until` reports it
            print(f"{program.name} ended with status {status}: starting it again", flush=True)
            await asyncio.sleep(RESTART_AFTER)
            process = await self._spawn(program)

    async def _end(self, name: str) -> None:
        process = self._running[name]
        for number, grace in (
            (signal.SIGTERM, self._programs[name].grace),
            (signal.SIGKILL, None),
        ):
            # The whole group: it contains only the child's own processes.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), grace)
                return
