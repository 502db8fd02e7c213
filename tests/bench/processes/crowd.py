"""Many clients of the API server at once, in one event loop.

The benchmark's process does nothing else while it measures: the plane, the product and the
webhooks run in processes of their own. Connections are TLS and are kept.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final, Self, TypeVar

import aiohttp
import yaml

from cardquota_dev.testing import Cluster

from .pod_watch import PodWatch

MERGE: Final = "application/merge-patch+json"
_JSON: Final = "application/json"
_PATIENCE: Final = 60.0
"""Seconds for anything that is waited for; far more than any of it takes."""
_POLL: Final = 0.05
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """A request that can be sent."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = _JSON
    accept: str = _JSON


def call(
    method: str, path: str, body: object, content_type: str = _JSON, *, accept: str = _JSON
) -> EncodedRequest:
    """With its body encoded beforehand, so that this is not measured."""
    return EncodedRequest(method, path, json.dumps(body).encode(), content_type, accept)


async def each(
    send: Callable[[T], Awaitable[object]], things: Iterable[T], at_a_time: int
) -> float:
    """Send all, so many at a time: seconds from the first to the last answer."""
    waiting = iter(things)

    async def one() -> None:
        for thing in waiting:
            await send(thing)

    begun = monotonic()
    async with asyncio.TaskGroup() as group:
        for _ in range(at_a_time):
            group.create_task(one())
    return monotonic() - begun


class Crowd:
    """Sends requests as the administrator, whom no flow control holds up, or as another user."""

    def __init__(
        self, cluster: Cluster, *, kubeconfig: Path | None = None, as_user: str = ""
    ) -> None:
        """`kubeconfig`: of the user; without one, the administrator's. `as_user`: whom the
        administrator impersonates, with all rights.
        """
        found = yaml.safe_load((kubeconfig or cluster.kubeconfig).read_text())
        self._server = str(found["clusters"][0]["cluster"]["server"])
        self._token = str(found["users"][0]["user"]["token"])
        self._as = {"Impersonate-User": as_user, "Impersonate-Group": "system:masters"}
        if not as_user:
            self._as.clear()
        self._tls = ssl.create_default_context(cafile=cluster.admin.configuration.ssl_ca_cert)

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            self._server,
            connector=aiohttp.TCPConnector(limit=0, ssl=self._tls),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={
                **self._as,
                "Authorization": f"Bearer {self._token}",
                "Accept": _JSON,
                # Compressing costs the API server more than the wire costs anybody.
                "Accept-Encoding": "identity",
            },
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def send(self, wanted: EncodedRequest) -> bytes:
        """The answer's body. Whatever is refused ends the benchmark."""
        async with self._session.request(
            wanted.method,
            wanted.path,
            data=wanted.body or None,
            headers={"Content-Type": wanted.content_type, "Accept": wanted.accept},
        ) as answer:
            body = await answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"{wanted.method} {wanted.path}: {answer.status} {body!r}")
            return body

    async def send_all(self, calls: Iterable[EncodedRequest], at_a_time: int) -> float:
        """Seconds from the first request to the last answer."""
        return await each(self.send, calls, at_a_time)

    async def get(self, path: str) -> Any:
        """An object or a list, decoded."""
        return json.loads(await self.send(EncodedRequest("GET", path)))

    async def make_namespace(self, name: str, labels: dict[str, str]) -> str:
        """A namespace in which pods can be created; the path of its pods."""
        body = {"metadata": {"name": name, "labels": labels}}
        await self.send(call("POST", "/api/v1/namespaces", body))
        accounts = f"/api/v1/namespaces/{name}/serviceaccounts"
        deadline = monotonic() + _PATIENCE
        while not (await self.get(accounts))["items"]:
            if monotonic() > deadline:
                raise RuntimeError(f"no service account in {name}")
            await asyncio.sleep(_POLL)
        return f"/api/v1/namespaces/{name}/pods"

    async def clear(self, pods: str) -> None:
        """Delete all pods of a namespace; returns once they are gone."""
        options = {"gracePeriodSeconds": 0}
        deadline = monotonic() + _PATIENCE
        await self.send(call("DELETE", pods, options))
        while (await self.get(f"{pods}?limit=1"))["items"]:
            if monotonic() > deadline:
                raise RuntimeError(f"{pods} are not gone")
            await asyncio.sleep(_POLL)

    @asynccontextmanager
    async def watching(self, pods: str, *, patience: float = _PATIENCE) -> AsyncIterator[PodWatch]:
        """A watch of a namespace's pods, from now on. `patience`: seconds for what it waits for."""
        revision = (await self.get(f"{pods}?limit=1"))["metadata"]["resourceVersion"]
        watch = PodWatch(revision, patience=patience)
        following = asyncio.create_task(self._follow(pods, watch))
        try:
            yield watch
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _follow(self, pods: str, watch: PodWatch) -> None:
        """The API server ends a watch that does not keep up; it goes on from where it was."""
        forever = aiohttp.ClientTimeout(total=None)
        try:
            while True:
                params = {"watch": "true", "resourceVersion": watch.revision}
                async with self._session.get(pods, params=params, timeout=forever) as answer:
                    answer.raise_for_status()
                    await watch.read(answer.content)
        except Exception as error:  # noqa: BLE001
            watch.fail(error)
