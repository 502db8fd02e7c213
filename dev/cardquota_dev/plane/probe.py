"""HTTP requests to the plane's servers, as the supervisor sends them all the time.

A missing answer is an answer: nothing here raises for a server that is not up yet.
"""

import ssl
from types import TracebackType
from typing import Any, Self

import aiohttp

from .credentials.keys import Keys

_TIMEOUT = aiohttp.ClientTimeout(total=5)


class Probe:
    """GET with the administrator's token, trusting only the plane's authority."""

    def __init__(self, keys: Keys, server: str, token: str) -> None:
        context = ssl.create_default_context(cafile=str(keys.authority))
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context), timeout=_TIMEOUT, trust_env=False
        )
        self._server, self._token = server, token

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def ok(self, url: str) -> bool:
        """Whether the URL answers 200."""
        try:
            async with self._session.get(url) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def read(self, path: str) -> dict[str, Any] | None:
        """An object or a list from the API server. None if it cannot be read."""
        status, body = await self.ask("GET", path)
        return body if status == 200 else None

    async def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Status and body of the API server's answer; status 0 if there is none."""
        headers = {"Authorization": f"Bearer {self._token}"}
        url = self._server + path
        try:
            async with self._session.request(method, url, headers=headers, json=body) as answer:
                content = await answer.json(content_type=None)
                return answer.status, content if isinstance(content, dict) else {}
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return 0, {}
