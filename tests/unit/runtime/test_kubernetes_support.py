"""At start: an API server that is too old is refused, one that does not answer is waited for; and
the operator does not end pods beside a Volcano that does (L6).
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from cardquota.cluster.api import Access, Client
from cardquota.quota.vocabulary import ReclaimMode
from cardquota.reclaim_settings import Reclaim
from cardquota.runtime import kubernetes_support
from cardquota.runtime.kubernetes_support import reclaims_alone, supported
from cardquota.settings import Settings


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes_support, "PAUSE", 0.01)


@asynccontextmanager
async def answering(*answers: tuple[int, str], path: str = "/version") -> AsyncIterator[Client]:
    """A client of an API server that answers in turn, the last one for ever."""
    left: Iterator[tuple[int, str]] = iter(answers[:-1])

    async def answer(request: web.BaseRequest) -> web.Response:
        assert request.path == path
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


BESIDE = Settings(scheduler="volcano", reclaim=Reclaim(mode=ReclaimMode.DRY_RUN))
CONFIGURATION = "/api/v1/namespaces/volcano-system/configmaps/volcano-scheduler-configmap"


def configured(actions: str) -> tuple[int, str]:
    return 200, json.dumps({"data": {"volcano-scheduler.conf": f"actions: '{actions}'"}})


async def test_l6_volcano_that_ends_pods_too_is_told_on_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers = (503, "not yet"), configured("enqueue, preempt")
    async with answering(*answers, path=CONFIGURATION) as client:
        assert not await reclaims_alone(client, BESIDE, asyncio.Event())
    line = caplog.messages[-1]
    assert "by <preempt> among the actions in ConfigMap <volcano-system/volcano-sche" in line
    assert "; take it out" in line


async def test_l6_beside_one_that_does_not_the_operator_runs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with answering(configured("enqueue, allocate"), path=CONFIGURATION) as client:
        assert await reclaims_alone(client, BESIDE, asyncio.Event())
    assert caplog.messages == []


@pytest.mark.parametrize("answer", [(403, "{}"), (404, "{}"), (200, "no JSON")])
async def test_l6_a_configuration_that_cannot_be_read_is_a_warning(
    caplog: pytest.LogCaptureFixture, answer: tuple[int, str]
) -> None:
    async with answering(answer, path=CONFIGURATION) as client:
        assert await reclaims_alone(client, BESIDE, asyncio.Event())
    assert "volcano-scheduler-configmap> cannot be read: " in caplog.messages[0]
    assert {one.levelname for one in caplog.records} == {"WARNING"}


@pytest.mark.parametrize(
    "settings",
    [Settings(scheduler="volcano"), Settings(reclaim=Reclaim(mode=ReclaimMode.ON))],
    ids=["off", "without Volcano"],
)
async def test_l6_where_it_is_all_one_nothing_is_asked(settings: Settings) -> None:
    async with answering(configured("reclaim"), path="/nothing is asked") as client:
        assert await reclaims_alone(client, settings, asyncio.Event())
