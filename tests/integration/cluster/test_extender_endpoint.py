"""The endpoint for kube-scheduler follows both of its Secrets on the API server."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

import aiohttp
import msgspec
import pytest

from builders.certificates import Issued, issue
from cardquota.cluster.api import Client
from cardquota.cluster.certificates import KeyPair, make_serving
from cardquota.cluster.serving import BodyLimits, HttpAnswer, HttpCall, HttpServer, client_context
from cardquota.runtime import ExtenderEndpoint, extender_endpoint
from cardquota.settings import Extender, Settings
from cardquota_dev.plane.ports import free_ports

NOW = datetime.now(UTC)
NAME = "127.0.0.1"
SERVER, CLIENT = "cardquota-extender", "cardquota-extender-client"


class Running:
    """An endpoint on the bare API server, in the namespace of the test."""

    def __init__(self, client: Client, namespace: str, certificates: str) -> None:
        (self.port,) = free_ports(1)
        extender = Extender.model_validate(
            {
                "enabled": True,
                "host": NAME,
                "port": self.port,
                "url": f"https://{NAME}:{self.port}",
                "certificates": certificates,
            }
        )
        self._client = client
        self._secrets = f"/api/v1/namespaces/{namespace}/secrets"
        settings = Settings(namespace=namespace, extender=extender)
        self.endpoint = ExtenderEndpoint(settings, client, grace=0.1)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        async def hello(_: HttpCall) -> HttpAnswer:
            return HttpAnswer(200, b"hello")

        async def at_once() -> None:
            return None

        task = asyncio.create_task(self.endpoint.run(HttpServer(hello, BodyLimits(0, 0)), at_once))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def serves(self, caller: KeyPair, servers: bytes) -> bool:
        """Whether it answers somebody with this certificate, who trusts these CAs."""
        tls = client_context(caller.cert_pem, caller.key_pem, servers=servers)
        try:
            async with (
                aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls)) as session,
                session.get(f"https://{NAME}:{self.port}/") as answer,
            ):
                return await answer.text() == "hello"
        except (aiohttp.ClientError, OSError):
            return False

    async def comes_to_serve(self, caller: KeyPair, servers: bytes) -> None:
        deadline = asyncio.get_running_loop().time() + 30
        while not await self.serves(caller, servers):
            assert asyncio.get_running_loop().time() < deadline, self.endpoint.problem
            await asyncio.sleep(0.05)

    async def put(self, name: str, pair: Issued, *, create: bool = False) -> None:
        """What cert-manager, or a person, writes."""
        parts = {"tls.crt": pair.cert_pem, "tls.key": pair.key_pem, "ca.crt": pair.ca_pem}
        data = {key: base64.b64encode(value).decode() for key, value in parts.items()}
        if create:
            meta = {"name": name}
            await self._client.post(self._secrets, {"metadata": meta, "data": data})
        else:
            await self._client.patch(f"{self._secrets}/{name}", {"data": data})

    async def delete(self, name: str) -> None:
        await self._client.send("DELETE", f"{self._secrets}/{name}")

    async def read(self, name: str) -> dict[str, bytes]:
        secret = msgspec.json.decode(await self._client.get(f"{self._secrets}/{name}"))
        return {key: base64.b64decode(value) for key, value in secret["data"].items()}


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_LOOK", "_LOOK_AGAIN"):
        monkeypatch.setattr(extender_endpoint, name, 0.05)


async def test_it_makes_what_both_sides_show(client: Client, namespace: str) -> None:
    running = Running(client, namespace, "own")
    async with running.serving():
        while running.endpoint.client_tls is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        server, caller = await running.read(SERVER), await running.read(CLIENT)
        shown = KeyPair(caller["tls.crt"], caller["tls.key"])
        await running.comes_to_serve(shown, server["ca.crt"])
        ours = KeyPair(server["tls.crt"], server["tls.key"])
        assert not await running.serves(ours, server["ca.crt"])
        assert running.endpoint.problem == ""


async def test_both_secrets_are_followed(client: Client, namespace: str) -> None:
    """Another CA of the callers, another of the server, and one that cannot be served between."""
    running = Running(client, namespace, "secret")
    first, second, other = (issue([NAME, CLIENT], now=NOW, days=1) for _ in range(3))
    await running.put(SERVER, first, create=True)
    async with running.serving():
        while "is missing: extender.certificates" not in running.endpoint.problem:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await running.put(CLIENT, second, create=True)
        await running.comes_to_serve(second.pair, first.ca_pem)
        await running.put(CLIENT, other)
        await running.comes_to_serve(other.pair, first.ca_pem)
        assert not await running.serves(second.pair, first.ca_pem)
        await running.put(SERVER, Issued(b"", b"", b"", b""))
        while not running.endpoint.problem:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        assert await running.serves(other.pair, first.ca_pem)
        await running.put(SERVER, second)
        await running.comes_to_serve(other.pair, second.ca_pem)
        while running.endpoint.problem:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_caller_with_another_name_is_refused(client: Client, namespace: str) -> None:
    """Whatever else the CA signs."""
    running = Running(client, namespace, "secret")
    server, caller = (issue([NAME, CLIENT], now=NOW, days=1) for _ in range(2))
    await running.put(SERVER, server, create=True)
    await running.put(CLIENT, caller, create=True)
    authority = KeyPair(caller.ca_pem, caller.ca_key_pem)
    stranger = make_serving(["somebody"], authority, now=NOW, until=NOW + timedelta(days=1))
    async with running.serving():
        await running.comes_to_serve(caller.pair, server.ca_pem)
        assert not await running.serves(stranger, server.ca_pem)
        assert await running.serves(caller.pair, server.ca_pem)


@pytest.mark.parametrize("certificates", ["own", "secret"])
async def test_n2_a_deleted_client_secret_takes_effect_at_once(
    client: Client, namespace: str, certificates: str
) -> None:
    """Open connections are closed, and nobody comes in with the certificate that it held."""
    running = Running(client, namespace, certificates)
    server, caller = (issue([NAME, CLIENT], now=NOW, days=1) for _ in range(2))
    if certificates == "secret":
        await running.put(SERVER, server, create=True)
        await running.put(CLIENT, caller, create=True)
    async with running.serving():
        while running.endpoint.client_tls is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        held, trusted = await running.read(CLIENT), (await running.read(SERVER))["ca.crt"]
        shown = KeyPair(held["tls.crt"], held["tls.key"])
        await running.comes_to_serve(shown, trusted)
        tls = client_context(shown.cert_pem, shown.key_pem, servers=trusted)
        connected, writer = await asyncio.open_connection(NAME, running.port, ssl=tls)
        await running.delete(CLIENT)
        with suppress(ConnectionError):
            assert await asyncio.wait_for(connected.read(), 10) == b""
        writer.close()
        assert not await running.serves(shown, trusted)
        if certificates == "own":
            held = await running.read(CLIENT)
            await running.comes_to_serve(KeyPair(held["tls.crt"], held["tls.key"]), trusted)
        assert not await running.serves(shown, trusted)
