"""A client of the plane, the same through proxies that fail as told, and waits by condition."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from selectors import BaseSelector
from urllib.parse import urlsplit

import aiohttp
import msgspec
import pytest
from aiohttp import web

from cardquota.cluster.api import Access, Client
from cardquota.cluster.api.access import find_access
from cardquota_dev.predicate import Predicate
from cardquota_dev.testing import Cluster
from harness.proxy import Proxy


async def until(condition: Predicate[object], what: str, seconds: float = 60.0) -> None:
    """Return once the condition holds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, f"{what}: not within {seconds} s"
        await asyncio.sleep(0.01)


class Front:
    """A plain HTTP proxy before the real API server, which spoils some of its answers.

    A fake in this alone: a healthy API server cannot be told to cut a line in half, to send it in
    single bytes, to say nothing on one stream, or to answer 429. All that is answered is its own.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self.port = 0
        self.refuse: Callable[[web.BaseRequest], bool] = lambda _: False
        """Whether to answer a request with 429 and `Retry-After: 1`."""
        self.cut_after: int | None = None
        """The next watch dies after so many bytes of its body, and then this is None again."""
        self.cuts = 0
        self.single_bytes = False
        self.silent_watches = 0
        """So many of the next watches are opened, and then nothing comes on them."""
        self._watches: dict[int, web.BaseRequest] = {}
        self.watched_from: list[int] = []
        """The revision of every watch that was asked for."""
        self.refused_at: list[float] = []
        self.asked_at: list[float] = []

    async def start(self) -> None:
        tls: ssl.SSLContext | bool = self._access.tls if self._access.tls is not None else True
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, ssl=tls))
        self._runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        await self._runner.cleanup()
        await self._session.close()

    def abort_watches(self) -> None:
        """The connections of all present watches are reset, as by the network."""
        present = [one.transport for one in self._watches.values() if one.transport is not None]
        assert present
        for transport in present:
            transport.abort()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        watch = "watch" in request.query
        self.asked_at.append(asyncio.get_running_loop().time())
        if watch:
            self.watched_from.append(int(request.query["resourceVersion"]))
        if self.refuse(request):
            self.refused_at.append(self.asked_at[-1])
            return web.json_response(
                {"kind": "Status", "reason": "TooManyRequests", "code": 429},
                status=429,
                headers={"Retry-After": "1"},
            )
        async with self._session.request(
            request.method,
            self._access.server + request.path_qs,
            data=await request.read(),
            headers={
                "Authorization": await self._access.authorization() or "",
                "Content-Type": request.headers.get("Content-Type", "application/json"),
            },
            timeout=aiohttp.ClientTimeout(total=None),
        ) as theirs:
            ours = web.StreamResponse(status=theirs.status)
            ours.content_type = theirs.content_type
            await ours.prepare(request)
            if watch:
                self._watches[id(request)] = request
            try:
                await (self._spoil if watch else self._copy)(theirs, ours, request)
            finally:
                self._watches.pop(id(request), None)
        return ours

    async def _copy(
        self, theirs: aiohttp.ClientResponse, ours: web.StreamResponse, _: web.BaseRequest
    ) -> None:
        await ours.write(await theirs.read())

    async def _spoil(
        self, theirs: aiohttp.ClientResponse, ours: web.StreamResponse, request: web.BaseRequest
    ) -> None:
        left, self.cut_after = self.cut_after, None
        silent, self.silent_watches = self.silent_watches > 0, max(0, self.silent_watches - 1)
        if silent:
            await asyncio.Event().wait()
        with suppress(OSError):
            async for chunk in theirs.content.iter_any():
                found = chunk if left is None else chunk[:left]
                size = 1 if self.single_bytes else len(found)
                for start in range(0, len(found), size or 1):
                    await ours.write(found[start : start + size])
                if left is not None:
                    left -= len(found)
                    if left <= 0:
                        break
        if left is not None and left <= 0 and request.transport is not None:
            self.cuts += 1
            request.transport.close()  # after what was written, in the middle of the body


@pytest.fixture(autouse=True)
async def nothing_is_left_open() -> AsyncIterator[None]:
    """Every socket that a test opens is closed with it."""
    # Of asyncio: nothing else says which sockets a loop that is there already looks at.
    loop = asyncio.get_running_loop()
    selector: BaseSelector = loop._selector  # type: ignore[attr-defined] # noqa: SLF001
    before = len(selector.get_map())
    yield
    await until(lambda: len(selector.get_map()) <= before, "the end of all connections", 5)


@pytest.fixture
async def client(
    plane: Cluster, monkeypatch: pytest.MonkeyPatch, nothing_is_left_open: None
) -> AsyncIterator[Client]:
    monkeypatch.setenv("KUBECONFIG", str(plane.kubeconfig))
    client = Client(await find_access())
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


@pytest.fixture
async def front(client: Client) -> AsyncIterator[Front]:
    front = Front(await find_access())
    await front.start()
    yield front
    await front.stop()


@pytest.fixture
async def fronted(front: Front) -> AsyncIterator[Client]:
    access = await find_access()
    client = Client(replace(access, server=f"http://127.0.0.1:{front.port}", tls=None))
    yield client
    await client.close()


def decoded(body: bytes) -> dict[str, object]:
    """A JSON object."""
    return msgspec.json.decode(body, type=dict[str, object])
