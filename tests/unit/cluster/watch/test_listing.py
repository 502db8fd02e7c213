"""A list that is read to its end: each page may be requested while the one before is read."""

import asyncio
import json
from contextlib import aclosing
from typing import Any, cast

import msgspec
import pytest

from cardquota.cluster.api import ApiError, Client
from cardquota.cluster.watch import Unreadable, list_objects
from cardquota.quota.objects import Namespace

NAMES = ("a", "b", "c", "d", "e")


class PagedApi:
    """Two objects a page. A fake: it tells when it is asked."""

    def __init__(self, *, ends_at: int = 10) -> None:
        self.asked: list[str] = []
        self.ends_at = ends_at

    async def get(self, _: str, *, params: dict[str, str], **__: Any) -> bytes:
        self.asked.append(params.get("continue", ""))
        first = int(params.get("continue") or 0)
        if first >= self.ends_at:
            raise ApiError(410, "Expired", "too old")
        some = NAMES[first : first + 2]
        items = [{"metadata": {"name": name, "uid": name} if name != "d" else 5} for name in some]
        meta = {"resourceVersion": "1"}
        if first + 2 < len(NAMES):
            meta["continue"] = str(first + 2)
        await asyncio.sleep(0)
        return json.dumps({"metadata": meta, "items": items}).encode()


async def names(api: PagedApi, *, ahead: bool, most: int = 10) -> list[str]:
    found: list[str] = []
    listed = list_objects(cast("Client", api), "/x", Namespace, page_size=2, ahead=ahead)
    async with aclosing(listed) as objects:
        async for one in objects:
            found.append("?" if isinstance(one, Unreadable) else one.metadata.name)
            if len(found) == most:
                break
    return found


@pytest.mark.parametrize("ahead", [False, True])
async def test_all_pages_in_their_order(ahead: bool) -> None:
    api = PagedApi()
    assert await names(api, ahead=ahead) == ["a", "b", "c", "?", "e"]
    assert api.asked == ["", "2", "4"]


async def test_a_page_ahead_is_on_its_way_while_the_one_before_is_read() -> None:
    api = PagedApi()
    assert await names(api, ahead=True, most=1) == ["a"]
    assert api.asked == ["", "2"]
    assert len(asyncio.all_tasks()) == 1  # and is given up with the list
    api = PagedApi()
    assert await names(api, ahead=False, most=1) == ["a"]
    assert api.asked == [""]


@pytest.mark.parametrize("ahead", [False, True])
async def test_a_page_that_fails_fails_the_list(ahead: bool) -> None:
    with pytest.raises(ApiError):
        await names(PagedApi(ends_at=2), ahead=ahead)


async def test_whoever_looks_sees_each_object_as_it_came() -> None:
    seen: list[bytes] = []

    def look(raw: msgspec.Raw) -> None:
        seen.append(bytes(raw))

    api = cast("Client", PagedApi())
    async for _ in list_objects(api, "/x", Namespace, page_size=2, look=look):
        pass
    assert [json.loads(one)["metadata"] for one in seen][3:] == [5, {"name": "e", "uid": "e"}]
