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
from harness.proxy import Proxy

from .conftest import until
from .mirror import (
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


async def revision(client: Client, namespace: str) -> int:
    body = await client.get(path_of(namespace), params={"limit": "1"})
    return int(msgspec.json.decode(body)["metadata"]["resourceVersion"])


async def test_a_list_comes_in_pages(client: Client, namespace: str) -> None:
    for number in range(7):
        await create(client, namespace, f"m{number}", str(number))
    mirror = Mirror()
    async with mirroring(client, namespace, mirror, page_size=3) as reflector:
        assert mirror.sizes == {f"m{number}": str(number) for number in range(7)}
        assert reflector.relists == 0
        await until(lambda: 0 <= reflector.lag() < 5, "a view of now")


async def test_changes_are_told_as_they_happen(client: Client, namespace: str) -> None:
    mirror = Mirror()
    async with mirroring(client, namespace, mirror):
        await create(client, namespace, "a", "1")
        await until(lambda: mirror.sizes == {"a": "1"}, "creation")
        await resize(client, namespace, "a", "2")
        await until(lambda: mirror.sizes == {"a": "2"}, "change")
        await delete(client, namespace, "a")
        await until(lambda: len(mirror.ended) == 1, "end")


async def test_one_bad_object_does_not_keep_the_others_away(client: Client, namespace: str) -> None:
    await create(client, namespace, "bad", None)
    await create(client, namespace, "good", "1")
    mirror = Mirror()
    async with mirroring(client, namespace, mirror):
        assert mirror.sizes == {"good": "1", "bad": None}
        await create(client, namespace, "worse", None)
        await create(client, namespace, "better", "2")
        await until(lambda: "better" in mirror.sizes, "the object after the bad one")
        assert mirror.sizes["worse"] is None
        await resize(client, namespace, "bad", "3")
        await resize(client, namespace, "good", None)
        await until(lambda: mirror.sizes["good"] is None, "an object that went bad")
        assert mirror.sizes["bad"] == "3"
        await delete(client, namespace, "worse")
        await until(lambda: "worse" not in mirror.sizes, "the end of a bad object")


async def test_what_vanished_before_a_new_list_is_worked_out(
    client: Client, odd: Odd, proxy: Proxy, namespace: str
) -> None:
    await a_few(client, namespace)
    mirror = Mirror()
    async with mirroring(odd, namespace, mirror) as reflector:
        before = reflector.revision
        proxy.cut(stay_closed=True)
        await much_happens(client, namespace)
        odd.expired_watches = 1
        proxy.reopen()
        wanted = await listed(client, namespace)
        await until(lambda: mirror.holds == wanted, "the new list")
        await until(lambda: reflector.revision > before, "the end of the list")
        assert len(mirror.ended) == 3
        assert reflector.relists == 1
        await create(client, namespace, "after", "3")
        await until(lambda: "after" in mirror.sizes, "the stream goes on")


async def test_an_orderly_end_of_the_watch_is_no_event(
    client: Client, odd: Odd, namespace: str
) -> None:
    mirror = Mirror()
    async with mirroring(odd, namespace, mirror, watch_seconds=1.0) as reflector:
        for number in range(1, 4):
            await until(lambda n=number: odd.watches >= n, "the next watch")
            await create(client, namespace, f"m{number}", "1")
        await until(lambda: len(mirror.sizes) == 3, "all objects")
        assert reflector.relists == 0


async def test_a_list_that_takes_too_long_begins_again(
    client: Client, odd: Odd, namespace: str
) -> None:
    for number in range(5):
        await create(client, namespace, f"m{number}", str(number))
    mirror = Mirror()
    odd.expired_pages = 2
    async with mirroring(odd, namespace, mirror, page_size=2):
        assert odd.expired_pages == 0
        assert len(mirror.sizes) == 5
        assert mirror.ended == set()


@pytest.mark.slow
async def test_passed_needs_no_change_of_the_kind(client: Client, namespace: str) -> None:
    mirror = Mirror()
    async with mirroring(client, namespace, mirror) as reflector:
        # Something else changes, so that the store's revision moves on.
        await client.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {"x": "y"}}})
        wanted = await revision(client, namespace)
        assert wanted > reflector.revision
        await asyncio.wait_for(reflector.passed(wanted), 60)
        assert reflector.revision >= wanted
        assert reflector.relists == 0
        await asyncio.wait_for(reflector.passed(wanted), 60)
        await create(client, namespace, "after", "1")
        await until(lambda: "after" in mirror.sizes, "the stream goes on")


async def test_passed_returns_with_the_event(client: Client, namespace: str) -> None:
    mirror = Mirror()
    async with mirroring(client, namespace, mirror) as reflector:
        await create(client, namespace, "a", "1")
        await asyncio.wait_for(reflector.passed(await revision(client, namespace)), 60)
        assert mirror.sizes == {"a": "1"}
