"""A line between a replica and the API server on which what the replica sends can be held back."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from harness.loop_in_thread import loop_in_thread
from harness.proxy import Ends, Proxy

_CHUNK = 65_536


class HeldLine(Proxy):
    """A proxy on which what comes from the server passes at any time, held or not."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.held: dict[int, int] = {}
        """Bytes held back, for each connection on which there are any."""

    async def _join(self, client: Ends, server: Ends) -> None:
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(self._send(client[0], server[1]))
            pumps.create_task(self._answer(server[0], client[1]))

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = id(reader)
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if not self._flowing.is_set():
                    self.held[number] = self.held.get(number, 0) + len(data)
                    await self._flowing.wait()
                    del self.held[number]
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

    @staticmethod
    async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


class LineInThread:
    """A held line with a loop and a thread of its own, for tests that have none."""

    def __init__(self, port: int) -> None:
        self._line = HeldLine(port)
        self._ending = ExitStack()

    def start(self) -> int:
        """The port to connect to."""
        self._loop = self._ending.enter_context(loop_in_thread())
        asyncio.run_coroutine_threadsafe(self._line.start(), self._loop).result(5)
        return self._line.port

    def stop(self) -> None:
        with self._ending:
            asyncio.run_coroutine_threadsafe(self._line.stop(), self._loop).result(5)

    def hold(self) -> None:
        """From now on nothing reaches the API server."""
        self._loop.call_soon_threadsafe(self._line.stall)

    def flow(self) -> None:
        """What was held, and all that follows, goes on its way."""
        self._loop.call_soon_threadsafe(self._line.flow)

    @property
    def held(self) -> list[int]:
        """Bytes held back, for each connection on which there are any."""
        return list(self._line.held.values())


@contextmanager
def held_line(kubeconfig: Path, folder: Path) -> Iterator[tuple[LineInThread, Path]]:
    """A line to the API server of a kubeconfig, and a kubeconfig that leads through it."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    line = LineInThread(urlsplit(cluster["server"]).port or 443)
    port = line.start()
    try:
        cluster["server"] = f"https://127.0.0.1:{port}"
        through = folder / "kubeconfig-through-the-line"
        through.write_text(yaml.safe_dump(config))
        yield line, through
    finally:
        line.stop()
