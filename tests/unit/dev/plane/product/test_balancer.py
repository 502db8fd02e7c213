import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from cardquota_dev.plane.ports import free_ports
from cardquota_dev.plane.product import balancer
from cardquota_dev.plane.product.balancer import Backend, Balancer


class FakeBackend:
    """Says its name to whoever connects, and whether it is ready."""

    def __init__(self, name: str, port: int, health: int) -> None:
        self.name, self.ready = name, True
        self.backend = Backend(port, f"http://127.0.0.1:{health}/readyz")
        self.health = health
        self.asked = 0
        """How often somebody wanted to know whether it is ready."""

    @asynccontextmanager
    async def running(self, *, serving: bool = True) -> AsyncIterator[None]:
        """`serving`: whether it is there for more than to be asked whether it is ready."""
        app = web.Application()
        app.router.add_get("/readyz", self._readyz)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.health).start()
        server = await asyncio.start_server(self._greet, "127.0.0.1", self.backend.port)
        if not serving:
            server.close()
        async with server:
            yield
        await runner.cleanup()

    async def _readyz(self, _: web.Request) -> web.Response:
        self.asked += 1
        return web.Response(status=200 if self.ready else 503)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self.name.encode() + await reader.read())
        writer.close()


async def ask(port: int) -> str:
    """What the replica behind the balancer says; nothing if the connection is cut."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"!")
        writer.write_eof()
        return (await reader.read()).decode()
    except ConnectionError:
        return ""
    finally:
        writer.close()


async def until(port: int, condition: Callable[[set[str]], bool]) -> None:
    async with asyncio.timeout(3):
        while not condition({await ask(port) for _ in range(4)}):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balancer, "INTERVAL", 0.02)


async def test_only_ready_replicas_are_asked() -> None:
    port, *ports = free_ports(5)
    one, two = FakeBackend("one", *ports[:2]), FakeBackend("two", *ports[2:])
    async with one.running(), two.running():
        before = Balancer([one.backend, two.backend])
        await before.start(port)
        await until(port, lambda seen: seen == {"one!", "two!"})
        one.ready = False
        await until(port, lambda seen: seen == {"two!"})
        two.ready = False
        await until(port, lambda seen: seen == {""})
        one.ready = True
        await until(port, lambda seen: seen == {"one!"})
        await before.stop()
        with pytest.raises(ConnectionRefusedError):
            await ask(port)


async def test_a_replica_that_is_gone_is_passed_over() -> None:
    port, *ports = free_ports(5)
    one, two = FakeBackend("one", *ports[:2]), FakeBackend("two", *ports[2:])
    async with one.running(serving=False), two.running():
        before = Balancer([one.backend, two.backend])
        await before.start(port)
        await until(port, lambda seen: seen == {"two!"})
        await until(port, lambda _: one.asked > 1)
        assert {await ask(port) for _ in range(4)} == {"two!"}
        await before.stop()
