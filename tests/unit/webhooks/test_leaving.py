"""A replica that leaves ends its connections one by one, each with the answer given on it."""

import asyncio

import pytest

from builders.pod import a_pod
from cardquota_webhooks import AdmissionServer
from cardquota_webhooks import server as module
from harness.direct_review import ask

from .endpoint import SECRET, Endpoint, request_of, review_of


async def kept(endpoint: Endpoint) -> bool:
    """Whether the connection stays open after one more review."""
    body = review_of(request_of(a_pod("p")))
    async with endpoint.client.post(f"/validate/{SECRET}", data=body) as answer:
        assert answer.status == 200
        return answer.headers.get("Connection", "").lower() != "close"


async def test_connections_are_kept_until_then() -> None:
    async with Endpoint() as endpoint:
        assert await kept(endpoint)
        endpoint.server.leave()
        assert not await kept(endpoint)


async def asked(server: AdmissionServer) -> None:
    """Somebody asks, if only for a page that is not there: no socket is needed for it."""
    assert (await ask(server, "/nothing-is-here", b""))[0] == 404


@pytest.fixture
async def leaving(monkeypatch: pytest.MonkeyPatch) -> AdmissionServer:
    """On the loop's clock, which is the test's own."""
    monkeypatch.setattr(module, "perf_counter", asyncio.get_running_loop().time)
    return Endpoint().server


@pytest.mark.fake_clock
async def test_it_is_quiet_once_nobody_has_asked_for_a_while(leaving: AdmissionServer) -> None:
    leaving.leave()
    now = asyncio.get_running_loop().time
    quiet = asyncio.create_task(leaving.quiet(3, at_most=600))
    for _ in range(5):
        await asyncio.sleep(2)
        await asked(leaving)
        assert not quiet.done()
    last = now()
    await quiet
    assert now() == pytest.approx(last + 3)


@pytest.mark.fake_clock
async def test_nobody_is_waited_for_without_end(leaving: AdmissionServer) -> None:
    leaving.leave()
    now = asyncio.get_running_loop().time
    began, quiet = now(), asyncio.create_task(leaving.quiet(60, at_most=100))
    while not quiet.done():
        await asyncio.sleep(7)
        await asked(leaving)
    assert now() - began == pytest.approx(105)
