"""The Lease does not queue behind anything else that the operator asks of the API server."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from cardquota.cluster.api import Access, Client
from cardquota.cluster.api import client as module
from cardquota.cluster.election import Elector
from cardquota.loop import TimedSelector
from cardquota.runtime import run
from cardquota.settings import LeaderElection, Settings


class LeaseServer:
    """Keeps a Lease, and answers nothing else."""

    def __init__(self) -> None:
        self.renewals = 0
        self.hanging = 0
        self.url = ""

    async def __call__(self, request: web.BaseRequest) -> web.Response:
        if "/leases" not in request.path:
            self.hanging += 1
            await asyncio.Event().wait()
        if request.method == "GET":
            return web.json_response({"code": 404}, status=404)
        spec = (await request.json())["spec"]
        self.renewals += request.method == "PATCH"
        metadata = {"uid": "u", "resourceVersion": str(self.renewals)}
        return web.json_response({"metadata": metadata, "spec": spec})


@pytest.fixture
async def server() -> AsyncIterator[LeaseServer]:
    server = LeaseServer()
    runner = web.ServerRunner(web.Server(server), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


async def test_a_renewal_has_its_own(server: LeaseServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A renewal that waits for one is a leadership lost. All are closed at the end."""
    seen: list[bool] = []

    async def anonymous() -> None:
        return None

    async def access() -> Access:
        seen.append(True)
        return Access(server.url, None, anonymous)

    electors: list[Elector] = []
    clients: list[Client] = []

    class Kept(Elector):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            electors.append(self)

    class KeptClient(Client):
        def __init__(self, access: Access) -> None:
            super().__init__(access)
            clients.append(self)

    async def main(_: run.Operator) -> int:
        (elector,), client = electors, clients[0]
        stuck = [asyncio.create_task(client.get("/pods")) for _ in range(5)]
        leading = asyncio.create_task(elector.run(lambda _: None, lambda _: None))
        loop = asyncio.get_running_loop()
        deadline = loop.time() + 60
        while server.hanging < 2 or not server.renewals:
            assert loop.time() < deadline, "no renewal"
            await asyncio.sleep(0.001)
        for task in (leading, *stuck):
            task.cancel()
        await asyncio.gather(leading, *stuck, return_exceptions=True)
        return 0

    monkeypatch.setattr(module, "CONNECTIONS", 2)
    monkeypatch.setattr(run, "find_access", access)
    monkeypatch.setattr(run.Operator, "main", main)
    monkeypatch.setattr(run, "Elector", Kept)
    monkeypatch.setattr(run, "Client", KeptClient)
    settings = Settings(leader_election=LeaderElection(retry_period=0.05))
    assert await run.run_in_loop(settings, TimedSelector()) == 0
    assert seen == [True]
