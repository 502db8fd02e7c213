"""At start: an API server that is too old is refused, one that does not answer is waited for."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from cardquota.cluster.api import Access, Client
from cardquota.runtime import kubernetes_support
from cardquota.runtime.kubernetes_support import supported
from cardquota.settings import Settings


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes_support, "PAUSE", 0.01)


@asynccontextmanager
async def answering(*answers: tuple[int, str]) -> AsyncIterator[Client]:
    """A client of an API server that answers in turn, the last one for ever."""
    left: Iterator[tuple[int, str]] = iter(answers[:-1])

    async def answer(request: web.BaseRequest) -> web.Response:
        assert request.path == "/version"
        status, text = next(left, answers[-1])
        return web.Response(status=status, text=text)

    async def anonymous() -> None:
        return None

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    client = Client(Access(f"http://127.0.0.1:{runner.addresses[0][1]}", None, anonymous))
    try:
        yield client
    finally:
        await client.close()
        await runner.cleanup()


def version(minor: int) -> tuple[int, str]:
    return 200, f'{{"gitVersion": "v1.{minor}.1"}}'


async def test_too_old_a_server_is_refused_on_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async with answering(version(29)) as client:
        assert not await supported(client, Settings(), asyncio.Event())
    (line,) = caplog.messages
    assert line.startswith("Kubernetes 1.29 is older than 1.33")
    assert line.endswith("upgrade the cluster")


async def test_a_newer_one_is_not_refused(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, kubernetes_support.__name__)
    async with answering(version(99)) as client:
        assert await supported(client, Settings(), asyncio.Event())
    assert caplog.messages == ["Kubernetes 1.99 is newer than 1.36, the newest that is tested"]


async def test_it_waits_until_one_answers() -> None:
    async with answering((503, "not yet"), (500, "not yet"), version(29)) as client:
        assert not await supported(client, Settings(), asyncio.Event())


async def test_it_waits_no_longer_than_until_the_end() -> None:
    stop = asyncio.Event()
    async with answering((503, "never")) as client:
        waiting = asyncio.create_task(supported(client, Settings(), stop))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        stop.set()
        assert await waiting


@pytest.mark.parametrize("answer", [(403, "{}"), (404, ""), (200, "no JSON"), (200, "{}")])
async def test_a_version_that_cannot_be_read_is_not_refused(answer: tuple[int, str]) -> None:
    async with answering(answer) as client:
        assert await supported(client, Settings(), asyncio.Event())
