"""Answers to Volcano get lost, and what was asked is done all the same; or nothing is asked."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from cardquota_dev.plane.credentials.keys import make_keys
from cardquota_dev.plane.folder import Folder
from cardquota_dev.plane.volcano.scheduler.configuration import ExtenderArguments
from cardquota_dev.plane.volcano.scheduler.enqueue_vote import PERMIT, REJECT, ask_extender
from chaos.vote_way import VoteWay

JOB = {"UID": "team/g"}


class CountedVotes:
    """Permits everything, over HTTPS, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, http: web.Request) -> web.Response:
        self.asked += 1
        return web.json_response({"status": PERMIT})


@pytest.fixture
async def votes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[CountedVotes, VoteWay]]:
    folder = Folder(tmp_path / "plane")
    folder.prepare()
    folder.clear()
    keys = make_keys(folder)
    monkeypatch.setenv("SSL_CERT_FILE", str(keys.authority))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(keys.certificate, keys.key)
    found = CountedVotes()
    app = web.Application()
    app.add_routes([web.post("/enqueue", found.answer)])
    server = TestServer(app, host="127.0.0.1", scheme="https")
    await server.start_server(ssl=tls)
    way = VoteWay(int(server.port or 0))
    await way.start()
    yield found, way
    await way.stop()
    await server.close()


async def ask(way: VoteWay) -> int:
    arguments = ExtenderArguments(f"https://127.0.0.1:{way.port}", "enqueue", timeout=0.5)
    return await ask_extender(arguments, JOB)


async def test_what_is_asked_is_answered(votes: tuple[CountedVotes, VoteWay]) -> None:
    there, way = votes
    assert (await ask(way), there.asked, way.lost) == (PERMIT, 1, 0)


async def test_a_question_may_be_heard_and_its_answer_lost(
    votes: tuple[CountedVotes, VoteWay],
) -> None:
    there, way = votes
    way.loses_answers = True
    assert (await ask(way), there.asked, way.lost) == (REJECT, 1, 1)
    way.loses_answers = False
    assert (await ask(way), there.asked, way.lost) == (PERMIT, 2, 1)


async def test_while_it_is_closed_nothing_is_asked(votes: tuple[CountedVotes, VoteWay]) -> None:
    there, way = votes
    way.cut(stay_closed=True)
    assert (await ask(way), there.asked) == (REJECT, 0)
    way.reopen()
    assert (await ask(way), there.asked) == (PERMIT, 1)
