"""A process that a benchmark starts, measures from outside, and ends."""

import ctypes
import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

_GRACE: Final = 20.0
"""Seconds from SIGTERM to the end."""
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Memory:
    """MB (1,000,000 bytes), as the kernel says."""

    resident: float
    peak: float


class Child:
    """Ends with the block it is used in. What it writes to standard error is kept in `log`."""

    def __init__(
        self, command: Sequence[str], log: Path, *, env: Mapping[str, str] | None = None
    ) -> None:
        self.log = log
        self.began = time.monotonic()
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **(env or {})},
            )
        self._clock = _cpu_clock(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def says(self) -> str:
        """The next line of its standard output; raises if it ended instead."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode().strip()
        if not line:
            raise RuntimeError(f"it ended early: {self.last_words()}")
        return line

    def hears(self, line: str) -> None:
        """A line on its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def cpu(self) -> float:
        """Seconds of processor time so far, all threads, to the nanosecond.

        /proc/PID/stat counts in hundredths of a second: too coarse for one second of load.
        """
        return time.clock_gettime(self._clock)

    def memory(self) -> Memory:
        """Of this moment, and the most so far."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        return Memory(_mb(found["VmRSS"]), _mb(found["VmHWM"]))

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self._process.poll() is not None

    def last_words(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-2000:]

    def end(self) -> int:
        """SIGTERM, then SIGKILL. Returns the exit code."""
        if not self.ended:
            self._process.terminate()
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        return code


def _mb(text: str) -> float:
    """Of `  1234 kB`, where kB means 1,024 bytes."""
    return int(text.split()[0]) * 1024 / 1e6


def processor_time(pids: Iterable[int]) -> float:
    """Seconds of processor time of these processes so far, all threads."""
    return sum(time.clock_gettime(_cpu_clock(pid)) for pid in pids)


def _cpu_clock(pid: int) -> int:
    clock = ctypes.c_int()
    error = _LIBC.clock_getcpuclockid(pid, ctypes.byref(clock))
    if error:
        raise OSError(error, "clock_getcpuclockid")
    return clock.value
