"""A server for HTTP/1.1 and HTTP/2: the caller chooses while TLS is set up (ALPN).

HTTP/1.1 is served by aiohttp. Without TLS, and for callers that do not choose, it is HTTP/1.1.

Memory is bounded whoever calls: bytes of bodies in work (`BodyBudget`), connections and their time
(`Connections`), and what one connection may send before it is read: headers, requests sent ahead.
"""

import asyncio
import logging
import socket
import ssl
from asyncio import sslproto
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, cast

from aiohttp import StreamReader, web

from .bounds import (
    BROKEN,
    IDLE,
    OF_THE_PROCESS,
    REQUEST_WITHIN,
    BodyBudget,
    BodyHold,
    BodyLimits,
    BodyTooLargeError,
    BusyError,
    Connection,
    Connections,
    HttpAnswer,
    HttpCall,
    HttpHandler,
    text_answer,
)
from .http2_connection import Http2Connection

_NAMES: Final = ("commonName", "DNS", "URI")
PROTOCOLS: Final = ("h2", "http/1.1")
"""For the context of a server, the best first."""
CONNECTIONS: Final = 128
"""Of one port, if it does not say more."""
_CHUNK: Final = 16 * 1024
"""Bytes that are read of a connection at a time. asyncio and aiohttp take 256 KiB, and each keeps a
buffer of that size for every connection."""
_SENT_AHEAD: Final = 64 * 1024
"""Bytes that the kernel takes in for a connection before we read them. It doubles the number."""
_WRITTEN: Final = 64 * 1024
"""Bytes of an answer that wait for a caller who does not read."""
_AGAIN_AFTER: Final = 1
"""Seconds after which who found no room is to try again. The API server does so by itself."""
_BUSY: Final = text_answer(
    HTTPStatus.TOO_MANY_REQUESTS,
    "too many bytes of other requests are in work: try again in a second",
)
_LOG = logging.getLogger(__name__)
_LEFT: Final = text_answer(HTTPStatus.BAD_REQUEST, "the body did not come")
"""Nobody reads it. An error that aiohttp got would keep all of its connection alive."""
LONGEST_HEADER: Final = 2048
"""Bytes of a header, if a port does not say more."""
_HTTP1: Final[dict[str, Any]] = {
    "access_log": None,
    "auto_decompress": False,
    "keepalive_timeout": 2 * IDLE,  # `Connections` ends what is idle
    "lingering_time": 0,
    "max_headers": 24,
    "max_line_size": 2048,
    "read_bufsize": _CHUNK,
}


class HttpServer:
    """Hands every call to one handler."""

    def __init__(
        self,
        handler: HttpHandler,
        limits: BodyLimits,
        *,
        connections: int = CONNECTIONS,
        budget: BodyBudget = OF_THE_PROCESS,
        refused: Callable[[str], None] = lambda _: None,
        longest_header: int = LONGEST_HEADER,
    ) -> None:
        """`connections`: that may be open at one time. `refused`: told why somebody was not served:
        `bodies`, `connections` or `slow`. `longest_header`: bytes.
        """
        self._handler = handler
        self._limits = limits
        self._budget = budget
        self._refused = refused
        self._longest_header = longest_header
        self.connections: Final = Connections(connections, refused)
        # aiohttp's own server: it knows the protocols that it is to end.
        self._http1: web.Server | None = None
        self._http2: set[Http2Connection] = set()
        self._listening: asyncio.Server | None = None
        self._leaving = False
        self._client_name = ""

    async def start(
        self, host: str, port: int, tls: ssl.SSLContext | None, *, client_name: str = ""
    ) -> None:
        """Listen; after `stop` once more. Raises OSError if the address is in use.

        `client_name`: the name that a caller's certificate must have; empty: any, or none.
        """
        self._leaving, self._client_name = False, client_name
        self._http1 = web.Server(self._by_http1)
        self._listening = await asyncio.get_running_loop().create_server(
            lambda: _SetUp(self._plain) if tls is None else _Tls(self, tls),
            host,
            port,
            backlog=128,
            reuse_address=True,
        )
        for listening in self._listening.sockets:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SENT_AHEAD)

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Host and port of each socket that listens."""
        listening = self._listening
        return [sock.getsockname()[:2] for sock in listening.sockets] if listening else []

    def leave(self) -> None:
        """From now on every connection is closed once what came on it is answered.

        An idle connection of HTTP/1.1 that is closed may just receive a request, which then gets no
        answer. There is no better way to redirect such a client.
        """
        self._leaving = True
        for connection in list(self._http2):
            connection.leave()

    async def stop(self, grace: float) -> None:
        """Stop listening, answer what is in flight within `grace` seconds, and close."""
        listening, http1 = self._listening, self._http1
        if listening is None or http1 is None:
            return
        # asyncio forgets a connection that it takes in the step in which it closes, and its caller
        # would wait until he gives up. So first it takes no more, and begins what it took.
        for each in listening.sockets:
            asyncio.get_running_loop().remove_reader(each.fileno())
        await asyncio.sleep(0)
        listening.close()
        await asyncio.sleep(0)
        self.leave()
        http1.pre_shutdown()
        await asyncio.gather(
            http1.shutdown(grace), *(connection.wait(grace) for connection in list(self._http2))
        )
        self.connections.abort()  # what still sets up TLS does so with what is withdrawn
        await listening.wait_closed()

    def _admits(self, transport: asyncio.BaseTransport) -> bool:
        """Whether this caller is answered. OpenSSL checks no certificate for a resumed session, so
        none is taken where the certificate counts.
        """
        if not self._client_name:
            return True
        session = cast("ssl.SSLObject", transport.get_extra_info("ssl_object"))
        return not session.session_reused and self._client_name in _names(session)

    def _protocol_for(
        self, transport: asyncio.BaseTransport, connection: Connection
    ) -> asyncio.Protocol:
        """What serves a connection, by what its caller has chosen."""
        session = cast("ssl.SSLObject | None", transport.get_extra_info("ssl_object"))
        if session is None or session.selected_alpn_protocol() != "h2":
            assert self._http1 is not None  # noqa: S101 - `start` makes it
            return _Http1(self._http1, connection, self._longest_header)
        http2 = Http2Connection(
            self._handler, self._limits, self._budget, connection, self._http2.discard
        )
        self._http2.add(http2)
        return http2

    def serve(self, transport: asyncio.BaseTransport, connection: Connection) -> None:
        """Hand a connection over that is set up, if its caller is answered."""
        if not self._admits(transport):
            transport.close()
            return
        protocol = self._protocol_for(transport, connection)
        cast("asyncio.Transport", transport).set_protocol(protocol)
        protocol.connection_made(transport)
        connection.idle()

    def _plain(self, transport: asyncio.BaseTransport) -> None:
        connection = self.connections.accept(transport)
        if connection is not None:
            self.serve(transport, connection)

    async def _by_http1(self, http: web.BaseRequest) -> web.StreamResponse:
        protocol = cast("_Http1", http.protocol)
        hold, refused = BodyHold(self._budget), False

        async def body() -> bytes:
            nonlocal refused
            try:
                found = await _body_of(http.content, http.content_length, self._limits, hold)
            except (BusyError, BodyTooLargeError):
                refused = True
                raise
            protocol.connection.working()
            return found

        if http.content.at_eof():
            protocol.connection.working()
        try:
            answer = await self._handler(_call(http, body))
        except BusyError:
            self._refused("bodies")
            answer = _BUSY
        except ConnectionError:
            answer = _LEFT
        except Exception:  # noqa: BLE001
            _LOG.exception("a request could not be answered")
            answer = BROKEN
        finally:
            hold.release()
        connection = protocol.connection
        if not refused:  # else the rest of its body has to come in time, too
            connection.idle(answered=answer.status == HTTPStatus.OK)
            if len(answer.body) > _WRITTEN:
                connection.reading()  # and so has he to read what is kept for him alone
        response = await self._respond(http, answer, body_unread=refused)
        connection.idle()
        return response

    async def _respond(
        self, http: web.BaseRequest, answer: HttpAnswer, *, body_unread: bool
    ) -> web.StreamResponse:
        # As a header: aiohttp would take it apart and put it together again.
        headers = {"Content-Type": answer.content_type, **dict(answer.headers)}
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            headers["Retry-After"] = str(_AGAIN_AFTER)
        if len(answer.body) > _WRITTEN and http.method != "HEAD":
            return await self._in_parts(http, answer, headers)
        response = web.Response(status=answer.status, body=answer.body, headers=headers)
        if self._leaving or not http.content.is_eof():
            response.force_close()
        if body_unread and not http.content.is_eof():
            # Its sender reads our answer only once all is sent, or while it sends.
            await response.prepare(http)
            await response.write_eof()
            left = self._limits.dropped
            with suppress(ConnectionError):
                while left > 0 and (some := await _some_of(http.content)):
                    left -= len(some)
        return response

    async def _in_parts(
        self, http: web.BaseRequest, answer: HttpAnswer, headers: dict[str, str]
    ) -> web.StreamResponse:
        """An answer so long that it is not copied as a whole for each who reads slowly."""
        response = web.StreamResponse(status=answer.status, headers=headers)
        response.content_length = len(answer.body)
        if self._leaving:
            response.force_close()
        await response.prepare(http)
        body = memoryview(answer.body)
        for start in range(0, len(body), _WRITTEN):
            await response.write(body[start : start + _WRITTEN])
        await response.write_eof()
        return response


class _Http1(web.RequestHandler):
    """aiohttp's protocol, which tells how its connection stands."""

    __slots__ = ("connection",)

    def __init__(self, manager: web.Server, connection: Connection, longest_header: int) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(manager, loop=loop, max_field_size=longest_header, **_HTTP1)
        self.connection = connection

    def data_received(self, data: bytes) -> None:
        if data:
            self.connection.reading()
        super().data_received(data)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = HTTPStatus.BAD_REQUEST,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to what is no request. No word in the log: anybody may send such things."""
        if exc is not None:
            exc.__traceback__ = None  # it leads to what keeps it
        response = web.Response(status=status, text=f"{message or 'this is no request'}\n")
        response.force_close()
        return response

    def connection_lost(self, exc: BaseException | None) -> None:
        self.connection.lost()
        super().connection_lost(exc)


class _Tls(sslproto.SSLProtocol):
    """Sets up TLS as `create_server(ssl=...)` does, but with small buffers, and `Connections` knows
    of it from the first packet on.
    """

    max_size = _CHUNK

    def __init__(self, server: HttpServer, context: ssl.SSLContext) -> None:
        self._server = server
        self._connection: Connection | None = None
        super().__init__(
            asyncio.get_running_loop(),
            _SetUp(self._serve),  # replaced once TLS is set up
            context,
            cast("asyncio.Future[Any]", None),  # nobody waits
            server_side=True,
            ssl_handshake_timeout=int(REQUEST_WITHIN),
            ssl_shutdown_timeout=int(REQUEST_WITHIN),
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connection = self._server.connections.accept(transport)
        if self._connection is not None:
            super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._connection is not None:
            self._connection.lost()
        super().connection_lost(exc)

    def _serve(self, transport: asyncio.BaseTransport) -> None:
        assert self._connection is not None  # noqa: S101 - TLS is set up on an accepted one
        cast("Any", transport).set_read_buffer_limits(high=_CHUNK)
        self._server.serve(transport, self._connection)


class _SetUp(asyncio.Protocol):
    """Stands on a connection until it is handed over: with TLS, once that is set up."""

    def __init__(self, serve: Callable[[asyncio.BaseTransport], None]) -> None:
        self._serve = serve

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._serve(transport)


def _names(session: ssl.SSLObject) -> set[str]:
    """Common name and alternative names of the caller's certificate."""
    found: Any = session.getpeercert() or {}
    subject = (pair for part in found.get("subject", ()) for pair in part)
    alternatives = found.get("subjectAltName", ())
    return {name for kind, name in (*subject, *alternatives) if kind in _NAMES}


def _call(http: web.BaseRequest, body: Callable[[], Awaitable[bytes]]) -> HttpCall:
    url = http.rel_url
    return HttpCall(http.method, url.raw_path, body, http.headers, url.raw_query_string)


async def _body_of(
    content: StreamReader, length: int | None, limits: BodyLimits, hold: BodyHold
) -> bytes:
    """The body. One that is too large, or has no room, is not read, or no further.

    Raises BodyTooLargeError, BusyError.
    """
    if length is not None and length > limits.largest:
        raise BodyTooLargeError(length)
    hold.grow_to(length or 0)
    parts: list[bytes] = []
    size = 0
    while some := await _some_of(content):
        size += len(some)
        if size > limits.largest:
            raise BodyTooLargeError(None)
        hold.grow_to(size)
        parts.append(some)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _some_of(content: StreamReader) -> bytes:
    """What has come of a body; empty at its end. Raises ConnectionError once no more can come."""
    try:
        return content.read_nowait() if content.is_eof() else await content.readany()
    except (ConnectionError, web.RequestPayloadError) as error:
        # aiohttp keeps it with the body, and its traceback keeps that: only a collection of garbage
        # would free either.
        error.__traceback__ = None
        raise ConnectionResetError(str(error)) from None
