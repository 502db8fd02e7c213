"""A client of the plane, the same through a proxy that can be cut, and waits by condition."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from selectors import BaseSelector
from urllib.parse import urlsplit

import msgspec
import pytest

from cardquota.cluster.client import Client
from cardquota.cluster.find_access import find_access
from cardquota_dev.testing import Cluster


async def until(condition: Callable[[], object], what: str, seconds: float = 20.0) -> None:
    """Return once the condition holds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, f"{what}: not within {seconds} s"
        await asyncio.sleep(0.01)


class Proxy:
    """A TCP proxy to one port, which can be cut, closed and stopped still."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.open = True
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self, *, stay_closed: bool = False) -> None:
        """End all connections; with `stay_closed` take no new ones until `reopen`."""
        self.open = not stay_closed
        for writer in self._writers:
            writer.transport.abort()

    def reopen(self) -> None:
        self.open = True

    def stall(self) -> None:
        """Let nothing through, in no direction, without closing anything."""
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    async def stop(self) -> None:
        self._server.close()
        self.cut(stay_closed=True)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        ends = {writer}
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self._target)
            ends.add(forth)
            self._writers |= ends
            if self.open:
                async with asyncio.TaskGroup() as pumps:
                    pumps.create_task(self._pump(reader, forth))
                    pumps.create_task(self._pump(back, writer))
        except asyncio.CancelledError:
            pass  # by `stop`; the streams module would log it as an error
        finally:
            self._writers -= ends
            self._tasks.discard(task)
            for end in ends:
                end.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@pytest.fixture(autouse=True)
async def nothing_is_left_open() -> AsyncIterator[None]:
    """Every socket that a test opens is closed with it."""
    selector: BaseSelector = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]
    before = len(selector.get_map())
    yield
    await until(lambda: len(selector.get_map()) <= before, "the end of all connections", 5)


@pytest.fixture
async def client(
    plane: Cluster, monkeypatch: pytest.MonkeyPatch, nothing_is_left_open: None
) -> AsyncIterator[Client]:
    monkeypatch.setenv("KUBECONFIG", str(plane.kubeconfig))
    client = await Client.connect()
    yield client
    await client.close()


@pytest.fixture
async def proxy(client: Client) -> AsyncIterator[Proxy]:
    access = await find_access()
    proxy = Proxy(urlsplit(access.server).port or 443)
    await proxy.start()
    yield proxy
    await proxy.stop()


@pytest.fixture
async def proxied(proxy: Proxy) -> AsyncIterator[Client]:
    access = await find_access()
    client = Client(replace(access, server=f"https://127.0.0.1:{proxy.port}"))
    yield client
    await client.close()


def decoded(body: bytes) -> dict[str, object]:
    """A JSON object."""
    return msgspec.json.decode(body, type=dict[str, object])
