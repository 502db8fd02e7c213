"""Reviews handed to a server without a socket: what it costs is its own work alone."""

from typing import Protocol

from cardquota.cluster.serving import HttpAnswer, HttpCall


class _Answers(Protocol):
    """The server of admission."""

    async def answer(self, call: HttpCall) -> HttpAnswer: ...


async def ask(server: _Answers, path: str, body: bytes) -> tuple[int, bytes]:
    """Status and text of the answer."""

    async def whole() -> bytes:
        return body

    status, answer, *_ = await server.answer(HttpCall("POST", path, whole, {}))
    return status, answer
