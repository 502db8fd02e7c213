"""`top --watch`: a table for each change, and Ctrl-C ends it well."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from rich.text import Text
from typer.testing import CliRunner

from builders import H200
from cardquota.cli.commands import watched_top
from cardquota.cli.commands.published_queues import TopMeta, TopQueue
from cardquota.cli.commands.watched_top import WatchedQueues, fitting
from cardquota.cli.output import ClusterChoice, Output
from cardquota.cli.plugin import plugin

from ..answering_api import LEASE, NOT_SERVED, answer_led, answering


class _EnoughError(Exception):
    """Ends a table that goes on for ever."""


PATH = "/apis/scheduling.volcano.sh/v1beta1/queues"


def a_queue(name: str, used: int, revision: int = 1) -> dict[str, Any]:
    meta = {"name": name, "uid": name, "resourceVersion": str(revision)}
    columns = {"cards": f"{H200} {used}/3"}
    return {"metadata": meta, "status": {"columns": columns, "cards": [{"name": H200}]}}


@asynccontextmanager
async def watched(
    folder: Path, events: "asyncio.Queue[bytes]", refused: list[int] | None = None
) -> AsyncIterator[Path]:
    """The kubeconfig for an API server with one queue, and with events as a test wants them. A
    watch is answered with the status that is in `refused`, if one is.
    """

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query and refused:
            forbidden = {"reason": "Forbidden", "message": "no"}
            return web.json_response(forbidden, status=refused[0])
        if "watch" not in request.query:
            meta = {"resourceVersion": "5"}
            return web.json_response({"metadata": meta, "items": [a_queue("one", 1)]})
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            if not (event := await events.get()):
                return response
            await response.write(event + b"\n")

    app = web.Application()
    app.router.add_get(PATH, answer)
    app.router.add_get(LEASE, answer_led)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    config = folder / "config"
    config.write_text(
        "current-context: x\n"
        f"clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{runner.addresses[0][1]}'}}}}]\n"
        "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
    )
    try:
        yield config
    finally:
        await runner.cleanup()


@pytest.mark.slow
@pytest.mark.usefixtures("heeding_ctrl_c")
async def test_a_pipe_gets_a_table_for_each_change(tmp_path: Path) -> None:
    events: asyncio.Queue[bytes] = asyncio.Queue()
    async with watched(tmp_path, events) as config:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cardquota.cli.plugin", "top", "--watch"),
            *("--kubeconfig", str(config)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        async with asyncio.timeout(60):
            head = await process.stdout.readline()
            assert head.split()[:3] == [b"NAME", b"STATE", b"CARDS"]
            assert b" 1/3 " in await process.stdout.readline()
            # What changes nothing that is shown is no change.
            same = a_queue("one", 1, revision=6)
            await events.put(json.dumps({"type": "MODIFIED", "object": same}).encode())
            other = a_queue("two", 2, revision=7)
            await events.put(json.dumps({"type": "ADDED", "object": other}).encode())
            assert await process.stdout.readline() == b"\n"
            assert await process.stdout.readline()
            assert (await process.stdout.readline()).split()[0] == b"one"
            assert (await process.stdout.readline()).split()[0] == b"two"
            process.send_signal(signal.SIGINT)
            rest, said = await process.communicate()
    assert (process.returncode, rest, said) == (0, b"", b"")


async def test_who_may_not_list_queues_is_told_once(tmp_path: Path) -> None:
    forbidden = (403, '{"reason": "Forbidden", "message": "no"}')
    for answer, says in ((forbidden, "you may not list queues: no"), (NOT_SERVED, "no definition")):
        async with answering({PATH: answer}, tmp_path) as config:
            arguments = ["top", "--watch", "--kubeconfig", str(config)]
            done = await asyncio.to_thread(CliRunner().invoke, plugin, arguments)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert says in done.stderr


async def test_who_may_not_watch_queues_is_told_once(tmp_path: Path) -> None:
    async with watched(tmp_path, asyncio.Queue(), [403]) as config:
        arguments = ["top", "--watch", "--kubeconfig", str(config)]
        done = await asyncio.to_thread(CliRunner().invoke, plugin, arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "cardquota: you may not watch queues: no\n"


async def test_who_may_not_watch_any_more_is_told_why_the_table_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not that nobody answers."""
    monkeypatch.setattr(watched_top, "PERIOD", 0.01)
    monkeypatch.setattr(watched_top, "_OLD", 0.0)
    events: asyncio.Queue[bytes] = asyncio.Queue()
    refused: list[int] = []
    tables: list[str] = []
    told = asyncio.Event()

    def show(table: list[Text]) -> None:
        tables.append(table[0].plain)
        if len(tables) == 1:
            refused.append(403)
            events.put_nowait(b"")
        elif tables[-1].startswith("note: "):
            told.set()

    async with watched(tmp_path, events, refused) as config:
        following = asyncio.create_task(
            watched_top.follow("cardquota-system", ClusterChoice(config), Output.TEXT, show)
        )
        async with asyncio.timeout(60):
            await told.wait()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    assert tables[-1] == "note: you may not watch queues: no: this table may be old"


def test_a_terminal_gets_as_many_lines_as_it_has_room_for() -> None:
    table = [Text(str(number)) for number in range(5)]
    assert fitting(table, 5) == table
    assert [line.plain for line in fitting(table, 3)] == ["0", "1", "and 3 more lines"]
    assert [line.plain for line in fitting(table, 0)] == ["and 5 more lines"]


def test_what_is_known_follows_the_watch() -> None:
    queues = WatchedQueues()
    for name in ("b", "a"):
        queues.seen(TopQueue(metadata=TopMeta(name=name), status={"state": "Open"}))
    assert queues.changed
    assert [queue.name for queue in queues.all().queues] == ["a", "b"]
    queues.changed = False
    queues.seen(TopQueue(metadata=TopMeta(name="a"), status={"state": "Open"}))
    queues.gone("", "unheard", "uid")
    before = queues.changed
    queues.undecodable("", "a", "uid", "broken")
    assert (before, queues.changed) == (False, True)
    assert queues.all().unreadable == ["a: broken"]
    queues.gone("", "a", "uid")
    queues.gone("", "b", "uid")
    assert (queues.all().queues, queues.all().unreadable) == ([], [])
