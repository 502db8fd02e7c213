"""Who is answered where the certificate counts: by its name, and by a handshake of now."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest

from builders.certificates import issue
from cardquota.cluster.certificates import make_serving
from cardquota.cluster.serving import (
    BodyLimits,
    HttpAnswer,
    HttpCall,
    HttpServer,
    client_context,
    server_context,
)

NOW = datetime.now(UTC)
HOST, NAME = "127.0.0.1", "the-caller"
SERVER, CALLER = issue([HOST], now=NOW, days=1), issue([NAME], now=NOW, days=1)
ASKS = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@asynccontextmanager
async def serving(client_name: str = NAME) -> AsyncIterator[int]:
    """Its port."""

    async def hello(_: HttpCall) -> HttpAnswer:
        return HttpAnswer(200, b"hello")

    server = HttpServer(hello, BodyLimits(0, 0))
    tls = server_context(SERVER.cert_pem, SERVER.key_pem, clients=CALLER.ca_pem)
    await server.start(HOST, 0, tls, client_name=client_name)
    yield server.addresses[0][1]
    await server.stop(0.1)


@pytest.mark.parametrize(
    ("names", "asked", "welcome"),
    [
        ([NAME], NAME, True),
        (["another", NAME], NAME, True),
        (["another"], NAME, False),
        ([f"{NAME}.x"], NAME, False),
        (["another"], "", True),
    ],
)
async def test_n2_a_caller_is_known_by_name(names: list[str], asked: str, welcome: bool) -> None:
    shown = make_serving(names, CALLER.authority, now=NOW, until=NOW + timedelta(days=1))
    tls = client_context(shown.cert_pem, shown.key_pem, servers=SERVER.ca_pem)
    async with serving(asked) as port:
        reader, writer = await asyncio.open_connection(HOST, port, ssl=tls)
        writer.write(ASKS)
        assert (await reader.read()).startswith(b"HTTP/1.1 200") is welcome
        writer.close()


async def test_n2_no_session_of_tls_1_2_is_resumed() -> None:
    """Neither by a ticket, nor by its number: OpenSSL would check no certificate."""
    tls = client_context(CALLER.cert_pem, CALLER.key_pem, servers=SERVER.ca_pem)
    tls.maximum_version = ssl.TLSVersion.TLSv1_2

    def ask(port: int, before: ssl.SSLSession | None) -> tuple[bytes, ssl.SSLSession, bool]:
        with (
            socket.create_connection((HOST, port)) as plain,
            tls.wrap_socket(plain, session=before, server_hostname=HOST) as connection,
        ):
            session, resumed = connection.session, bool(connection.session_reused)
            assert session is not None
            try:
                connection.sendall(ASKS)
                answer = b"".join(iter(lambda: connection.recv(4096), b""))
                connection.unwrap()
            except OSError:
                answer = b""
            return answer, session, resumed

    async with serving() as port:
        answer, session, _ = await asyncio.to_thread(ask, port, None)
        assert not session.has_ticket
        answer, _, resumed = await asyncio.to_thread(ask, port, session)
        assert not (answer and resumed)


@pytest.mark.parametrize("steps", range(6))
async def test_whoever_comes_while_it_stops_is_not_left_waiting(steps: int) -> None:
    """At whatever step of the loop: his connection is closed, and he can try again."""
    async with serving() as port:
        caller = socket.create_connection((HOST, port))
        caller.setblocking(False)
        for _ in range(steps):
            await asyncio.sleep(0)
    reader, writer = await asyncio.open_connection(sock=caller)
    with suppress(ConnectionError):
        assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
