"""The administrator's requests to the API server, many at once, never raising for what fails."""

import base64
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import aiohttp

Object = dict[str, Any]
MERGE = "application/merge-patch+json"
JSON = "application/json"
UNTRUSTED = "creates that failed for a certificate"
"""Under this name they are counted: there must be none, also while certificates are changed."""


@dataclass(frozen=True)
class Reply:
    """What was answered; code 0: nothing was."""

    code: int
    body: Object
    text: str = ""

    @property
    def ok(self) -> bool:
        return 200 <= self.code < 300

    @property
    def status(self) -> Object:
        """Of the object in the answer; of a failure, whose body has a word there, an empty one."""
        found: Object = self.body.get("status") or {} if self.ok else {}
        return found

    @property
    def message(self) -> str:
        return str(self.body.get("message", self.text))


class Api:
    """One connection pool, in the event loop that it was made in."""

    def __init__(self, kubeconfig: Path) -> None:
        stored = json.loads(kubeconfig.read_text())
        cluster = stored["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self.server = str(cluster["server"])
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                ssl=ssl.create_default_context(cadata=authority), limit=200
            ),
            headers={"Authorization": f"Bearer {stored['users'][0]['user']['token']}"},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def ask(
        self, method: str, path: str, body: object = None, *, kind: str = JSON, timeout: float = 35
    ) -> Reply:
        """One request; `kind` is the content type of the body."""
        try:
            async with self._session.request(
                method,
                path if "://" in path else self.server + path,
                data=None if body is None else json.dumps(body),
                headers={"Content-Type": kind},
                timeout=aiohttp.ClientTimeout(total=timeout),
            ) as answer:
                text = await answer.text()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return Reply(0, {}, str(error) or type(error).__name__)
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        return Reply(answer.status, found if isinstance(found, dict) else {}, text)

    async def get(self, path: str) -> Reply:
        return await self.ask("GET", path, timeout=10)

    async def create(self, path: str, body: Object) -> Reply:
        return await self.ask("POST", path, body)

    async def patch(self, path: str, body: Object) -> Reply:
        """A merge patch."""
        return await self.ask("PATCH", path, body, kind=MERGE)

    async def delete(self, path: str, *, now: bool = False) -> Reply:
        return await self.ask("DELETE", path + ("?gracePeriodSeconds=0" if now else ""))
