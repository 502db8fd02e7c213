import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from builders.certificates import issue
from cardquota.cluster.api import Access, AccessError, open_session


class RedirectingServer:
    """Says who asked, and sends whoever asks for `/away` elsewhere."""

    def __init__(self) -> None:
        self.said: list[str | None] = []
        self.elsewhere = ""
        self.url = ""

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        self.said.append(request.headers.get("Authorization"))
        if request.path == "/away":
            raise web.HTTPFound(self.elsewhere)
        return web.Response()


Servers = tuple[RedirectingServer, RedirectingServer, ssl.SSLContext]


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[Servers]:
    """By https, for the name `n`; by http; and what trusts the first."""
    pair = issue(["n"], now=datetime.now(UTC), days=1)
    (tmp_path / "pem").write_bytes(pair.cert_pem + pair.key_pem)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(tmp_path / "pem")
    first, second = RedirectingServer(), RedirectingServer()
    runners = [web.ServerRunner(web.Server(s), shutdown_timeout=0.1) for s in (first, second)]
    for runner, server, context in zip(runners, (first, second), (tls, None), strict=True):
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        scheme = "https" if context else "http"
        server.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"
    first.elsewhere = f"{second.url}/"
    yield first, second, ssl.create_default_context(cadata=pair.ca_pem.decode())
    for runner in runners:
        await runner.cleanup()


async def test_each_request_carries_the_credentials_of_its_time(servers: Servers) -> None:
    first, second, tls = servers
    answers: list[str | None] = ["Bearer a", "Bearer b", None, "Bearer c"]

    async def authorization() -> str | None:
        if not answers:
            raise AccessError("the kubeconfig's plugin failed: no")
        return answers.pop(0)

    access = Access(first.url, tls, authorization, server_hostname="n")
    async with open_session(access) as session:
        for path in ("/", "/", "/", "/away"):
            await (await session.get(first.url + path)).read()
        with pytest.raises(aiohttp.ClientConnectionError, match="plugin failed: no"):
            await session.get(first.url)
    assert first.said == ["Bearer a", "Bearer b", None, "Bearer c"]
    assert second.said == [None]


async def test_the_certificate_must_have_the_servers_name(servers: Servers) -> None:
    first, _, tls = servers

    async def nobody() -> str | None:
        return None

    async with open_session(Access(first.url, tls, nobody, server_hostname="m")) as session:
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await session.get(first.url)
    assert not first.said
