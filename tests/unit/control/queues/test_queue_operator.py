"""Kopf ends by an error of its watch, and is started again within the term.

The real Kopf, against a server of a few lines: a real API server sends no such error on demand.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web

from builders import H200, a_queue
from cardquota.control.queues import QueueOperator
from cardquota.control.queues import queue_operator as module
from cardquota.quota import vocabulary as v

from ..fakes import a_world, until
from .queue_numbers import numbers

GROUP_VERSION = f"{v.API_GROUP}/{v.VERSION}"
QUEUES = {"name": "queues", "singularName": "queue", "namespaced": False, "kind": "Queue"}
QUEUES |= {"verbs": ["list", "watch", "patch", "get"]}
NAMESPACES = {**QUEUES, "name": "namespaces", "singularName": "namespace", "kind": "Namespace"}
DISCOVERY = {
    "/api": {"versions": ["v1"]},
    "/api/v1": {"groupVersion": "v1", "resources": [NAMESPACES]},
    "/apis": {
        "groups": [
            {
                "name": v.API_GROUP,
                "versions": [{"groupVersion": GROUP_VERSION, "version": v.VERSION}],
                "preferredVersion": {"groupVersion": GROUP_VERSION, "version": v.VERSION},
            }
        ]
    },
    f"/apis/{GROUP_VERSION}": {"groupVersion": GROUP_VERSION, "resources": [QUEUES]},
}


GRACE = 5.0
"""Seconds that Kopf gives what it started itself when it ends by an error."""


class QueueServer:
    """Has no queues unless told; watches of them fail as long as `fails`; no patch is taken."""

    def __init__(self) -> None:
        self.queues: list[dict[str, object]] = []
        self.patches = 0
        self.watches = 0
        self.fails = True
        self.definitions: list[dict[str, object]] = []
        self.said: set[str | None] = set()
        """Who asked, by the header `Authorization`."""

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        self.said.add(request.headers.get("Authorization"))
        if request.path in DISCOVERY:
            return web.json_response(DISCOVERY[request.path])
        if request.method == "PATCH":
            self.patches += 1
            said = {"message": "queue state must be in [Open Closed]"}
            return web.json_response(said, status=403)
        if "watch" not in request.query:
            found = {"queues": self.queues, "customresourcedefinitions": self.definitions}
            items = found.get(request.path.rpartition("/")[2], [])
            return web.json_response({"metadata": {"resourceVersion": "5"}, "items": items})
        stream = web.StreamResponse()
        await stream.prepare(request)
        of_queues = request.path.endswith("/queues")
        self.watches += of_queues
        if of_queues and self.fails:
            status = {"code": 500, "reason": "InternalError", "message": "cannot decode"}
            await stream.write(json.dumps({"type": "ERROR", "object": status}).encode() + b"\n")
            return stream
        await asyncio.Event().wait()
        raise AssertionError


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[QueueServer]:
    server = QueueServer()
    runner = web.ServerRunner(web.Server(server), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": address}}],
        "users": [{"name": "u", "user": {"tokenFile": "token"}}],
    }
    (tmp_path / "token").write_text("t\n")
    (tmp_path / "config").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    monkeypatch.setattr(module, "RESTART", 0.01)
    yield server
    await runner.cleanup()


META = {"name": "queue", "uid": "uid-queue", "resourceVersion": "4"}


def an_operator(unwritten: Callable[[int], None] = lambda _: None) -> QueueOperator:
    """Which has a queue's view already."""
    operator = QueueOperator(standalone=True, unwritten=unwritten)
    operator.post("queue", numbers(a_world(a_queue().with_quota({H200: 1}))))
    return operator


def started(unwritten: Callable[[int], None] = lambda _: None) -> QueueOperator:
    operator = an_operator(unwritten)
    operator.start(lambda: None)
    return operator


@pytest.mark.slow
async def test_kopf_is_started_again_in_the_same_term(server: QueueServer) -> None:
    operator = started()
    await until(lambda: server.watches == 1)
    server.fails, server.queues, server.patches = False, [{"metadata": META}], 0
    await until(lambda: server.watches == 2)
    await until(lambda: server.patches)
    await operator.stop(60)
    assert not [thread for thread in threading.enumerate() if thread.name == "kopf"]


@pytest.mark.slow
async def test_it_is_started_again_when_the_definition_of_queues_is_another(
    server: QueueServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK", 0.02)
    operator = an_operator()
    server.fails = False
    moved: list[bool] = []
    operator.start(lambda: moved.append(operator.shows_conditions))
    await until(lambda: server.watches == 1)
    shown = [operator.shows_conditions]
    server.definitions = [{"spec": {"versions": [{"name": v.VERSION, "schema": {}}]}}]
    await until(lambda: server.watches == 2)
    assert [*shown, operator.shows_conditions] == [True, False]
    assert moved == [False]
    await operator.stop(60)


async def test_a_write_that_waits_for_another_try_delays_no_end(server: QueueServer) -> None:
    """As of a queue that is Closing, of which Volcano's webhook lets nothing be written."""
    server.fails, server.queues = False, [{"metadata": META, "status": {"state": "Closing"}}]
    unwritten: list[int] = []
    operator = started(unwritten.append)
    await until(lambda: server.patches and unwritten)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await operator.stop(60)
    assert loop.time() - begun < GRACE / 2
    assert unwritten == [1, 0], "of what is old, and that nobody knows it any more"
    assert not [thread for thread in threading.enumerate() if thread.name == "kopf"]


async def test_it_ends_at_once_when_the_term_does(server: QueueServer) -> None:
    server.fails = False
    operator = started()
    await until(lambda: server.watches)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await operator.stop(60)
    assert server.said == {"Bearer t"}
    assert loop.time() - begun < GRACE
    assert not [thread for thread in threading.enumerate() if thread.name == "kopf"]


@pytest.mark.slow
async def test_a_term_that_ends_before_kopf_is_up(server: QueueServer) -> None:
    operator = started()
    await operator.stop(60)
    # Kopf, if it was on its way up, tries to reach its closed server a few times more.
    await until(lambda: "kopf" not in [thread.name for thread in threading.enumerate()])
