"""`top --watch`: a table for each change, and Ctrl-C ends it well."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from builders import H200
from cardquota.cli.commands import watched_top
from cardquota.cli.commands.watched_top import fitting
from cardquota.cli.output import ClusterChoice, Output

from ..answering_api import FORBIDDEN, NEVER, NOT_SERVED, Answer, answering, called

PATH = "/apis/scheduling.volcano.sh/v1beta1/queues"


def listing(revision: int, **used: int) -> Answer:
    """Queues by name, with what each uses."""
    queues: list[dict[str, Any]] = []
    for name, amount in used.items():
        meta = {"name": name, "uid": name, "resourceVersion": str(revision)}
        columns = {"cards": f"{H200} {amount}/3"}
        queues.append({"metadata": meta, "status": {"columns": columns, "cards": [{"name": H200}]}})
    meta = {"resourceVersion": str(revision)}
    return 200, json.dumps({"metadata": meta, "items": queues})


@pytest.mark.slow
@pytest.mark.usefixtures("heeding_ctrl_c")
async def test_a_pipe_gets_a_table_for_each_change(tmp_path: Path) -> None:
    answers = {PATH: listing(5, one=1)}
    async with answering(answers, tmp_path) as config:
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
            answers[PATH] = listing(7, one=1, two=2)
            assert await process.stdout.readline() == b"\n"
            assert await process.stdout.readline()
            assert (await process.stdout.readline()).split()[0] == b"one"
            assert (await process.stdout.readline()).split()[0] == b"two"
            process.send_signal(signal.SIGINT)
            rest, said = await process.communicate()
    assert (process.returncode, rest, said) == (0, b"", b"")


async def test_who_may_not_list_queues_is_told_once(tmp_path: Path) -> None:
    for answer, says in ((FORBIDDEN, "you may not list queues: no"), (NOT_SERVED, "no definition")):
        async with answering({PATH: answer}, tmp_path) as config:
            done = await called(config, "top", "--watch")
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert says in done.stderr


@pytest.mark.parametrize(
    ("answer", "why", "patience"),
    [
        (FORBIDDEN, "you may not list queues: no", 60.0),
        (NEVER, "the API server does not answer", 0.01),
    ],
)
async def test_whoever_cannot_list_them_any_more_is_told_why_the_table_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer, why: str, patience: float
) -> None:
    monkeypatch.setattr(watched_top, "PERIOD", 0.01)
    monkeypatch.setattr(watched_top, "PATIENCE", patience)
    answers = {PATH: listing(5, one=1)}
    tables: list[str] = []
    told = asyncio.Event()

    def asked(_: str, __: dict[str, str]) -> None:
        number = len(tables)
        answers[PATH] = listing(6, one=1) if not number else answer

    def show(table: list[Text]) -> None:
        tables.append(table[0].plain)
        if len(tables) > 1:
            told.set()

    async with answering(answers, tmp_path, asked) as config:
        following = asyncio.create_task(
            watched_top.follow("cardquota-system", ClusterChoice(config), Output.TEXT, show)
        )
        async with asyncio.timeout(60):
            await told.wait()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    assert tables[1:] == [f"note: {why}: this table may be old"]


def test_a_terminal_gets_as_many_lines_as_it_has_room_for() -> None:
    table = [Text(str(number)) for number in range(5)]
    assert fitting(table, 5) == table
    assert [line.plain for line in fitting(table, 3)] == ["0", "1", "and 3 more lines"]
    assert [line.plain for line in fitting(table, 0)] == ["and 5 more lines"]
