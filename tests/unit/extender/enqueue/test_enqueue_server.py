"""The server over real sockets and real TLS: without a certificate of the caller."""

import asyncio
import io
import json
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import aiohttp
import pytest

from builders.certificates import issue
from cardquota.cluster.serving import server_context, trusting_context
from cardquota.extender import (
    ENQUEUE_PATH,
    LARGEST_ASK,
    NOT_AGAIN,
    EnqueueAsk,
    EnqueueServer,
    LeaderClient,
    LeaderVotes,
)
from cardquota.metrics import Metrics
from cardquota.quota.decisions import Vote
from cardquota.settings import Enqueue

NAME = "cardquota-webhook.cardquota-system.svc"
SERVER = issue([NAME, "127.0.0.1"], now=datetime.now(UTC), days=1)
STRANGER = issue([NAME, "127.0.0.1"], now=datetime.now(UTC), days=1)
CALL = b'{"job": {"UID": "team/train"}}'


class FixedVotes:
    """Votes as it is told; `None`: it fails."""

    def __init__(self, vote: Vote | None = Vote.PERMIT) -> None:
        self.says = vote
        self.asked: list[tuple[EnqueueAsk, bool]] = []

    async def vote(self, ask: EnqueueAsk, *, passed_on: bool = False) -> Vote:
        self.asked.append((ask, passed_on))
        if self.says is None:
            raise RuntimeError("a bug")
        return self.says


@asynccontextmanager
async def serving(votes: FixedVotes, *, tls: bool = True, secret: str = "") -> AsyncIterator[str]:
    answers = EnqueueServer(votes, Metrics(), secret=secret)  # type: ignore[arg-type]
    server = answers.http()
    context = server_context(SERVER.cert_pem, SERVER.key_pem) if tls else None
    await server.start("127.0.0.1", 0, context)
    try:
        yield f"127.0.0.1:{server.addresses[0][1]}"
    finally:
        await server.stop(0.1)


async def post(
    url: str, body: bytes, method: str = "POST", headers: dict[str, str] | None = None
) -> tuple[int, str]:
    connector = aiohttp.TCPConnector(ssl=trusting_context(SERVER.ca_pem))
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.request(method, url, data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status, await answer.text()


@pytest.mark.parametrize("tls", [True, False])
async def test_a_call_gets_a_number(*, tls: bool) -> None:
    votes = FixedVotes(Vote.REJECT)
    async with serving(votes, tls=tls) as address:
        scheme = "https" if tls else "http"
        code, text = await post(f"{scheme}://{address}{ENQUEUE_PATH}", CALL)
    assert (code, json.loads(text)) == (200, {"status": -1})
    assert votes.asked == [(EnqueueAsk("team", "train"), False)]


async def test_other_calls_get_a_code_and_a_sentence() -> None:
    async with serving(FixedVotes()) as address:
        url = f"https://{address}{ENQUEUE_PATH}"
        assert (await post(url, b"no"))[0] == 400
        assert (await post(url, CALL, "GET"))[0] == 405
        for path in ("/", "/volcano/predicate", "/scheduler/bind", ENQUEUE_PATH + "/"):
            code, text = await post(f"https://{address}{path}", CALL)
            assert (code, text) == (404, f"nothing is here; there is {ENQUEUE_PATH}\n")
        code, text = await post(url, b" " * (LARGEST_ASK + 1))
        assert (code, text) == (413, "the body is too large: at most 10 MiB are read\n")


async def test_a_bug_is_no_http_500(caplog: pytest.LogCaptureFixture) -> None:
    votes = FixedVotes(None)
    async with serving(votes) as address:
        code, text = await post(f"https://{address}{ENQUEUE_PATH}", CALL)
    assert (code, "this is a bug" in text) == (503, True)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def client(
    address: Callable[[], str], ca: bytes | None = SERVER.ca_pem, secret: str = ""
) -> LeaderClient:
    def tls() -> ssl.SSLContext | None:
        return trusting_context(ca) if ca is not None else None

    return LeaderClient(address, tls, server_name=NAME, timeout=5, secret=secret)


@asynccontextmanager
async def leader(address: str, ca: bytes | None = SERVER.ca_pem) -> AsyncIterator[LeaderVotes]:
    calling = client(lambda: address, ca)
    yield LeaderVotes(calling)
    await calling.close()


async def test_the_leader_is_asked_with_a_mark_that_it_was_passed_on() -> None:
    votes = FixedVotes()
    async with serving(votes) as address, leader(address) as call:
        assert await call.ask(EnqueueAsk("team", "other")) is Vote.PERMIT
        assert await call.ask(EnqueueAsk("team", "train")) is Vote.PERMIT
    assert votes.asked == [(EnqueueAsk("team", "other"), True), (EnqueueAsk("team", "train"), True)]


async def test_without_a_leader_nothing_is_permitted() -> None:
    for nobody in (leader(""), leader("127.0.0.1:1", None), leader("127.0.0.1:1")):
        async with nobody as call:
            assert await call.ask(EnqueueAsk("team", "train")) is Vote.REJECT


async def test_who_only_says_that_he_leads_is_not_believed() -> None:
    async with serving(FixedVotes()) as address, leader(address, STRANGER.ca_pem) as call:
        assert await call.ask(EnqueueAsk("team", "train")) is Vote.REJECT


async def test_a_leader_that_gives_no_answer_is_not_asked_again_at_once() -> None:
    """A node that is gone costs each question its whole time-out, and Volcano asks thousands."""
    now, calls = [100.0], []

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(writer)
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        address = [f"127.0.0.1:{server.sockets[0].getsockname()[1]}"]
        calling = client(lambda: address[0])
        call = LeaderVotes(calling, lambda: now[0])
        for _ in range(3):
            assert await call.ask(EnqueueAsk("team", "train")) is Vote.REJECT
        assert len(calls) == 1
        now[0] += NOT_AGAIN
        assert await call.ask(EnqueueAsk("team", "train")) is Vote.REJECT
        assert len(calls) == 2
        async with serving(FixedVotes()) as other:  # another leads now
            address[0] = other
            assert await call.ask(EnqueueAsk("team", "train")) is Vote.PERMIT
        await calling.close()


async def test_a_leader_that_answers_with_an_error_is_asked_about_other_groups() -> None:
    votes = FixedVotes(None)
    async with serving(votes) as address, leader(address) as call:
        for _ in range(2):
            assert await call.ask(EnqueueAsk("team", "train")) is Vote.REJECT
        assert len(votes.asked) == 2


async def test_n3_who_does_not_know_the_secret_of_the_path_is_answered_nothing() -> None:
    votes, secret = FixedVotes(Vote.REJECT), 16 * "ab"
    async with serving(votes, secret=secret) as address:
        for path in (
            ENQUEUE_PATH,
            f"/volcano/{secret}x/jobEnqueueable",
            "/",
            f"/{secret}",
            "/cardquota/refused",
        ):
            assert await post(f"https://{address}{path}", CALL) == (404, "nothing is here\n")
        assert votes.asked == []
        path = f"/volcano/{secret}/jobEnqueueable"
        assert (await post(f"https://{address}{path}", CALL))[0] == 200
    follower = client(str, secret=secret)
    async with serving(votes, secret=secret) as address:
        found = await follower.post(address, ENQUEUE_PATH, CALL)
        await follower.close()
    assert found[0] == 200
    assert len(votes.asked) == 2
    assert secret not in repr(Enqueue(path_secret=secret))
