"""A server for HTTP/1.1 and HTTP/2: the caller chooses while TLS is set up (ALPN).

HTTP/1.1 is served by aiohttp. Without TLS, and for callers that do not choose, it is HTTP/1.1.
"""

import asyncio
import ssl
from typing import Any, Final, cast

from aiohttp import web

from .http2_connection import Http2Connection
from .http_call import BodyLimits, BodyTooLargeError, HttpCall, HttpHandler
from .serve import requests_up_to

_NAMES: Final = ("commonName", "DNS", "URI")
PROTOCOLS: Final = ("h2", "http/1.1")
"""For the context of a server, the best first."""


class HttpServer:
    """Hands every call to one handler."""

    def __init__(self, handler: HttpHandler, limits: BodyLimits) -> None:
        self._handler = handler
        self._limits = limits
        # aiohttp's own server: a factory of protocols, as asyncio wants it.
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
        self._http1 = web.Server(
            self._by_http1,
            request_factory=requests_up_to(self._limits.largest),
            access_log=None,
        )
        self._listening = await asyncio.get_running_loop().create_server(
            lambda: _ByAlpn(self), host, port, ssl=tls, backlog=128, reuse_address=True
        )

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Host and port of each socket that listens."""
        listening = self._listening
        return [sock.getsockname()[:2] for sock in listening.sockets] if listening else []

    def leave(self) -> None:
        """From now on every connection is closed once what came on it is answered."""
        self._leaving = True
        for connection in list(self._http2):
            connection.leave()

    async def stop(self, grace: float) -> None:
        """Stop listening, answer what is in flight within `grace` seconds, and close."""
        listening, http1 = self._listening, self._http1
        if listening is None or http1 is None:
            return
        listening.close()
        await asyncio.sleep(0)
        self.leave()
        http1.pre_shutdown()
        await asyncio.gather(
            http1.shutdown(grace), *(connection.wait(grace) for connection in list(self._http2))
        )
        await listening.wait_closed()

    def admits(self, transport: asyncio.BaseTransport) -> bool:
        """Whether this caller is answered. OpenSSL checks no certificate for a resumed session, so
        none is taken where the certificate counts.
        """
        if not self._client_name:
            return True
        session = cast("ssl.SSLObject", transport.get_extra_info("ssl_object"))
        return not session.session_reused and self._client_name in _names(session)

    def protocol_for(self, transport: asyncio.BaseTransport) -> asyncio.Protocol:
        """What serves a connection, by what its caller has chosen."""
        session = cast("ssl.SSLObject | None", transport.get_extra_info("ssl_object"))
        if session is None or session.selected_alpn_protocol() != "h2":
            assert self._http1 is not None  # noqa: S101 - `start` makes it
            return self._http1()
        connection = Http2Connection(self._handler, self._limits, self._http2.discard)
        self._http2.add(connection)
        return connection

    async def _by_http1(self, http: web.BaseRequest) -> web.StreamResponse:
        closes = False

        async def body() -> bytes:
            nonlocal closes
            try:
                return await _body_of(http, self._limits)
            except BodyTooLargeError:
                # Of one without length the rest is still to come.
                closes = http.content_length is None or not http.content.at_eof()
                raise

        headers = {name.lower(): value for name, value in http.headers.items()}
        answer = await self._handler(HttpCall(http.method, http.rel_url.raw_path, body, headers))
        # As a header: aiohttp would take it apart and put it together again.
        response = web.Response(
            status=answer.status,
            body=answer.body,
            headers={"Content-Type": answer.content_type},
        )
        if closes or self._leaving:
            response.force_close()
        return response


class _ByAlpn(asyncio.Protocol):
    """Stands on a new connection until TLS is set up."""

    def __init__(self, server: HttpServer) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand the connection over."""
        if not self._server.admits(transport):
            transport.close()
            return
        protocol = self._server.protocol_for(transport)
        cast("asyncio.Transport", transport).set_protocol(protocol)
        protocol.connection_made(transport)


def _names(session: ssl.SSLObject) -> set[str]:
    """Common name and alternative names of the caller's certificate."""
    found: Any = session.getpeercert() or {}
    subject = (pair for part in found.get("subject", ()) for pair in part)
    alternatives = found.get("subjectAltName", ())
    return {name for kind, name in (*subject, *alternatives) if kind in _NAMES}


async def _body_of(http: web.BaseRequest, limits: BodyLimits) -> bytes:
    """The body. One that is too large is taken in without being kept, so that our answer is read.

    Raises BodyTooLargeError.
    """
    length = http.content_length or 0
    if length > limits.largest:
        left = limits.dropped
        while left > 0 and (some := await http.content.readany()):
            left -= len(some)
        raise BodyTooLargeError(length)
    try:
        payload = http.content
        return payload.read_nowait() if payload.is_eof() else await http.read()
    except web.HTTPRequestEntityTooLarge:
        # It has no length, so it was not known before.
        raise BodyTooLargeError(None) from None
