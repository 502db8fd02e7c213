"""Reviews handed to a server without a socket: what it costs is its own work alone."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

from aiohttp import web


class _Answers(Protocol):
    """The server of admission."""

    async def handle(self, http: web.BaseRequest, path: str) -> web.StreamResponse: ...


class _Payload:
    """A body that is there in one piece."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def is_eof(self) -> bool:
        return True

    def read_nowait(self) -> bytes:
        return self._body


class _PlainRequest:
    """As much of a request as a server of ours looks at."""

    method = "POST"
    content_length = None
    headers: Mapping[str, str] = {}

    def __init__(self, body: bytes) -> None:
        self.content = _Payload(body)


async def ask(server: _Answers, path: str, body: bytes) -> tuple[int, bytes]:
    """Status and text of the answer."""
    request: Any = _PlainRequest(body)
    answer = await server.handle(cast("web.BaseRequest", request), path)
    assert isinstance(answer, web.Response)
    assert isinstance(answer.body, bytes)
    return answer.status, answer.body
