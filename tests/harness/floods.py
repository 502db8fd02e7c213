"""Callers that want a process to run out of memory, and how much of it they got."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

MIB = 1024 * 1024
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    (Path("/sys/fs/cgroup"), "memory.max"),
)
"""Of the first version, and of the second: where groups are made, and the file of their limit."""
_AT_A_TIME = 20
_SENT_WITHIN = 3.0


def half_a_body(path: str, size: int) -> bytes:
    """A call that says it has twice as much to send."""
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {2 * size}\r\n\r\n"
    return head.encode() + b" " * size


def whole(path: str, body: bytes) -> bytes:
    """A call."""
    return f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@asynccontextmanager
async def connections(port: int, number: int, sent: bytes = b"") -> AsyncIterator[int]:
    """So many of them with TLS, and this much sent on each; how many came up. They stay open."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    found: list[asyncio.StreamWriter] = []

    async def one() -> None:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_SENT_WITHIN):
                _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
                found.append(writer)
                writer.write(sent)
                await writer.drain()

    for begin in range(0, number, _AT_A_TIME):
        await asyncio.gather(*(one() for _ in range(min(_AT_A_TIME, number - begin))))
    try:
        yield len(found)
    finally:
        for writer in found:
            writer.transport.abort()


def resident(pid: int) -> int:
    """Bytes of memory that a process has now."""
    return _status(pid, "VmRSS")


class Peak:
    """The most memory that a process has had since then."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.before = resident(pid)
        Path(f"/proc/{pid}/clear_refs").write_text("5")

    @property
    def grown(self) -> int:
        """Bytes above what it had at first."""
        return _status(self._pid, "VmHWM") - self.before


def _status(pid: int, name: str) -> int:
    """Raises ProcessLookupError for one that has ended: its entry may stay, without its memory."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except FileNotFoundError:
        lines = []
    found = next((line for line in lines if line.startswith(name)), None)
    if found is None:
        raise ProcessLookupError(pid)
    return int(found.split()[1]) * 1024


@contextmanager
def limited(pid: int, most: int) -> Iterator[bool]:
    """Whether the kernel ends the process beyond so many bytes: only where a cgroup can be made."""
    for root, limit in _CGROUPS:
        group = root / f"cardquota-{uuid4().hex}"
        try:
            group.mkdir()
            if (group / limit).exists():
                break
            group.rmdir()
        except OSError:
            continue
    else:
        yield False
        return
    (group / limit).write_text(str(most))
    (group / "cgroup.procs").write_text(str(pid))
    try:
        yield True
    finally:
        with suppress(OSError):
            (root / "cgroup.procs").write_text(str(pid))
        group.rmdir()
