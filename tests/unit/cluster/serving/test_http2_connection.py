"""HTTP/2 over real sockets and TLS: many calls on one connection, and callers of every kind."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from h2.errors import ErrorCodes

from builders.certificates import issue
from cardquota.cluster.serving import (
    PROTOCOLS,
    STREAMS,
    BodyBudget,
    BodyLimits,
    BodyTooLargeError,
    HttpAnswer,
    HttpCall,
    HttpServer,
    client_context,
    server_context,
)
from harness.http2_client import Http2Client

KEYS = issue(["127.0.0.1"], now=datetime.now(UTC), days=1)
KIB, MIB = 1024, 1024 * 1024


class EchoHandler:
    """Answers with what it was sent; `/wait` only once it may."""

    def __init__(self) -> None:
        self.begun = 0
        self.ended = 0
        self.cancelled = 0
        self.may_end = asyncio.Event()
        self._moved = asyncio.Event()

    async def answer(self, call: HttpCall) -> HttpAnswer:
        self.begun += 1
        self._moved.set()
        if call.path == "/wait":
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        self.ended += 1
        self._moved.set()
        if call.path == "/large":
            return HttpAnswer(200, b"x" * (3 * MIB))
        try:
            body = await call.body()
        except BodyTooLargeError as error:
            return HttpAnswer(200, f"too large: {error.size}".encode())
        said = f"{call.method} {call.path} {call.headers.get('x-said', '-')} "
        return HttpAnswer(200, said.encode() + body)

    async def until(self, *, begun: int = 0, ended: int = 0) -> None:
        """Returns once so many calls have begun and ended."""
        async with asyncio.timeout(30):
            while self.begun < begun or self.ended < ended:
                self._moved.clear()
                await self._moved.wait()


@asynccontextmanager
async def serving(
    handler: EchoHandler, largest: int = 8 * MIB, dropped: int = 64 * MIB, most: int = 64 * MIB
) -> AsyncIterator[tuple[HttpServer, Http2Client]]:
    """`most`: bytes of all bodies in work."""
    limits, budget = BodyLimits(largest, dropped), BodyBudget(most)
    server = HttpServer(handler.answer, limits, budget=budget)
    tls = server_context(KEYS.cert_pem, KEYS.key_pem, clients=KEYS.ca_pem, protocols=PROTOCOLS)
    await server.start("127.0.0.1", 0, tls)
    try:
        async with await caller_of(server) as client:
            yield server, client
    finally:
        handler.may_end.set()
        await server.stop(5)
    assert budget.held == 0


async def caller_of(server: HttpServer, window: int = 0) -> Http2Client:
    tls = client_context(KEYS.cert_pem, KEYS.key_pem, servers=KEYS.ca_pem)
    return await Http2Client.connect(*server.addresses[0], tls, window)


async def test_a_call_and_its_answer() -> None:
    async with serving(EchoHandler()) as (_, client):
        reply = await client.call("POST", "/a%20b?c=1", b"body")
        assert reply.status == 200
        assert reply.body == b"POST /a%20b - body"
        assert reply.headers["content-length"] == str(len(reply.body))
        assert reply.headers["content-type"] == "application/json"
        reply = await client.call("HEAD", "/a")
        assert reply.headers["content-length"] == "10"
        assert not reply.body


async def test_calls_do_not_wait_for_each_other() -> None:
    handler = EchoHandler()
    async with serving(handler) as (_, client):
        waits = [await client.begin("POST", "/wait", b"%d" % number) for number in range(20)]
        assert (await client.call("POST", "/", b"quick")).body.endswith(b"quick")
        assert handler.ended == 1
        handler.may_end.set()
        found = [bytes((await client.reply(stream)).body) for stream in waits]
        assert found == [b"POST /wait - %d" % number for number in range(20)]


async def test_bodies_and_answers_larger_than_any_window() -> None:
    async with serving(EchoHandler()) as (_, client):
        sent = bytes(range(256)) * (20 * KIB)
        reply = await client.call("POST", "/", sent)
        assert reply.body == b"POST / - " + sent
        replies = [await client.begin("POST", "/large") for _ in range(3)]
        assert {len((await client.reply(stream)).body) for stream in replies} == {3 * MIB}


async def test_a_body_that_is_too_large_is_no_call_and_its_sender_reads_why() -> None:
    async with serving(EchoHandler(), largest=64 * KIB, dropped=256 * KIB) as (_, client):
        assert (await client.call("POST", "/", b"x" * (64 * KIB))).body[-1:] == b"x"
        reply = await client.call("POST", "/", b"x" * (64 * KIB + 1))
        assert reply.body == b"too large: 65537"
        reply = await client.call("POST", "/", b"x" * (300 * KIB))
        assert reply.reset == ErrorCodes.ENHANCE_YOUR_CALM
        assert (await client.call("POST", "/", b"next")).body == b"POST / - next"


async def test_bodies_for_which_there_is_no_room_are_refused_as_not_begun() -> None:
    handler = EchoHandler()
    async with serving(handler, most=120 * KIB) as (_, client):
        first = await client.begin("POST", "/wait", b"x" * (90 * KIB))
        reply = await client.call("POST", "/", b"x" * (40 * KIB))
        assert reply.reset == ErrorCodes.REFUSED_STREAM
        assert (handler.begun, handler.ended) == (1, 0)
        handler.may_end.set()
        assert (await client.reply(first)).status == 200
        # What was answered is held no longer.
        for _ in range(3):
            assert (await client.call("POST", "/", b"x" * (90 * KIB))).status == 200


async def test_what_is_no_call_is_not_held() -> None:
    async with serving(EchoHandler(), largest=64 * KIB, most=100 * KIB) as (_, client):
        endless = await client.begin("POST", "/", b"x" * (80 * KIB), end=False)
        assert (await client.call("POST", "/", b"x" * (60 * KIB))).status == 200
        await client.send(endless, b"x")
        assert (await client.reply(endless)).body == b"too large: 81921"


async def test_who_begins_and_leaves_again_and_again_is_refused() -> None:
    handler = EchoHandler()
    async with serving(handler) as (_, client):
        for number in range(STREAMS):
            client.leave(await client.begin("POST", "/wait"))
            await handler.until(begun=number + 1)
        reply = await client.call("POST", "/")
        assert reply.reset == ErrorCodes.REFUSED_STREAM
        assert handler.begun == STREAMS
        handler.may_end.set()
        await handler.until(ended=STREAMS)
        assert (await client.call("POST", "/")).status == 200


async def test_a_call_goes_on_when_its_caller_leaves() -> None:
    handler = EchoHandler()
    async with serving(handler) as (_, client):
        stream = await client.begin("POST", "/wait", b"x")
        await handler.until(begun=1)
        client.leave(stream)
        handler.may_end.set()
        assert (await client.call("POST", "/", b"next")).body == b"POST / - next"
        assert handler.ended == 2


async def test_who_does_not_read_delays_nobody_else_and_loses_nothing() -> None:
    async with serving(EchoHandler()) as (server, other):
        for window in (0, 2**30):
            async with await caller_of(server, window) as client:
                client.may_read.clear()
                streams = [await client.begin("POST", "/large") for _ in range(8)]
                assert (await other.call("POST", "/", b"b")).status == 200
                client.may_read.set()
                assert {len((await client.reply(one)).body) for one in streams} == {3 * MIB}


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00" * 100,
        bytes.fromhex("050000000000000001") + bytes(0x50000),  # more than a frame may have
        bytes.fromhex("000004030000000001ffffffff"),  # the end of a call that never began
    ],
)
async def test_what_is_no_http2_ends_that_connection_alone(sent: bytes) -> None:
    async with serving(EchoHandler()) as (server, client):
        async with await caller_of(server) as careless:
            careless.write(sent)
            await asyncio.wait_for(careless.closed.wait(), 30)
        assert (await client.call("POST", "/")).status == 200


async def test_headers_are_bounded() -> None:
    async with serving(EchoHandler()) as (server, client):
        async with await caller_of(server) as careless:
            await careless.begin("POST", "/" + "x" * (20 * KIB))
            await asyncio.wait_for(careless.closed.wait(), 30)
        assert (await client.call("POST", "/" + "x" * (8 * KIB))).status == 200


async def test_a_leaving_server_answers_what_has_come_and_no_more() -> None:
    handler = EchoHandler()
    async with serving(handler) as (server, client):
        await client.call("POST", "/")
        async with await caller_of(server) as idle:
            await idle.call("POST", "/")
            stream = await client.begin("POST", "/wait", b"last")
            await handler.until(begun=3)
            server.leave()
            await asyncio.wait_for(idle.closed.wait(), 30)
            assert idle.goaway.is_set()
        await asyncio.wait_for(client.goaway.wait(), 30)
        assert (await client.call("POST", "/")).reset == ErrorCodes.REFUSED_STREAM
        client.begin_and_leave("POST", "/")
        assert (await client.call("POST", "/")).reset == ErrorCodes.REFUSED_STREAM
        assert not client.closed.is_set()
        handler.may_end.set()
        await asyncio.wait_for(client.closed.wait(), 30)
        assert handler.begun == handler.ended == 3
        assert stream in client.replies


async def test_stop_waits_for_what_is_under_way_but_not_for_ever() -> None:
    handler = EchoHandler()
    async with serving(handler) as (server, client):
        await client.begin("POST", "/wait")
        await handler.until(begun=1)
        await server.stop(0.01)
        await asyncio.wait_for(client.closed.wait(), 30)
        assert (handler.ended, handler.cancelled) == (0, 1)


async def test_a_caller_that_does_not_choose_gets_http_1() -> None:
    async with serving(EchoHandler()) as (server, _):
        tls = client_context(KEYS.cert_pem, KEYS.key_pem, servers=KEYS.ca_pem)
        reader, writer = await asyncio.open_connection(*server.addresses[0], ssl=tls)
        writer.write(b"POST /a HTTP/1.1\r\nHost: a\r\nX-Said: b\r\nContent-Length: 1\r\n\r\nc")
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert await reader.readexactly(11) == b"POST /a b c"
        writer.close()
        await writer.wait_closed()
