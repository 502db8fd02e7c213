"""A line between a replica and the API server on which what the replica sends can be held back."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import yaml

_CHUNK = 65_536


class HeldLine:
    """A TCP proxy in a thread of its own. Answers and events pass at any time."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._held: dict[int, int] = {}
        self.port = 0

    def start(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(5)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def hold(self) -> None:
        """From now on nothing reaches the API server."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def flow(self) -> None:
        """What was held, and all that follows, goes on its way."""
        self._loop.call_soon_threadsafe(self._flowing.set)

    @property
    def held(self) -> list[int]:
        """Bytes held back, for each connection on which there are any."""
        return list(self._held.values())

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        ends = [writer]
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self._target)
            ends.append(forth)
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(self._send(reader, forth))
                pumps.create_task(self._answer(back, writer))
        except (asyncio.CancelledError, OSError):
            pass  # by `stop`, or one end is gone
        finally:
            self._tasks.discard(task)
            for end in ends:
                end.transport.abort()

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = id(reader)
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if not self._flowing.is_set():
                    self._held[number] = self._held.get(number, 0) + len(data)
                    await self._flowing.wait()
                    del self._held[number]
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@contextmanager
def held_line(kubeconfig: Path, folder: Path) -> Iterator[tuple[HeldLine, Path]]:
    """A line to the API server of a kubeconfig, and a kubeconfig that leads through it."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    line = HeldLine(urlsplit(cluster["server"]).port or 443)
    line.start()
    try:
        cluster["server"] = f"https://127.0.0.1:{line.port}"
        through = folder / "kubeconfig-through-the-line"
        through.write_text(yaml.safe_dump(config))
        yield line, through
    finally:
        line.stop()
