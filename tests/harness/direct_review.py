"""Reviews handed to the admission server without a socket: what it costs is its own work alone."""

from typing import Any, cast

from aiohttp import web

from cardquota_webhooks.server import AdmissionServer


class _Payload:
    """A body that is there in one piece."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def is_eof(self) -> bool:
        return True

    def read_nowait(self) -> bytes:
        return self._body


class _PlainRequest:
    """As much of a request as the admission server looks at."""

    method = "POST"

    def __init__(self, path: str, body: bytes) -> None:
        self.path = path
        self.content = _Payload(body)


async def ask(server: AdmissionServer, path: str, body: bytes) -> tuple[int, bytes]:
    """Status and text of the answer."""
    request: Any = _PlainRequest(path, body)
    answer = await server.handle(cast("web.BaseRequest", request))
    assert isinstance(answer.body, bytes)
    return answer.status, answer.body
