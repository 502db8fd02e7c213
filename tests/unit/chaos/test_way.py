"""What is held still arrives, also when its sender is gone; what is stalled comes later, whole."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import aiohttp
import pytest
from aiohttp import web

from builders.certificates import issue
from chaos import way as ways
from chaos.way import Way


class ShoutingServer:
    """Notes what it is sent, and answers each piece in capitals."""

    def __init__(self) -> None:
        self.heard = b""
        self.more = asyncio.Event()
        self.port = 0
        self._writers: list[asyncio.StreamWriter] = []

    def tell(self, text: bytes) -> None:
        """On all connections, without being asked."""
        for writer in self._writers:
            writer.write(text)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def hears(self, text: bytes) -> None:
        async with asyncio.timeout(5):
            while self.heard != text:
                self.more.clear()
                await self.more.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        while data := await reader.read(100):
            self.heard += data
            self.more.set()
            writer.write(data.upper())
        writer.close()


@pytest.fixture
async def server() -> AsyncIterator[ShoutingServer]:
    server = ShoutingServer()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def way(server: ShoutingServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Way]:
    monkeypatch.setattr(ways, "LINGER", 0.0)
    monkeypatch.setattr(ways, "QUIET", 0.0)
    monkeypatch.setattr(ways, "PACE", 0.0)
    way = Way()
    await way.start()
    way.target = server.port
    yield way
    await way.stop()


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def open_and_say(way: Way, text: bytes) -> Ends:
    """A connection on which something was said and answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
    writer.write(text)
    assert await reader.readexactly(len(text)) == text.upper()
    return reader, writer


async def test_what_was_held_arrives_when_he_has_gone(way: Way, server: ShoutingServer) -> None:
    _, writer = await open_and_say(way, b"a")
    event = way.hold()
    writer.write(b"late")
    writer.close()
    _, other = await open_and_say(way, b"b")  # a new connection is not held
    assert server.heard == b"ab"
    event.set()
    await server.hears(b"ablate")
    other.close()


class AlwaysLow(Random):
    def random(self) -> float:
        return 0.0


async def test_a_new_one_is_held_from_its_second_piece_on(way: Way, server: ShoutingServer) -> None:
    event = way.hold(AlwaysLow())
    _, writer = await open_and_say(way, b"first")
    writer.write(b"second")
    _, passing = await open_and_say(way, b"-")
    writer.close()
    assert server.heard == b"first-"
    event.set()
    await server.hears(b"first-second")
    passing.close()


async def test_a_stalled_watch_tells_everything_later(way: Way, server: ShoutingServer) -> None:
    reader, writer = await open_and_say(way, b"a")
    busy_reader, busy = await open_and_say(way, b"much more than that")
    event = way.stall_watches(pods_alone=True)  # of the one on which most was told
    server.tell(b"!")
    assert await reader.readexactly(1) == b"!"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(busy_reader.readexactly(1), 0.05)
    event.set()
    assert await busy_reader.readexactly(1) == b"!"
    writer.close()
    busy.close()


@pytest.mark.parametrize("kept", [True, False])
async def test_who_has_given_up_does_not_say_so(tmp_path: Path, *, kept: bool) -> None:
    """Else the API server drops what it was asked, as it would not if the client stood still."""
    done = asyncio.Event()

    async def handle(request: web.BaseRequest) -> web.Response:
        if request.path == "/late":
            await asyncio.sleep(0.1)
            done.set()
        return web.Response()

    pair = issue(["127.0.0.1"], now=datetime.now(UTC), days=1)
    (tmp_path / "pem").write_bytes(pair.cert_pem + pair.key_pem)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(tmp_path / "pem")
    runner, way = web.ServerRunner(web.Server(handle, handler_cancellation=True)), Way()
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    await way.start()
    way.target = runner.addresses[0][1]
    trusts = ssl.create_default_context(cadata=pair.ca_pem.decode())
    url = f"https://127.0.0.1:{way.port}"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusts)) as session:
        if kept:
            await (await session.get(f"{url}/before")).read()
        event = way.hold(AlwaysLow())
        with pytest.raises(TimeoutError):
            await session.get(f"{url}/late", timeout=aiohttp.ClientTimeout(total=1.0))
        event.set()
        await asyncio.wait_for(done.wait(), 5)
    await way.stop()
    await runner.cleanup()
