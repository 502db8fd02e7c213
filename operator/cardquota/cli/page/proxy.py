"""A proxy on this machine that adds the user's token to what his browser asks.

Only 127.0.0.1 is listened on. Other users of the machine do not know the secret in the path; a
page of another site that resolves its own name to 127.0.0.1 is not answered, by the header `Host`.
"""

import secrets
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import aiohttp
from aiohttp import web
from yarl import URL

from ...cluster.api.api_error import in_words
from ..reading import ClusterError
from .tokens import TokenSource

_TIMEOUT: Final = aiohttp.ClientTimeout(total=20.0)
_PASSED_ON: Final = (
    *("Content-Type", "Content-Security-Policy", "X-Content-Type-Options"),
    *("Cache-Control", "Referrer-Policy", "Retry-After"),
)
"""Headers of an answer."""


class PageProxy:
    """Serves one user's browser."""

    def __init__(self, address: Callable[[], str], token: TokenSource) -> None:
        """`address`: of the operator's port now; empty while there is no way to it."""
        self._address = address
        self._token = token
        self._secret = secrets.token_urlsafe(32)
        self._hosts: frozenset[str] = frozenset()
        self._session = aiohttp.ClientSession(timeout=_TIMEOUT, auto_decompress=False)
        self._runner = web.ServerRunner(web.Server(self._answer, access_log=None))

    async def start(self, port: int) -> str:
        """Listen, on any free port if it is 0. Returns the URL. Errors: ClusterError."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, "127.0.0.1", port).start()
        except OSError as error:
            raise ClusterError(f"cannot listen on port {port}: {error.strerror}") from error
        port = self._runner.addresses[0][1]
        self._hosts = frozenset((f"127.0.0.1:{port}", f"localhost:{port}"))
        return f"http://127.0.0.1:{port}/{self._secret}/"

    async def stop(self) -> None:
        """Close all connections."""
        await self._runner.cleanup()
        await self._session.close()

    async def ask(self, what: str, query: str = "", method: str = "GET") -> web.Response:
        """What the operator answers. Errors: ClusterError."""
        address = self._address()
        if not address:
            raise ClusterError("no replica of the operator is reached: trying again")
        headers = {"Authorization": await self._token()}
        try:
            url = URL(f"{address}/page/{what}{query and '?'}{query}", encoded=True)
            async with self._session.request(
                method, url, headers=headers, allow_redirects=False
            ) as found:
                kept = {name: found.headers[name] for name in _PASSED_ON if name in found.headers}
                return web.Response(status=found.status, body=await found.read(), headers=kept)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise ClusterError(f"the operator does not answer: {in_words(error)}") from error

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        secret, _, what = request.rel_url.raw_path.removeprefix("/").partition("/")
        if request.headers.get("Host") not in self._hosts:
            return _refusal(HTTPStatus.FORBIDDEN, "this is only for the user of this machine")
        if not secrets.compare_digest(secret.encode(), self._secret.encode()):
            return _refusal(HTTPStatus.NOT_FOUND, "nothing is here: use the whole URL")
        if request.method not in ("GET", "HEAD"):
            return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, "this is only to be read")
        try:
            return await self.ask(what, request.rel_url.raw_query_string, request.method)
        except ClusterError as error:
            return _refusal(HTTPStatus.BAD_GATEWAY, str(error))


def _refusal(status: HTTPStatus, text: str) -> web.Response:
    headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
    return web.Response(status=status, text=f"{text}\n", headers=headers)
