"""How to reach the API server: address, TLS, and our identity.

`find_access` decides which way is taken.
"""

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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


class _FileVersion(NamedTuple):
    """Another one when somebody has replaced a file or written it anew."""

    mtime_ns: int
    inode: int
    size: int


class TokenFile:
    """A bearer token in a file that is replaced from time to time.

    Guarantees: the first request after the file was replaced uses the new token. While the file is
    unreadable or empty, the last token stays in use.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: _FileVersion | None = None
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
            seen = _FileVersion(stat.st_mtime_ns, stat.st_ino, stat.st_size)
            if seen == self._seen:
                return
            token = self._path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return
        if token:
            self._token, self._seen = token, seen
