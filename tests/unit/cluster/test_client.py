"""What only a bad network does, against a server of a few lines."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from cardquota.cluster.access import Access, AccessError
from cardquota.cluster.client import ApiError, Client, OutcomeUnknown


class Server:
    """Answers the first request of a connection with 200 and closes at the second."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
        self.answers = 1

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(self.answers):
            self.requests.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(self.answer)
        if await reader.read(1):
            self.requests.append(b"unanswered")
        writer.transport.abort()


async def _anonymous() -> None:
    return None


@pytest.fixture
async def server() -> Server:
    return Server()


@pytest.fixture
async def access(server: Server) -> AsyncIterator[Access]:
    listening = await asyncio.start_server(server, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    yield Access(f"http://127.0.0.1:{port}", None, _anonymous)
    listening.close()


@pytest.fixture
async def client(access: Access) -> AsyncIterator[Client]:
    client = Client(access)
    yield client
    await client.close()


@pytest.mark.parametrize("verb", ["put", "delete", "post", "patch"])
async def test_a_write_is_never_sent_twice(client: Client, server: Server, verb: str) -> None:
    await client.get("/")
    with pytest.raises(OutcomeUnknown):
        await getattr(client, verb)("/a", {})
    assert len(server.requests) == 2
    assert server.requests[1] == b"unanswered"


async def test_a_timeout_is_kept(client: Client, server: Server) -> None:
    server.answer = b""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with pytest.raises(OutcomeUnknown, match=r"within 0\.2 s"):
        await client.get("/", timeout=0.2)
    assert loop.time() - begun < 1.0


async def test_redirects_are_not_followed(client: Client, server: Server) -> None:
    server.answer = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(ApiError, match="302"):
        await client.get("/")


async def test_a_watch_that_is_refused(client: Client, server: Server) -> None:
    server.answer = b"HTTP/1.1 410 Gone\r\nContent-Length: 2\r\n\r\n{}"
    with pytest.raises(ApiError) as gone:
        async with client.watch("/", params={}, read_timeout=1):
            pass
    assert gone.value.status == 410
    assert b"GET /?watch=true" in server.requests[0]


async def test_without_credentials_nothing_is_sent(access: Access, server: Server) -> None:
    async def broken() -> None:
        raise AccessError("the plugin failed")

    client = Client(Access(access.server, None, broken))
    with pytest.raises(OutcomeUnknown, match="the plugin failed"):
        await client.post("/", {})
    assert server.requests == []
    await client.close()
