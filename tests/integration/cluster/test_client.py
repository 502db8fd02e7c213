import asyncio

import msgspec
import pytest

from cardquota.cluster.api import APPLY_PATCH, JSON_PATCH, ApiError, Client, OutcomeUnknown
from harness.proxy import Proxy


def _map(name: str, **data: str) -> dict[str, object]:
    return {"metadata": {"name": name}, "data": data}


def _data(body: bytes) -> dict[str, str]:
    data: dict[str, str] = msgspec.json.decode(body)["data"]
    return data


async def test_every_verb(client: Client, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await client.post(path, _map("a", x="1"))
    assert _data(await client.get(f"{path}/a")) == {"x": "1"}
    await client.send("PUT", f"{path}/a", msgspec.json.encode(_map("a", x="2")))
    await client.patch(f"{path}/a", {"data": {"y": "3"}})
    change = [{"op": "replace", "path": "/data/x", "value": "4"}]
    await client.patch(f"{path}/a", change, content_type=JSON_PATCH)
    applied = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
        "data": {"z": ""},
    }
    got = await client.patch(
        f"{path}/a", applied, content_type=APPLY_PATCH, params={"fieldManager": "me"}
    )
    assert _data(got) == {"x": "4", "y": "3", "z": ""}
    await client.send("DELETE", f"{path}/a")
    with pytest.raises(ApiError) as gone:
        await client.get(f"{path}/a")
    assert (gone.value.status, gone.value.reason) == (404, "NotFound")


async def test_a_conflict_is_definite(client: Client, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await client.post(path, _map("a"))
    stale = {"metadata": {"resourceVersion": "1"}, "data": {"x": "1"}}
    with pytest.raises(ApiError) as conflict:
        await client.patch(f"{path}/a", stale)
    assert conflict.value.status == 409


async def test_no_answer_is_no_knowledge(
    client: Client, proxied: Client, proxy: Proxy, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await proxied.get(path)
    proxy.stall()
    with pytest.raises(OutcomeUnknown):
        await proxied.post(path, _map("late"), timeout=0.3)
    lost = asyncio.create_task(proxied.send("PUT", f"{path}/b", _map("b")))
    await asyncio.sleep(0)
    proxy.cut(stay_closed=True)
    with pytest.raises(OutcomeUnknown):
        await lost
    with pytest.raises(OutcomeUnknown):
        await proxied.get(path)


async def test_a_patch_may_be_answered_with_metadata_alone(client: Client, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await client.post(path, _map("a", x="1"))
    change = {"metadata": {"annotations": {"note": "x"}}}
    whole = msgspec.json.decode(await client.patch(f"{path}/a", change))
    brief = msgspec.json.decode(await client.patch(f"{path}/a", change, metadata_only=True))
    assert whole["data"] == {"x": "1"}
    assert "data" not in brief
    for key in ("uid", "resourceVersion"):
        assert brief["metadata"][key] == whole["metadata"][key]
