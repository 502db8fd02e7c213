"""The four ways through the product, and the files on each: what a reader has to open.

Each way is gone once by a replica in this process, which has just read a small cluster. Counted are
the product's files of which a function ran, until the last write of the way: what else follows from
the same event in that time, such as reports, counts too. No figure is fixed here.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, cast

import aiohttp
import msgspec

import cardquota
import cardquota_webhooks
from builders import H200, a_group, a_namespace, a_node, a_pod, a_queue
from builders.body import Body
from cardquota.cluster.api import Client
from cardquota.control.queues import QueueReconciler
from cardquota.quota.reports import QueueReport
from cardquota_dev.plane.ports import free_ports

from .fake_clock_loop import FakeClockLoop
from .replica import Replica, TakesAll

_PRODUCT: Final = tuple(
    f"{Path(package.__file__ or '').parent}/" for package in (cardquota, cardquota_webhooks)
)
_WAIT: Final = 10.0
"""Seconds after which a way that has not come to its end has none."""
_REVIEW: Final = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}


class Journeys:
    """A replica that leads, and the files on the ways that were gone. To be made in its loop."""

    def __init__(self) -> None:
        self._writes = _Writes()
        self._replica = Replica(default_queue="team", writes=self._writes)
        self._status = _PostedStatus(self._writes)
        self.files: dict[str, frozenset[str]] = {}

    async def review(self) -> None:
        """The way of who creates a pod, through a server that listens."""
        async with self._leading():
            http = self._replica.server.http_for(lambda _: True)
            (port,) = free_ports(1)
            await http.start("127.0.0.1", port, None)
            await self._way("create: the HTTP handler to the answer", self._create(port))
            await http.stop(0.1)

    async def decide(self) -> None:
        """The ways of who watches, on a clock that goes on only when nobody has anything to do:
        so nothing comes between by chance.
        """
        async with self._leading():
            await self._way("gate: watch event to the patch", self._gate)
            await self._way("status: Queue edited to its status", self._edit_queue)
            await self._way("group: PodGroup with card.request to Inqueue", self._group)

    @asynccontextmanager
    async def _leading(self) -> AsyncIterator[None]:
        replica = self._replica
        self._see("nodes", a_node("node-1").with_cards(H200, 8))
        self._see("namespaces", a_namespace("team").with_default_queue("team"))
        self._see("queues", self._queue(4))
        replica.lead(self._status)
        self._status.seen(self._queue(4).body)
        try:
            await self._writes.until("queues/team/status")
            yield
        finally:
            await replica.end()

    async def _way(self, name: str, go: Callable[[], Awaitable[None]]) -> None:
        await asyncio.sleep(1.1)  # what is written once in a second is over
        self._writes.paths.clear()
        files: set[str] = set()
        with _traced(files):
            await go()
        self.files[name] = frozenset(files)

    def _create(self, port: int) -> Callable[[], Awaitable[None]]:
        request = {
            "uid": "1",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "operation": "CREATE",
            "namespace": "team",
            "userInfo": {"username": "kube"},
        }

        async def go() -> None:
            pod = a_pod("new").in_namespace("team").naming(H200).asking_for(1)
            body = {**_REVIEW, "request": {**request, "object": pod.body}}
            url = f"http://127.0.0.1:{port}/mutate/secret"
            async with (
                aiohttp.ClientSession() as session,
                session.post(url, json=body) as answer,
            ):
                assert (await answer.json())["response"]["allowed"]

        return go

    async def _gate(self) -> None:
        pod = a_pod("new").in_namespace("team").naming(H200).asking_for(1).gated().managed()
        await self._watched("pods", pod)
        await self._writes.until("pods/new")

    async def _edit_queue(self) -> None:
        queue = self._queue(6)
        await self._watched("queues", queue)
        self._status.seen(queue.body)
        await self._writes.until("queues/team/status")

    async def _group(self) -> None:
        group = a_group("gang").in_namespace("team").in_queue("team").of(2).asking({H200: 2})
        await self._watched("podgroups", group)
        await self._writes.until("podgroups/gang")

    def _queue(self, cards: int) -> Body:
        return a_queue("team").with_quota({H200: cards})

    def _newer(self, body: Body) -> bytes:
        self._writes.revision += 1
        return json.dumps(body.at_revision(self._writes.revision).body).encode()

    def _see(self, kind: str, body: Body) -> None:
        self._replica.deliveries[kind].changed(msgspec.Raw(self._newer(body)))

    async def _watched(self, kind: str, body: Body) -> None:
        line = b'{"type":"MODIFIED","object":%s}\n' % self._newer(body)
        await self._replica.reflector(kind, [line]).follow()


class _Writes(TakesAll):
    """Takes all, and knows where it was written."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[str] = []
        self._news = asyncio.Event()

    async def patch(self, *args: object, **_: object) -> bytes:
        path = str(args[0])
        self.paths.append(path)
        self._news.set()
        return self._taken()

    async def until(self, end: str) -> None:
        """Something was written to a path with this end."""
        async with asyncio.timeout(_WAIT):
            while not any(path.endswith(end) for path in self.paths):
                self._news.clear()
                await self._news.wait()


class _PostedStatus:
    """Stands for Kopf: what it would call, in this loop. Kopf's own watch needs an API server."""

    def __init__(self, writes: _Writes) -> None:
        client = cast("Client", writes)
        self._reconciler = QueueReconciler(client, lambda: "2026-01-01T00:00:00Z", standalone=True)

    shows_conditions = True

    def start(self, moved: object) -> None: ...

    def post(self, queue: str, view: QueueReport | None) -> None:
        assert view is not None, queue
        self._reconciler.want(view.uid, view)

    def seen(self, queue: dict[str, Any]) -> None:
        self._reconciler.seen(queue)

    async def stop(self) -> None:
        self._reconciler.close()


@contextmanager
def _traced(files: set[str]) -> Iterator[None]:
    """Adds the product's files of which a function is called meanwhile, in this thread."""

    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(_PRODUCT):
            files.add(code.co_filename)

    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(None)


def main() -> None:
    """Print the number of files on each way; with `--files` their names."""
    files: dict[str, frozenset[str]] = {}
    for loop, go in (
        (asyncio.SelectorEventLoop, Journeys.review),
        (FakeClockLoop, Journeys.decide),
    ):
        with asyncio.Runner(loop_factory=loop) as runner:
            files |= runner.run(_gone(go))
    for name, on_the_way in files.items():
        sys.stdout.write(f"{len(on_the_way):3} files  {name}\n")
        if "--files" in sys.argv:
            sys.stdout.writelines(f"           {file}\n" for file in sorted(on_the_way))


async def _gone(go: Callable[[Journeys], Awaitable[None]]) -> dict[str, frozenset[str]]:
    journeys = Journeys()
    await go(journeys)
    return journeys.files


if __name__ == "__main__":
    main()
