import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from aiohttp import ClientResponse

from cardquota.cluster.api import Access, ApiError, Client
from cardquota.cluster.api.access import find_access
from cardquota.cluster.watch import Delivery, Reflector
from cardquota.loop import Backoff
from cardquota.quota.objects import Meta, Wire
from harness.proxy import Proxy

from .conftest import until
from .mirror import NOT_OURS, reflecting


class SizeData(Wire):
    size: str


class Strict(Wire):
    """A ConfigMap that has `data.size`; one without is undecodable."""

    metadata: Meta
    data: SizeData


class View:
    """What a sink was told, as it stands now."""

    def __init__(self) -> None:
        self.sizes: dict[str, str] = {}
        self.bad: set[str] = set()
        self.ended: list[str] = []
        self.revisions: dict[str, int] = {}

    def seen(self, obj: Strict) -> None:
        revision = int(obj.metadata.resource_version)
        assert revision >= self.revisions.get(obj.metadata.uid, 0)
        self.revisions[obj.metadata.uid] = revision
        self.sizes[obj.metadata.name] = obj.data.size
        self.bad.discard(obj.metadata.name)

    def gone(self, namespace: str, name: str, uid: str) -> None:
        self.sizes.pop(name, None)
        self.bad.discard(name)
        self.ended.append(name)

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        self.bad.add(name)


class Odd(Client):
    """The real client, whose answers are 410 where a test says so, and which counts its watches."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self.watches = 0
        self.expired_watches = 0
        self.expired_pages = 0

    @asynccontextmanager
    async def watch(
        self, path: str, *, params: Mapping[str, str], read_timeout: float
    ) -> AsyncIterator[ClientResponse]:
        self.watches += 1
        async with super().watch(path, params=params, read_timeout=read_timeout) as response:
            # Not before: one that was on its way when a test said so is expired too.
            if self.expired_watches:
                self.expired_watches -= 1
                raise ApiError(410, "Expired", "too old resource version")
            yield response

    async def get(self, path: str, **options: Any) -> bytes:
        if "continue" in options["params"] and self.expired_pages:
            self.expired_pages -= 1
            raise ApiError(410, "Expired", "the provided continue parameter is too old")
        return await super().get(path, **options)


@pytest.fixture
async def odd(proxy: Proxy) -> AsyncIterator[Odd]:
    access = await find_access()
    client = Odd(replace(access, server=f"https://127.0.0.1:{proxy.port}"))
    yield client
    await client.close()


@asynccontextmanager
async def running(
    client: Client, namespace: str, view: View, **options: Any
) -> AsyncIterator[Reflector[Strict]]:
    reflector = Reflector(
        client,
        path=f"/api/v1/namespaces/{namespace}/configmaps",
        delivery=Delivery("ConfigMap", Strict, view),
        params=NOT_OURS,
        backoff=Backoff(0.02, 0.2),
        **options,
    )
    async with reflecting(reflector, within=20):
        yield reflector


async def create(client: Client, namespace: str, name: str, **data: str) -> None:
    body = {"metadata": {"name": name}, "data": data}
    await client.post(f"/api/v1/namespaces/{namespace}/configmaps", body)


async def delete(client: Client, namespace: str, name: str) -> None:
    await client.send("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/{name}")


async def change(client: Client, namespace: str, name: str, **data: str | None) -> None:
    await client.patch(f"/api/v1/namespaces/{namespace}/configmaps/{name}", {"data": data})


async def revision(client: Client, namespace: str) -> int:
    body = await client.get(f"/api/v1/namespaces/{namespace}/configmaps", params={"limit": "1"})
    return int(msgspec.json.decode(body)["metadata"]["resourceVersion"])


async def test_a_list_comes_in_pages(client: Client, namespace: str) -> None:
    for number in range(7):
        await create(client, namespace, f"m{number}", size=str(number))
    view = View()
    async with running(client, namespace, view, page_size=3) as reflector:
        assert view.sizes == {f"m{number}": str(number) for number in range(7)}
        assert reflector.revision >= max(view.revisions.values())
        assert reflector.relists == 0
        await until(lambda: 0 <= reflector.lag() < 5, "a view of now")


async def test_changes_are_told_as_they_happen(client: Client, namespace: str) -> None:
    view = View()
    async with running(client, namespace, view):
        await create(client, namespace, "a", size="1")
        await until(lambda: view.sizes == {"a": "1"}, "creation")
        await change(client, namespace, "a", size="2")
        await until(lambda: view.sizes == {"a": "2"}, "change")
        await delete(client, namespace, "a")
        await until(lambda: view.ended == ["a"], "end")


async def test_one_bad_object_does_not_keep_the_others_away(client: Client, namespace: str) -> None:
    await create(client, namespace, "bad", other="x")
    await create(client, namespace, "good", size="1")
    view = View()
    async with running(client, namespace, view):
        assert (view.sizes, view.bad) == ({"good": "1"}, {"bad"})
        await create(client, namespace, "worse")
        await create(client, namespace, "better", size="2")
        await until(lambda: "better" in view.sizes, "the object after the bad one")
        assert view.bad == {"bad", "worse"}
        await change(client, namespace, "bad", size="3")
        await change(client, namespace, "good", size=None)
        await until(lambda: "good" in view.bad, "an object that went bad")
        assert view.sizes["bad"] == "3"
        await delete(client, namespace, "worse")
        await until(lambda: "worse" in view.ended, "the end of a bad object")


async def test_a_cut_stream_goes_on_where_it_was(
    client: Client, proxied: Client, proxy: Proxy, namespace: str
) -> None:
    for name in ("kept", "deleted", "replaced"):
        await create(client, namespace, name, size="1")
    view = View()
    async with running(proxied, namespace, view) as reflector:
        proxy.cut(stay_closed=True)
        await delete(client, namespace, "deleted")
        await delete(client, namespace, "replaced")
        await create(client, namespace, "replaced", size="2")
        await create(client, namespace, "new", size="3")
        proxy.reopen()
        await until(lambda: "new" in view.sizes, "what came while the stream was cut")
        assert view.sizes == {"kept": "1", "replaced": "2", "new": "3"}
        assert sorted(view.ended) == ["deleted", "replaced"]
        assert reflector.relists == 0


async def test_what_vanished_before_a_new_list_is_worked_out(
    client: Client, odd: Odd, proxy: Proxy, namespace: str
) -> None:
    for name in ("kept", "deleted", "replaced"):
        await create(client, namespace, name, size="1")
    view = View()
    async with running(odd, namespace, view) as reflector:
        before = reflector.revision
        proxy.cut(stay_closed=True)
        await delete(client, namespace, "deleted")
        await delete(client, namespace, "replaced")
        await create(client, namespace, "replaced", size="2")
        odd.expired_watches = 1
        proxy.reopen()
        await until(lambda: view.sizes == {"kept": "1", "replaced": "2"}, "the new list")
        assert sorted(view.ended) == ["deleted", "replaced"]
        await until(lambda: reflector.revision > before, "the end of the list")
        assert reflector.relists == 1
        await create(client, namespace, "after", size="3")
        await until(lambda: "after" in view.sizes, "the stream goes on")


async def test_an_orderly_end_of_the_watch_is_no_event(
    client: Client, odd: Odd, namespace: str
) -> None:
    view = View()
    async with running(odd, namespace, view, watch_seconds=1.0) as reflector:
        for number in range(1, 4):
            await until(lambda n=number: odd.watches == n, "the next watch")
            await create(client, namespace, f"m{number}", size="1")
        await until(lambda: len(view.sizes) == 3, "all objects")
        assert reflector.relists == 0


async def test_a_list_that_takes_too_long_begins_again(
    client: Client, odd: Odd, namespace: str
) -> None:
    for number in range(5):
        await create(client, namespace, f"m{number}", size=str(number))
    view = View()
    odd.expired_pages = 2
    async with running(odd, namespace, view, page_size=2):
        assert odd.expired_pages == 0
        assert len(view.sizes) == 5
        assert view.ended == []


@pytest.mark.slow
async def test_a_stream_that_stands_still_is_given_up(
    client: Client, proxied: Client, proxy: Proxy, namespace: str
) -> None:
    view = View()
    options = {"watch_seconds": 1.0, "stall_timeout": 1.5}
    async with running(proxied, namespace, view, **options) as reflector:
        await create(client, namespace, "before", size="1")
        await until(lambda: "before" in view.sizes, "the stream flows")
        proxy.stall()
        await create(client, namespace, "meanwhile", size="1")
        await until(lambda: reflector.lag() > 2, "time passes")
        assert "meanwhile" not in view.sizes
        proxy.cut()
        proxy.flow()
        await until(lambda: "meanwhile" in view.sizes, "a new stream")
        await until(lambda: reflector.lag() < 2, "a view of now")


@pytest.mark.slow
async def test_passed_needs_no_change_of_the_kind(client: Client, namespace: str) -> None:
    view = View()
    async with running(client, namespace, view) as reflector:
        started = asyncio.get_running_loop().time()
        # Something else changes, so that the store's revision moves on.
        await client.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {"x": "y"}}})
        wanted = await revision(client, namespace)
        assert wanted > reflector.revision
        await asyncio.wait_for(reflector.passed(wanted), 60)
        print(f"passed after {asyncio.get_running_loop().time() - started:.2f} s")  # noqa: T201
        assert reflector.revision >= wanted
        assert reflector.relists == 0
        await asyncio.wait_for(reflector.passed(wanted), 60)
        await create(client, namespace, "after", size="1")
        await until(lambda: "after" in view.sizes, "the stream goes on")


async def test_passed_returns_with_the_event(client: Client, namespace: str) -> None:
    view = View()
    async with running(client, namespace, view) as reflector:
        await create(client, namespace, "a", size="1")
        await asyncio.wait_for(reflector.passed(await revision(client, namespace)), 60)
        assert view.sizes == {"a": "1"}
