"""HTTP/1.1 over real sockets: bodies, connections and time are bounded, whoever calls."""

import asyncio
import gc
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import pytest
from aiohttp.web import BaseRequest, RequestHandler

from builders.certificates import issue
from cardquota.cluster.serving import (
    BodyBudget,
    BodyLimits,
    BodyTooLargeError,
    Connection,
    HttpAnswer,
    HttpCall,
    HttpServer,
    bounds,
    server_context,
    trusting_context,
)
from cardquota.cluster.serving.http_server import _CHUNK, _Http1

KEYS = issue(["127.0.0.1"], now=datetime.now(UTC), days=1)
KIB = 1024
LARGEST = 300 * KIB
MOST = 400 * KIB
LONG = 16 * KIB * KIB
OF_A_CONNECTION = (RequestHandler, BaseRequest, Connection)
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Echo:
    """Says how long the body was; at `/wait` only once it may; at `/other` without reading it."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.waiting = asyncio.Event()

    async def answer(self, call: HttpCall) -> HttpAnswer:
        if call.path == "/other":
            return HttpAnswer(404, b"no")
        if call.path == "/long":
            return HttpAnswer(200, b"x" * LONG)
        try:
            body = await call.body()
        except BodyTooLargeError as error:
            return HttpAnswer(413, f"{error.size}".encode())
        if call.path == "/wait":
            self.waiting.set()
            await self.may_end.wait()
        return HttpAnswer(200, f"{len(body)}".encode())


class Serving:
    """A server, and what it says of whom it did not serve."""

    def __init__(self, most: int) -> None:
        self.echo = Echo()
        self.budget = BodyBudget(MOST)
        self.refused: list[str] = []
        self._streams: list[Stream] = []
        self.server = HttpServer(
            self.echo.answer,
            BodyLimits(LARGEST, 8 * LARGEST),
            connections=most,
            budget=self.budget,
            refused=self.refused.append,
        )

    async def connect(self, tls: ssl.SSLContext | None = None) -> Stream:
        found = await asyncio.open_connection(*self.server.addresses[0], ssl=tls)
        self._streams.append(found)
        return found

    async def ask(self, path: str = "/", body: bytes = b"") -> tuple[bytes, bytes]:
        """Head and text of the answer to a call on a connection of its own."""
        found = await self.connect()
        return await asked(found, path, body)

    async def end(self) -> None:
        for _, writer in self._streams:
            writer.transport.abort()
        self.echo.may_end.set()
        await self.server.stop(1)


@asynccontextmanager
async def serving(most: int = 100, tls: ssl.SSLContext | None = None) -> AsyncIterator[Serving]:
    found = Serving(most)
    await found.server.start("127.0.0.1", 0, tls)
    try:
        yield found
    finally:
        await found.end()
    assert found.budget.held == 0
    assert len(found.server.connections) == 0


def head_of(path: str, length: str) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: a\r\n{length}\r\n\r\n".encode()


async def answer_on(stream: Stream) -> tuple[bytes, bytes]:
    async with asyncio.timeout(30):
        head = await stream[0].readuntil(b"\r\n\r\n")
        size = next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
        return head, await stream[0].readexactly(int(size.split(b":")[1]))


async def asked(stream: Stream, path: str, body: bytes) -> tuple[bytes, bytes]:
    stream[1].write(head_of(path, f"Content-Length: {len(body)}") + body)
    return await answer_on(stream)


async def test_who_finds_no_room_is_told_before_he_sends() -> None:
    async with serving() as found:
        wait = await found.connect()
        wait[1].write(head_of("/wait", f"Content-Length: {LARGEST}") + b"x" * LARGEST)
        await found.echo.waiting.wait()
        late = await found.connect()
        late[1].write(head_of("/", f"Content-Length: {LARGEST}"))
        head, text = await answer_on(late)
        assert head.startswith(b"HTTP/1.1 429 ")
        assert b"\r\nRetry-After: 1\r\n" in head
        assert b"try again" in text
        late[1].write(b"x" * LARGEST)  # it sends all the same: nothing of it is kept
        await late[1].drain()
        assert found.budget.held == LARGEST
        assert (await found.ask(body=b"small"))[1] == b"5"
        assert found.refused == ["bodies"]
        found.echo.may_end.set()
        assert (await answer_on(wait))[1] == str(LARGEST).encode()
        assert (await found.ask(body=b"x" * LARGEST))[0].startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(("chunks", "code"), [(2, b"200"), (4, b"429"), (6, b"413")])
async def test_a_body_without_a_length_counts_as_it_comes(chunks: int, code: bytes) -> None:
    async with serving() as found:
        if code == b"429":
            wait = await found.connect()
            wait[1].write(head_of("/wait", f"Content-Length: {200 * KIB}") + b"x" * (200 * KIB))
            await found.echo.waiting.wait()
        stream = await found.connect()
        stream[1].write(head_of("/", "Transfer-Encoding: chunked"))
        for _ in range(chunks):
            stream[1].write(b"f000\r\n" + b"x" * 0xF000 + b"\r\n")
            await stream[1].drain()
        stream[1].write(b"0\r\n\r\n")
        assert (await answer_on(stream))[0].split()[1] == code


async def test_a_body_that_is_too_large_is_not_waited_for() -> None:
    async with serving() as found:
        stream = await found.connect()
        stream[1].write(head_of("/", f"Content-Length: {LARGEST + 1}"))
        assert (await answer_on(stream))[1] == str(LARGEST + 1).encode()


async def test_a_body_that_nobody_reads_ends_its_connection() -> None:
    """Whoever calls what is not there costs no more than the answer."""
    async with serving() as found:
        stream = await found.connect()
        stream[1].write(head_of("/other", "Content-Length: 1000000"))
        assert (await answer_on(stream))[0].startswith(b"HTTP/1.1 404 ")
        assert await asyncio.wait_for(stream[0].read(), 30) == b""


@pytest.mark.parametrize("sent", [b"POST / HT", head_of("/", "Content-Length: 9") + b"x", b""])
async def test_one_without_end_is_given_up(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as found:
        with monkeypatch.context() as quick:
            quick.setattr(bounds, "REQUEST_WITHIN", 0.05)
            quick.setattr(bounds, "IDLE", 0.05)
            quick.setattr(bounds, "_LOOK", 0.02)
            stream = await found.connect()
            stream[1].write(sent)
            async with asyncio.timeout(30):
                with suppress(ConnectionResetError):
                    assert await stream[0].read() == b""
        assert found.refused == (["slow"] if sent else [])
        assert (await found.ask(body=b"next"))[1] == b"4"


@pytest.mark.parametrize("tls", [True, False])
async def test_idle_connections_of_strangers_shut_nobody_out(*, tls: bool) -> None:
    context = server_context(KEYS.cert_pem, KEYS.key_pem) if tls else None
    trusting = trusting_context(KEYS.ca_pem) if tls else None
    async with serving(20, context) as found:
        known = await found.connect(trusting)
        assert (await asked(known, "/", b"x"))[1] == b"1"
        for _ in range(20):
            await found.connect(trusting)
        for _ in range(20):
            await found.connect()
        assert len(found.server.connections) == 20
        assert (await asked(known, "/", b"xx"))[1] == b"2"
        assert (await asked(await found.connect(trusting), "/", b"xxx"))[1] == b"3"


async def test_an_answer_is_not_copied_for_those_who_do_not_read_it() -> None:
    async with serving() as found:
        stream = await found.connect()
        head, text = await asked(stream, "/long", b"")
        assert b"Content-Length: %d" % LONG in head
        assert len(text) == LONG
        assert (await asked(stream, "/", b"next"))[1] == b"4"


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/9\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(40)) + b"\r\n",
        b"POST / HTTP/1.1\r\nX: " + b"y" * 5000 + b"\r\n\r\n",
        head_of("/", "Transfer-Encoding: chunked") + b"zz\r\n",
    ],
)
async def test_what_is_none_is_not_logged(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as found:
        stream = await found.connect()
        stream[1].write(sent)
        first = await asyncio.wait_for(stream[0].readline(), 30)
        assert first in (b"HTTP/1.0 400 Bad Request\r\n", b"")
        assert (await found.ask(body=b"next"))[1] == b"4"
    assert not caplog.records


async def test_requests_sent_ahead_are_not_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    request, number = b"GET /other HTTP/1.1\r\nHost: a\r\n\r\n", 8_000
    taken = answered = most = 0
    receive = _Http1.data_received

    def counted(self: _Http1, data: bytes) -> None:
        nonlocal taken, most
        taken += len(data)
        most = max(most, taken - answered * len(request))
        receive(self, data)

    monkeypatch.setattr(_Http1, "data_received", counted)
    async with serving() as found:
        stream = await found.connect()
        stream[1].write(request * number)
        for _ in range(number):
            await answer_on(stream)
            answered += 1
    assert most < 8 * _CHUNK


async def test_a_long_answer_is_read_in_time_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "REQUEST_WITHIN", 0.1)
    async with serving() as found:
        with socket.socket() as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            silent.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(silent, found.server.addresses[0])
            await loop.sock_sendall(silent, head_of("/long", "Content-Length: 0"))
            async with asyncio.timeout(30):
                while "slow" not in found.refused:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert len(found.server.connections) == 0


async def test_stop_ends_what_still_sets_up_tls() -> None:
    """Its certificate would be checked by what is withdrawn."""
    async with serving(tls=server_context(KEYS.cert_pem, KEYS.key_pem)) as found:
        stream = await found.connect()
        async with asyncio.timeout(30):
            while not len(found.server.connections):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await found.server.stop(1)
        assert len(found.server.connections) == 0
        with suppress(ConnectionResetError):
            assert await stream[0].read() == b""


@pytest.mark.parametrize("tls", [True, False])
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        head_of("/", "Content-Length: 3") + b"xxx",
        head_of("/", f"Content-Length: {LARGEST}") + b"x",
        head_of("/", f"Content-Length: {LARGEST + 1}") + b"x",
        head_of("/other", "Content-Length: 9") + b"x",
        head_of("/", "Transfer-Encoding: chunked") + b"zz\r\n",
        b"no request\r\n\r\n",
    ],
)
async def test_a_connection_that_ended_leaves_no_garbage(sent: bytes, *, tls: bool) -> None:
    """A collection may never look at what was there when it froze all that stays."""
    context = server_context(KEYS.cert_pem, KEYS.key_pem) if tls else None
    trusting = trusting_context(KEYS.ca_pem) if tls else None
    async with serving(5, context) as found:
        gc.collect()
        gc.disable()
        try:
            for _ in range(10):  # twice as many as may stay
                stream = await found.connect(trusting)
                stream[1].write(sent)
                await asyncio.sleep(0)
            await found.end()
            async with asyncio.timeout(30):
                while any(isinstance(one, OF_A_CONNECTION) for one in gc.get_objects()):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        finally:
            gc.enable()
