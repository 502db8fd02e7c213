"""An API server of a few lines: a test sets its lists, and says what its watches tell."""

import asyncio
import base64
import json
import ssl
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from cardquota_dev.plane.credentials.keys import make_keys
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.volcano.api_client import AccountClient
from cardquota_dev.predicate import Predicate

Json = dict[str, Any]


class VolcanoApi:
    """Keeps what is written, and stores none of it."""

    def __init__(self) -> None:
        self.lists: dict[str, list[Json]] = {}
        """By path. A path that is not here does not exist."""
        self.events: dict[str, asyncio.Queue[Json]] = defaultdict(asyncio.Queue)
        """What the watch of a path tells next."""
        self.written: list[tuple[str, str, Json]] = []
        """Method, path and body of each write."""
        self.refused: dict[str, int] = {}
        """The status with which writes to a path are refused."""
        self.listed: list[str] = []
        """The paths that were listed, in order."""

    def bodies(self, method: str, path: str) -> list[Json]:
        """Of the writes by that method to that path."""
        return [body for how, where, body in self.written if (how, where) == (method, path)]

    async def answer(self, http: web.Request) -> web.StreamResponse:
        if http.method != "GET":
            body = json.loads(await http.text() or "{}")
            self.written.append((http.method, http.path, body))
            code = self.refused.get(http.path, 200)
            body = body if code < 400 else {"message": f"refused: {code}"}
            return web.json_response(body, status=code)
        if http.path not in self.lists:
            return web.Response(text="404 page not found\n", status=404)
        if http.query.get("watch"):
            return await self._watch(http)
        self.listed.append(http.path)
        found = {"kind": "ThingList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}}
        return web.json_response({**found, "items": self.lists[http.path]})

    async def _watch(self, http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(http)
        while True:
            event = await self.events[http.path].get()
            await response.write(json.dumps(event).encode() + b"\n")


@asynccontextmanager
async def volcano_api(scratch: Path) -> AsyncIterator[tuple[VolcanoApi, AccountClient]]:
    """One over HTTPS, and its client. `scratch`: an empty folder."""
    folder = Folder(scratch / "plane")
    folder.prepare()
    folder.clear()
    keys = make_keys(folder)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(keys.certificate, keys.key)
    found = VolcanoApi()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", found.answer)
    server = TestServer(app, host="127.0.0.1", scheme="https")
    await server.start_server(ssl=tls, shutdown_timeout=0.1)
    kubeconfig = folder.private / "kubeconfig"
    authority = base64.b64encode(keys.authority.read_bytes()).decode()
    cluster = {
        "server": f"https://127.0.0.1:{server.port}",
        "certificate-authority-data": authority,
    }
    users = [{"user": {"token": "t"}}]
    kubeconfig.write_text(json.dumps({"clusters": [{"cluster": cluster}], "users": users}))
    try:
        async with AccountClient(kubeconfig, "vc-scheduler") as client:
            yield found, client
    finally:
        await server.close()


async def until(condition: Predicate[object], seconds: float = 30.0) -> None:
    """Return once the condition is true."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - the condition is another task's, or a server's
            await asyncio.sleep(0.01)
