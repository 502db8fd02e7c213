"""The plain HTTP server: `/metrics`, and `/healthz` for the kubelet.

It knows GET alone, answers each connection once, and takes no more than a few at a time. A library
for that would take a tenth of the agent's memory.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from .node_metrics import CONTENT_TYPE, NodeMetrics

_MOST: Final = 32
"""Connections at a time. One more closes the oldest: who is silent keeps nobody out."""
_TIMEOUT: Final = 5.0
"""Seconds that a connection may take."""
_LONGEST: Final = 8 * 1024
"""Bytes of a request."""
_TEXT: Final = "text/plain; charset=utf-8"
_REASONS: Final = {200: "OK", 400: "Bad Request", 404: "Not Found", 503: "Service Unavailable"}


class HealthServer:
    """Anybody who reaches the port may read: there is no secret in it."""

    def __init__(self, metrics: NodeMetrics, problem: Callable[[], str]) -> None:
        """`problem`: why the agent is not well; empty: it is."""
        self._metrics, self._problem = metrics, problem
        self._open: dict[asyncio.StreamWriter, None] = {}
        """The oldest first."""

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """The caller serves and closes it. Raises OSError."""
        return await asyncio.start_server(self._connected, host, port, limit=_LONGEST)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= _MOST:
            next(iter(self._open)).transport.abort()
        self._open[writer] = None
        try:
            async with asyncio.timeout(_TIMEOUT):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever asks so gets no answer
        finally:
            del self._open[writer]
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        method, _, rest = head.partition(b" ")
        path = rest.split(b" ", 1)[0].split(b"?", 1)[0]
        if method != b"GET":
            return _response(400, _TEXT, b"only GET is answered\n")
        if path == b"/metrics":
            return _response(200, CONTENT_TYPE, self._metrics.text().encode())
        if path == b"/healthz":
            text = self._problem()
            return _response(503 if text else 200, _TEXT, f"{text or 'ok'}\n".encode())
        return _response(404, _TEXT, b"there are /metrics and /healthz\n")


def _response(code: int, kind: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {code} {_REASONS[code]}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
