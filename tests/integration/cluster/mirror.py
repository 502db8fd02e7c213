"""A sink that mirrors a collection, and what the API server itself says is in it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from cardquota.cluster.api import Client
from cardquota.cluster.watch import Delivery, Reflector
from cardquota.loop import Backoff
from cardquota.quota.objects import Meta, Wire

MAPS = "configmaps"
PODS = "pods"
NOT_OURS = {"fieldSelector": "metadata.name!=kube-root-ca.crt"}


class Sizes(Wire):
    size: str


class SizedMeta(Meta, kw_only=True):
    annotations: Sizes


class Sized(Wire):
    """Any object with the annotation `size`; one without is undecodable."""

    metadata: SizedMeta


class Mirror:
    """What a sink was told, as it stands now: uid and size by name; the size is None if unknown.

    Holds the reflector to its word: nothing older than before, nothing after its end.
    """

    def __init__(self) -> None:
        self.holds: dict[str, tuple[str, str | None]] = {}
        self.ended: set[str] = set()
        self._revisions: dict[str, int] = {}

    @property
    def sizes(self) -> dict[str, str | None]:
        """By name."""
        return {name: size for name, (_, size) in self.holds.items()}

    def seen(self, obj: Sized) -> None:
        meta = obj.metadata
        revision = int(meta.resource_version)
        assert meta.uid not in self.ended
        assert revision >= self._revisions.get(meta.uid, 0)
        self._revisions[meta.uid] = revision
        self.holds[meta.name] = meta.uid, meta.annotations.size

    def gone(self, namespace: str, name: str, uid: str) -> None:
        self.ended.add(uid)
        if self.holds.get(name, ("", None))[0] == uid:
            del self.holds[name]

    def undecodable(self, namespace: str, name: str, uid: str, error: str) -> None:
        self.holds[name] = uid, None


@asynccontextmanager
async def reflecting(reflector: Reflector[Any], *, within: float) -> AsyncIterator[None]:
    """It has synced within the seconds, and runs on; it never ends by itself."""
    task = asyncio.create_task(reflector.run())
    try:
        await asyncio.wait_for(reflector.wait_synced(), within)
        yield
    finally:
        assert not task.done()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def mirroring(
    client: Client, namespace: str, mirror: Mirror, *, kind: str = MAPS, **options: Any
) -> AsyncIterator[Reflector[Sized]]:
    """A reflector of objects with a size, synced and running."""
    reflector = Reflector(
        client,
        path=path_of(namespace, kind),
        delivery=Delivery(kind, Sized, mirror),
        params=NOT_OURS if kind == MAPS else None,
        backoff=Backoff(0.02, 0.2),
        **options,
    )
    async with reflecting(reflector, within=60):
        yield reflector


async def listed(
    client: Client, namespace: str, kind: str = MAPS
) -> dict[str, tuple[str, str | None]]:
    """A fresh list, in the mirror's form."""
    params = NOT_OURS if kind == MAPS else {}
    body = await client.get(path_of(namespace, kind), params=params, timeout=60)
    metas = [item["metadata"] for item in msgspec.json.decode(body)["items"]]
    return {m["name"]: (m["uid"], m.get("annotations", {}).get("size")) for m in metas}


async def create(
    client: Client, namespace: str, name: str, size: str | None, kind: str = MAPS, text: str = ""
) -> None:
    annotations = {"text": text} | ({} if size is None else {"size": size})
    body: dict[str, object] = {"metadata": {"name": name, "annotations": annotations}}
    if kind == PODS:
        containers = [{"name": "main", "image": "any"}]
        # A scheduler that does not exist: it stays as it is.
        body["spec"] = {"containers": containers, "schedulerName": "none"}
    await client.post(path_of(namespace, kind), body, timeout=60)


async def resize(
    client: Client, namespace: str, name: str, size: str | None, kind: str = MAPS
) -> None:
    body = {"metadata": {"annotations": {"size": size}}}
    await client.patch(f"{path_of(namespace, kind)}/{name}", body, timeout=60)


async def delete(client: Client, namespace: str, name: str, kind: str = MAPS) -> None:
    await client.send("DELETE", f"{path_of(namespace, kind)}/{name}", timeout=60)


async def much_happens(client: Client, namespace: str, kind: str = MAPS) -> None:
    """In a gap: of what `a_few` made, some changed, some deleted, one made again; and new ones."""
    await resize(client, namespace, "changed", "2", kind)
    await delete(client, namespace, "deleted", kind)
    await delete(client, namespace, "again", kind)
    await create(client, namespace, "again", "3", kind)
    await create(client, namespace, "new", "4", kind)
    await delete(client, namespace, "bad", kind)
    await create(client, namespace, "worse", None, kind)
    await create(client, namespace, "short-lived", "5", kind)
    await delete(client, namespace, "short-lived", kind)


async def a_few(client: Client, namespace: str, kind: str = MAPS) -> None:
    for name in ("kept", "changed", "deleted", "again"):
        await create(client, namespace, name, "1", kind)
    await create(client, namespace, "bad", None, kind)


def path_of(namespace: str, kind: str = MAPS) -> str:
    return f"/api/v1/namespaces/{namespace}/{kind}"
