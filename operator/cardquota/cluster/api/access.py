"""How to reach the API server: address, TLS, and who we say we are.

Which of the ways is taken is decided in `find_access`.
"""

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

Authorization = Callable[[], Awaitable[str | None]]
"""Asked before every request: the value of the header `Authorization`, or None."""


class AccessError(Exception):
    """There is no usable way to an API server; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Access:
    """One API server and our credentials. The text form of this object holds no secret."""

    server: str
    """Scheme, host, port and perhaps a path, without a slash at the end."""
    tls: ssl.SSLContext | None
    """None for plain http."""
    authorization: Authorization
    server_hostname: str | None = None
    """The name the certificate must have, if not the host."""
    proxy: str | None = None
    """URL of an HTTP proxy. Proxies of the environment are not used."""


class TokenFile:
    """A bearer token in a file that somebody replaces from time to time.

    Guarantees: a new token is used from the first request after the file was replaced; while the
    file is unreadable or empty the last token goes on being used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._token = ""
        self._refresh()
        if not self._token:
            raise AccessError(f"token file {path} is missing, unreadable or empty")

    async def __call__(self) -> str:
        """The value of the header."""
        self._refresh()
        return f"Bearer {self._token}"

    def _refresh(self) -> None:
        # One stat() per request is microseconds; a period of trust would be a period of 401s.
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
