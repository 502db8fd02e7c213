"""How to reach the API server: address, TLS, and our identity."""

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from yarl import URL

Authorization = Callable[[], Awaitable[str | None]]
"""Called before every request. Returns the value of the header `Authorization`, or None."""


class AccessError(Exception):
    """There is no usable way to an API server. The text says what is missing."""


@dataclass(frozen=True, slots=True)
class Access:
    """One API server and our credentials. Its text form contains no secret."""

    server: str
    """Scheme, host, port and maybe a path, without a slash at the end."""
    tls: ssl.SSLContext | None
    """None for plain http."""
    authorization: Authorization
    server_hostname: str | None = None
    """The name the certificate must have, if not the host."""
    proxy: str | None = None
    """URL of an HTTP proxy. Proxies of the environment are not used."""
    namespace: str = "default"
    """The one that is meant where none is named."""


class TokenFile:
    """A bearer token in a file that is replaced from time to time.

    Guarantees: the first request after the file was replaced uses the new token. While the file is
    unreadable or empty, the last token stays in use.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        """Differs once somebody has replaced the file, or written it anew."""
        self._token = ""
        self._refresh()
        if not self._token:
            raise AccessError(f"token file {path} is missing, unreadable or empty")

    async def __call__(self) -> str:
        """The value of the header."""
        self._refresh()
        return f"Bearer {self._token}"

    def _refresh(self) -> None:
        # One stat() per request costs microseconds; caching the token for a while would cause 401s.
        try:
            stat = self._path.stat()
            seen = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
            if seen == self._seen:
                return
            token = self._path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return
        if token:
            self._token, self._seen = token, seen


def open_session(access: Access) -> aiohttp.ClientSession:
    """For a library that sends its own requests: a session whose requests to the API server carry
    our credentials. The caller closes it.

    Guarantees: credentials are read before each request, so new ones are used at once. They are
    sent to no other server, wherever a redirect leads. Errors while reading them are raised as
    `aiohttp.ClientConnectionError`, which libraries treat as temporary.
    """
    origin = URL(access.server).origin()

    async def as_us(
        request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if request.url.origin() == origin:
            try:
                authorization = await access.authorization()
            except AccessError as error:
                raise aiohttp.ClientConnectionError(str(error)) from error
            if authorization is not None:
                request.headers["Authorization"] = authorization
            request.server_hostname = access.server_hostname
        return await send(request)

    return aiohttp.ClientSession(
        # No bound: the caller bounds what it has in flight.
        connector=aiohttp.TCPConnector(limit=0, ssl=access.tls or True),
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=(as_us,),
        proxy=access.proxy,
    )
