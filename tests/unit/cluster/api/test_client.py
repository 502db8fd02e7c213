"""What only a bad network does, against a server of a few lines."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import aiohttp
import pytest

from cardquota.cluster.api import Access, AccessError, ApiError, Client, OutcomeUnknown, in_words


class ClosingServer:
    """Answers the first request of a connection with 200 and closes at the second."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.asked = asyncio.Event()
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
        self.answers = 1
        self.closes = False
        """Whether to end the connection after the answers."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(self.answers):
            self.requests.append(await reader.readuntil(b"\r\n\r\n"))
            self.asked.set()
            writer.write(self.answer)
        if self.closes:
            writer.close()
            return
        if await reader.read(1):
            self.requests.append(b"unanswered")
        writer.transport.abort()


async def _anonymous() -> None:
    return None


async def _secret() -> str:
    return "Bearer SECRET"


async def _never() -> str:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.fixture
async def server() -> ClosingServer:
    return ClosingServer()


@pytest.fixture
async def access(server: ClosingServer) -> AsyncIterator[Access]:
    listening = await asyncio.start_server(server, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    yield Access(f"http://127.0.0.1:{port}", None, _anonymous)
    listening.close()


@pytest.fixture
async def client(access: Access) -> AsyncIterator[Client]:
    client = Client(access)
    yield client
    await client.close()


@pytest.mark.parametrize("verb", ["PUT", "DELETE", "POST", "PATCH"])
async def test_no_write_is_sent_twice(client: Client, server: ClosingServer, verb: str) -> None:
    await client.get("/")
    with pytest.raises(OutcomeUnknown):
        await client.send(verb, "/a", {})
    assert len(server.requests) == 2
    assert server.requests[1] == b"unanswered"


async def test_a_timeout_is_kept(client: Client, server: ClosingServer) -> None:
    server.answer = b""
    with pytest.raises(OutcomeUnknown, match=r"within 0\.2 s"):
        await asyncio.wait_for(client.get("/", timeout=0.2), 60)


@pytest.mark.parametrize("at", [29.0, 30.0, 31.0])
@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"])
async def test_a_cancellation_beside_a_timeout_is_not_lost(
    client: Client,
    server: ClosingServer,
    monkeypatch: pytest.MonkeyPatch,
    answer: bytes,
    at: float,
) -> None:
    """As when a process goes on after a pause: both are due in the same turn of the loop."""
    server.answer = answer
    loop = asyncio.get_running_loop()
    begun = loop.time()
    task = asyncio.create_task(client.get("/a", timeout=30))
    await server.asked.wait()  # then it waits for the answer, or for the rest of one
    loop.call_at(begun + at, task.cancel)
    monkeypatch.setattr(loop, "time", lambda: time.monotonic() + 60)  # the pause
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_redirects_are_not_followed(client: Client, server: ClosingServer) -> None:
    server.answer = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(ApiError, match="302"):
        await client.get("/")


async def test_a_watch_that_is_refused(client: Client, server: ClosingServer) -> None:
    server.answer = b"HTTP/1.1 410 Gone\r\nContent-Length: 2\r\n\r\n{}"
    with pytest.raises(ApiError) as gone:
        async with client.watch("/", params={}, read_timeout=1):
            pass
    assert gone.value.status == 410
    assert b"GET /?watch=true" in server.requests[0]


async def test_without_credentials_nothing_is_sent(access: Access, server: ClosingServer) -> None:
    async def broken() -> None:
        raise AccessError("the plugin failed")

    client = Client(Access(access.server, None, broken))
    with pytest.raises(OutcomeUnknown, match="the plugin failed"):
        await client.post("/", {})
    assert server.requests == []
    await client.close()


async def ask(client: Client, how: str, *, timeout: float) -> None:
    """Get, patch, or follow a watch to its end."""
    if how == "watch":
        async with client.watch("/", params={}, read_timeout=timeout) as stream:
            async for _ in stream.content.iter_any():
                pass
    elif how == "patch":
        await client.patch("/", {}, timeout=timeout)
    else:
        await client.get("/", timeout=timeout)


ECHO = b"HTTP/1.1 200 OK\r\nAuthorization: Bearer SECRET\r\n"
"""An answer that holds what was sent, as some proxies' do."""


@pytest.mark.parametrize(
    "answer",
    [
        b"GET / HTTP/1.1 Bearer SECRET\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"SECRET" * 2_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBearer SECRET\r\n\r\n",
        b"HTTP/1.1 200 SECRET\r\nContent-Length: SECRET\r\n\r\n",
        ECHO + b"Transfer-Encoding: chunked\r\n\r\nSECRET",
        ECHO + b"Content-Encoding: gzip\r\nContent-Length: 6\r\n\r\nSECRET",
        ECHO + b"Content-Length: 9\r\n\r\nSECRET",
        ECHO,
        b"",
    ],
)
@pytest.mark.parametrize("how", ["get", "watch"])
async def test_what_a_bad_answer_leads_to_never_tells_our_token(
    access: Access, server: ClosingServer, answer: bytes, how: str
) -> None:
    server.answer, server.closes = answer, True
    client = Client(Access(access.server, None, _secret))
    with pytest.raises((OutcomeUnknown, aiohttp.ClientError)) as failure:
        await ask(client, how, timeout=1)
    assert b"Bearer SECRET" in server.requests[0]
    told = failure.value
    text = str(told) if isinstance(told, OutcomeUnknown) else in_words(told)
    assert len(text) > len("GET /: ")
    assert "SECRET" not in text
    await client.close()


async def test_no_error_tells_the_password_of_a_proxy() -> None:
    nobody_s = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = nobody_s.sockets[0].getsockname()[1]
    nobody_s.close()
    await nobody_s.wait_closed()
    proxy = f"http://me:SECRET@127.0.0.1:{port}"
    client = Client(Access("http://h:1", None, _anonymous, proxy=proxy))
    said = f"Cannot connect to host 127.0.0.1:{port} "
    with pytest.raises(OutcomeUnknown, match=said) as failure:
        await client.get("/")
    assert "SECRET" not in str(failure.value)
    assert "ssl" not in str(failure.value)
    await client.close()


@pytest.mark.parametrize("how", ["patch", "watch"])
async def test_waiting_for_credentials_is_part_of_the_timeout(
    access: Access, server: ClosingServer, how: str
) -> None:
    """A patch that is sent after its time-out could come after the end of the term."""
    client = Client(Access(access.server, None, _never))
    async with asyncio.timeout(1):
        with pytest.raises(OutcomeUnknown, match=r"no credentials within 0\.05 s"):
            await ask(client, how, timeout=0.05)
    assert server.requests == []
    await client.close()


async def test_nothing_is_sent_after_the_timeout(access: Access, server: ClosingServer) -> None:
    """The process was paused before it could send: a writer may rely on that."""

    async def paused() -> str:
        time.sleep(0.1)  # noqa: ASYNC251 - the pause
        return "Bearer SECRET"

    client = Client(replace(access, authorization=paused))
    with pytest.raises(OutcomeUnknown, match=r"not sent within 0\.05 s"):
        await client.get("/", timeout=0.05)
    await client.close()
    assert server.requests == []


async def test_slow_credentials_leave_less_for_it(access: Access, server: ClosingServer) -> None:
    async def slow() -> str:
        await asyncio.sleep(0.95)
        return "Bearer late"

    server.answer = b""
    client = Client(Access(access.server, None, slow))
    loop, took = asyncio.get_running_loop(), []
    for _ in range(3):  # others may have the core meanwhile
        begun = loop.time()
        with pytest.raises(OutcomeUnknown, match=r"within 1 s"):
            await client.get("/", timeout=1)
        took.append(loop.time() - begun)
    assert min(took) < 1.9  # not 1.95, which is one after the other
    await client.close()


@pytest.mark.parametrize("how", ["get", "watch"])
async def test_credentials_that_cannot_be_sent_are_not_told(
    access: Access, server: ClosingServer, how: str
) -> None:
    async def broken() -> str:
        return "Bearer SEC\nRET"

    client = Client(replace(access, authorization=broken))
    with pytest.raises(OutcomeUnknown, match="characters that cannot be sent") as caught:
        await ask(client, how, timeout=1)
    await client.close()
    assert "SEC" not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize("how", ["get", "watch"])
async def test_a_host_that_is_no_name_is_told(how: str) -> None:
    client = Client(Access("http://a..b", None, _anonymous))
    with pytest.raises(OutcomeUnknown, match="is not a name: a part is empty or too long"):
        await ask(client, how, timeout=1)
    await client.close()


def test_an_error_about_what_is_sent_tells_nothing_of_it() -> None:
    assert in_words(ValueError("SECRET")) == "the request cannot be written"
