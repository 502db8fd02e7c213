"""After an outage of the API server itself, the sink holds what a fresh list has.

These break the plane, and share one of their own.
"""

import asyncio
import base64
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import aiohttp
import pytest

from cardquota.cluster.api import ApiError, Client, OutcomeUnknown
from cardquota.cluster.api.access import find_access
from cardquota_dev.testing import Cluster, fresh_namespace, running_plane
from harness.proxy import Proxy

from .conftest import until
from .mirror import (
    PODS,
    Mirror,
    a_few,
    create,
    delete,
    listed,
    mirroring,
    much_happens,
    path_of,
    resize,
)

pytestmark = [pytest.mark.disruptive, pytest.mark.long]

PODS_IN_ALL = 2_000
PAGE = 100


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """In the place of the shared one, for all fixtures here."""
    with running_plane(tmp_path_factory.mktemp("outages"), replicas=0) as cluster:
        cluster.warm()
        yield cluster


@pytest.fixture(scope="module")
def namespaces(plane: Cluster) -> Iterator[Iterator[str]]:
    """Made while nothing is broken: controllers take their time to come back."""
    with ExitStack() as stack:
        names = (f"outage-{number}" for number in range(3))
        yield iter([stack.enter_context(fresh_namespace(plane, name)) for name in names])


@pytest.fixture
def namespace(namespaces: Iterator[str]) -> str:
    return next(namespaces)


async def restart_api_server(plane: Cluster, client: Client) -> None:
    """Killed; the plane's supervisor starts it again."""
    old = plane.state.process("kube-apiserver")
    old.signal(signal.SIGKILL)
    await until(lambda: not old.alive, "the end of the API server")
    deadline = asyncio.get_running_loop().time() + 60
    while True:
        try:
            await client.get("/readyz", timeout=2)
        except (ApiError, OutcomeUnknown):
            assert asyncio.get_running_loop().time() < deadline
            await asyncio.sleep(0.05)
        else:
            return


async def compact(plane: Cluster) -> int:
    """Have etcd forget all but the present; the revision it begins with now."""
    store = plane.state.process("etcd").address
    async with aiohttp.ClientSession() as session:
        everything = base64.b64encode(b"\0").decode()
        one = {"key": everything, "range_end": everything, "limit": "1", "keys_only": True}
        async with session.post(f"{store}/v3/kv/range", json=one) as answer:
            assert answer.status == 200
            now = int((await answer.json(content_type=None))["header"]["revision"])
        wanted = {"revision": str(now), "physical": True}
        async with session.post(f"{store}/v3/kv/compaction", json=wanted) as answer:
            assert answer.status == 200, await answer.text()
    return now


async def at_once(works: Iterable[Callable[[], Awaitable[None]]], workers: int = 32) -> None:
    """All of them, some at a time."""
    rest = iter(works)

    async def work() -> None:
        for one in rest:
            await one()

    await asyncio.gather(*(work() for _ in range(workers)))


async def is_forgotten(client: Client, namespace: str, kind: str, since: int) -> bool:
    """Whether the API server says 410 to a watch from that revision."""
    params = {"resourceVersion": str(since), "timeoutSeconds": "1"}
    try:
        async with client.watch(
            path_of(namespace, kind), params=params, read_timeout=10
        ) as response:
            async for chunk in response.content.iter_any():
                return b'"code":410' in chunk
    except ApiError as error:
        return error.status == 410
    return False


async def holds_what_is_listed(mirror: Mirror, client: Client, namespace: str, kind: str) -> None:
    wanted = await listed(client, namespace, kind)
    await until(lambda: mirror.holds == wanted, "the sink holds what a fresh list has", 60)


async def test_the_api_server_is_killed_in_mid_watch(
    plane: Cluster, client: Client, namespace: str
) -> None:
    await a_few(client, namespace)
    mirror = Mirror()
    async with mirroring(client, namespace, mirror) as reflector:
        await create(client, namespace, "before", "1")
        await restart_api_server(plane, client)
        await much_happens(client, namespace)
        await holds_what_is_listed(mirror, client, namespace, "configmaps")
        await create(client, namespace, "after", "1")
        await until(lambda: "after" in mirror.holds, "the stream goes on")
        assert reflector.relists <= 1


async def test_two_thousand_pods_and_a_revision_that_is_really_too_old(
    plane: Cluster, client: Client, proxied: Client, proxy: Proxy, namespace: str
) -> None:
    """Listed in pages; cut; a tenth changes or goes; compacted; then 410, and one list more."""
    names = [f"pod-{number:04}" for number in range(PODS_IN_ALL)]
    await at_once([partial(create, client, namespace, n, "1", PODS) for n in names])
    await a_few(client, namespace, PODS)
    mirror = Mirror()
    async with mirroring(proxied, namespace, mirror, kind=PODS, page_size=PAGE) as reflector:
        assert mirror.holds == await listed(client, namespace, PODS)
        assert len(mirror.holds) == PODS_IN_ALL + 5
        assert reflector.relists == 0
        proxy.cut(stay_closed=True)
        since = reflector.revision
        gone, changed = names[:PODS_IN_ALL:20], names[7:PODS_IN_ALL:20]
        await at_once(
            [lambda n=n: delete(client, namespace, n, PODS) for n in gone]
            + [lambda n=n: resize(client, namespace, n, "2", PODS) for n in changed]
        )
        await much_happens(client, namespace, PODS)
        await compact(plane)
        await restart_api_server(plane, client)
        assert await is_forgotten(client, namespace, PODS, since)
        proxy.reopen()
        await holds_what_is_listed(mirror, client, namespace, PODS)
        await until(lambda: reflector.revision > since, "the end of the list")
        assert len(mirror.ended) == len(gone) + 3
        await create(client, namespace, "after", "1", PODS)
        await until(lambda: "after" in mirror.holds, "the stream goes on")
        assert reflector.relists == 1


class Between(Client):
    """The real client, which lets a test do something before the second page of a list."""

    before_second_page: Callable[[], Awaitable[None]] | None = None
    expired = 0
    """Pages that the API server refused with 410."""

    async def get(self, path: str, **options: Any) -> bytes:
        hook = self.before_second_page
        if hook is not None and "continue" in options.get("params", {}):
            self.before_second_page = None
            await hook()
        try:
            return await super().get(path, **options)
        except ApiError as error:
            self.expired += error.status == 410
            raise


@pytest.fixture
async def between(client: Client) -> AsyncIterator[Between]:
    between = Between(await find_access())
    yield between
    await between.close()


async def test_a_page_whose_list_is_really_too_old(
    plane: Cluster, client: Client, between: Between, namespace: str
) -> None:
    """The list begins again, and what went between two pages is not held."""
    await a_few(client, namespace)

    async def too_late() -> None:
        await much_happens(client, namespace)
        await compact(plane)
        # It remembers the list that it has paged out, until it is started again.
        await restart_api_server(plane, client)

    mirror, between.before_second_page = Mirror(), too_late
    async with mirroring(between, namespace, mirror, page_size=2) as reflector:
        assert between.expired == 1
        assert mirror.holds == await listed(client, namespace)
        assert reflector.relists == 0
        await create(client, namespace, "after", "1")
        await until(lambda: "after" in mirror.holds, "the stream goes on")
