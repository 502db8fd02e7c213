"""What `/readyz` says: not ready before everything is read and served; old news do not end it. And
the metrics: one page for all who ask in that second, for everybody or for whom it may be.
"""

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from prometheus_client import Metric
from prometheus_client.registry import Collector

from builders import H200, Body, a_ledger, a_pod, a_queue
from cardquota.cluster.api import (
    AT_ONCE,
    MOST,
    MOST_RIGHTS,
    REMEMBERED,
    AskedAccess,
    OutcomeUnknown,
    TokenAccess,
)
from cardquota.cluster.serving import HttpAnswer, HttpCall, HttpHandler
from cardquota.metrics import Metrics
from cardquota.runtime import MetricsPage, Probes


@dataclass
class Watch:
    """A reflector as far as it is asked here; the real one is in tests/integration/cluster."""

    kind: str
    synced: bool = True
    seconds: float = 1.0

    @property
    def late(self) -> bool:
        return self.seconds > 90

    def lag(self) -> float:
        return self.seconds


@pytest.fixture
def watches() -> list[Watch]:
    return [Watch("pods"), Watch("nodes")]


class Asked:
    """Probes, asked without a socket."""

    def __init__(
        self,
        *things: Body,
        watches: list[Watch] | None = None,
        notes: list[str] | None = None,
        access: TokenAccess | None = None,
        page: HttpHandler | None = None,
    ) -> None:
        self.metrics = Metrics()
        seen: Any = watches or []
        text = MetricsPage(a_ledger(*things), self.metrics, seen, lambda: False)
        late, told = (lambda: False), (lambda: notes or [])
        self.probes = Probes(text, self.metrics, seen, late, told, access=access, page=page)

    async def get(self, path: str, method: str = "GET", token: str = "") -> HttpAnswer:
        async def nothing() -> bytes:
            return b""

        headers = {"authorization": f"Bearer {token}"} if token else {}
        return await self.probes.answer(HttpCall(method, path, nothing, headers))

    async def ready(self) -> tuple[int, str]:
        status, text, *_ = await self.get("/readyz")
        return status, text.decode().strip()

    async def page(self) -> str:
        return (await self.get("/metrics")).body.decode()


async def test_not_ready_before_all_is_read_and_served(watches: list[Watch]) -> None:
    asked = Asked(watches=watches)
    watches[1].synced = False
    assert await asked.ready() == (503, "not synced: nodes")
    watches[1].synced = True
    assert await asked.ready() == (503, "not serving yet")
    asked.probes.serving = True
    assert await asked.ready() == (200, "ok")
    asked.probes.draining = True
    assert await asked.ready() == (503, "draining")


async def test_who_lags_is_named_and_stays_ready(watches: list[Watch]) -> None:
    """Leaving the Service would turn gates into refusals."""
    asked = Asked(watches=watches)
    asked.probes.serving = True
    watches[0].seconds = 120.4
    assert await asked.ready() == (200, "ok, lagging: pods 120 s")


async def test_what_is_to_be_put_right_is_told_and_no_reason_to_leave(watches: list[Watch]) -> None:
    notes = ["Secret <a/b> is missing", "a binding is missing"]
    asked = Asked(watches=watches, notes=notes)
    assert await asked.ready() == (503, "not serving yet\n" + "\n".join(notes))
    asked.probes.serving = True
    assert await asked.ready() == (200, "ok\n" + "\n".join(notes))
    notes.clear()
    assert await asked.ready() == (200, "ok")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/healthz", 200), ("HEAD", "/healthz", 200), ("POST", "/healthz", 405),
     ("POST", "/metrics", 405), ("GET", "/", 404)],
)  # fmt: skip
async def test_paths_and_methods(method: str, path: str, status: int) -> None:
    assert (await Asked().get(path, method)).status == status


async def test_the_port_of_the_probes_has_no_metrics() -> None:
    asked = Asked()
    async with asyncio.timeout(30):
        for metrics, status in ((True, b"200"), (False, b"404")):
            server = asked.probes.http(metrics=metrics)
            await server.start("127.0.0.1", 0, None)
            reader, writer = await asyncio.open_connection(*server.addresses[0])
            writer.write(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
            assert (await reader.readline()).split()[1] == status
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            assert await reader.readuntil(b"\r\n\r\nok\n")
            writer.transport.abort()
            await server.stop(1)


@pytest.mark.parametrize(
    ("page", "size", "status"),
    [(True, 6_000, b"200"), (True, 9_000, b"400"), (False, 6_000, b"400")],
)
async def test_f7_where_there_is_a_page_the_tokens_of_users_may_be_long(
    page: bool, size: int, status: bytes
) -> None:
    """Those of some clouds have 4 KB. Nobody else sends such headers."""

    async def shown(call: HttpCall) -> HttpAnswer:
        assert (len(call.headers["authorization"]), call.query) == (size, "name=a%20b")
        return HttpAnswer(200, b"page")

    server = Asked(page=shown if page else None).probes.http(metrics=True)
    await server.start("127.0.0.1", 0, None)
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_connection(*server.addresses[0])
        token = b"Authorization: %s\r\n" % (b"x" * size)
        writer.write(b"GET /page/queue?name=a%20b HTTP/1.1\r\nHost: a\r\n" + token + b"\r\n")
        assert (await reader.readline()).split()[1] == status
        writer.transport.abort()
        await server.stop(1)


async def test_without_a_page_there_is_none() -> None:
    assert (await Asked().get("/page/")).status == 404


async def test_of_one_caller_only_so_much_is_remembered() -> None:
    """F7. Who names very many queues makes us ask again, and keep no more."""
    reviewer = TokenReviewer()
    access = access_by(reviewer)
    for number in (*range(MOST_RIGHTS + 1), 1, 0):
        one = AskedAccess("get", "g", "queues", f"q{number}")
        found = await access.caller("Bearer prometheus", one)
        assert found.may == {one}
    assert len(reviewer.asked) == 1 + MOST_RIGHTS + 2


async def test_the_lag_is_exported(watches: list[Watch]) -> None:
    page = await Asked(watches=watches).page()
    assert 'cardquota_reflector_lag_seconds{kind="nodes"} 1.0' in page


class Curious(Collector):
    """Knows which threads have written the page."""

    def __init__(self) -> None:
        self.writers: list[int] = []

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> list[Metric]:
        self.writers.append(threading.get_ident())
        return []


async def test_l1_what_a_queue_borrows_is_a_metric_and_without_that_there_is_no_row() -> None:
    held = a_pod("a").in_queue("red").stamped("red", {H200: 3})
    queue = a_queue("red").with_quota({H200: 3})
    row = 'cardquota_queue_card_borrowed{card="NVIDIA-H200",queue="red"} '
    assert f"{row}2.0" in await Asked(queue.deserving_cards({H200: 1}), held).page()
    assert row not in await Asked(queue.deserving_cards({H200: 3}), held).page()


async def test_one_page_is_written_for_all_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    curious = Curious()
    asked = Asked(a_queue("red").with_quota({H200: 3}))
    asked.metrics.registry.register(curious)
    pages = await asyncio.gather(*(asked.page() for _ in range(250)))
    assert 'cardquota_queue_card_quota{card="NVIDIA-H200",queue="red"} 3.0' in pages[0]
    assert len(set(pages)) == 1
    assert len(curious.writers) == 1
    assert threading.get_ident() not in curious.writers
    monkeypatch.setattr("cardquota.runtime.probes.EVERY", 0.0)
    asked = Asked()
    asked.metrics.registry.register(curious)
    await asked.page()
    await asked.page()
    assert len(curious.writers) == 3


async def test_who_asks_once_it_was_begun_gets_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cardquota.runtime.probes.EVERY", 0.01)
    asked = Asked()
    assert "cardquota_leader 0.0" in await asked.page()
    asked.metrics.leader.set(1)
    assert "cardquota_leader 1.0" in await asked.page()


async def test_who_leaves_does_not_take_the_page_along() -> None:
    asked = Asked(a_queue("red").with_quota({H200: 3}))
    first = asyncio.create_task(asked.page())
    second = asyncio.create_task(asked.page())
    await asyncio.sleep(0)
    first.cancel()
    assert "cardquota_queue_card_quota" in await second


class TokenReviewer:
    """An API server that knows two kinds of tokens, of which one may read."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.down = False
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.now = 0.0

    async def post(self, path: str, body: dict[str, Any], *, timeout: float) -> bytes:
        self.asked.append(body["spec"])
        await self.may_answer.wait()
        if self.down:
            raise OutcomeUnknown("no answer")
        spec = body["spec"]
        if path.endswith("/tokenreviews"):
            known = spec["token"].startswith(("prometheus", "tenant"))
            user = {"username": spec["token"], "groups": ["g"], "uid": "1", "extra": {"a": ["b"]}}
            status = {"authenticated": known, **({"user": user} if known else {})}
        else:
            status = {"allowed": spec["user"] == "prometheus"}
        return msgspec.json.encode({"status": status})


def guarded() -> tuple[TokenReviewer, Asked]:
    reviewer = TokenReviewer()
    return reviewer, Asked(access=access_by(reviewer))


def access_by(reviewer: Any) -> TokenAccess:
    return TokenAccess(reviewer, lambda: reviewer.now)


async def test_the_api_server_says_who_may_read() -> None:
    reviewer, asked = guarded()
    known = ("prometheus", 200), ("tenant", 403), ("forged", 401)
    for token, status in (*known, ("", 401), (" ", 401), ("\xff", 401)):
        assert (await asked.get("/metrics", token=token)).status == status
    assert (await asked.get("/healthz")).status == 200
    who = {"user": "prometheus", "uid": "1", "groups": ["g"], "extra": {"a": ["b"]}}
    what = {"path": "/metrics", "verb": "get"}
    assert reviewer.asked[1] == {**who, "nonResourceAttributes": what}


async def test_an_answer_holds_for_a_while() -> None:
    reviewer, asked = guarded()
    for seconds, questions in ((0, 2), (REMEMBERED - 1, 2), (REMEMBERED, 4)):
        reviewer.now = seconds
        assert (await asked.get("/metrics", token="prometheus")).status == 200
        assert len(reviewer.asked) == questions


async def test_forged_tokens_cost_few_questions_and_little_memory() -> None:
    reviewer = TokenReviewer()
    access = access_by(reviewer)
    asked = Asked(access=access)
    reviewer.may_answer.clear()
    calls = (asked.get("/metrics", token=f"forged-{n}") for n in range(AT_ONCE + 5))
    tasks = [asyncio.create_task(call) for call in calls]
    await asyncio.sleep(0)
    assert len(reviewer.asked) == AT_ONCE
    reviewer.may_answer.set()
    found = [(await task).status for task in tasks]
    assert found == [401] * AT_ONCE + [429] * 5
    for number in range(MOST + 10):
        await asked.get("/metrics", token=f"other-{number}")
    assert len(access) == MOST


@pytest.mark.parametrize("others", ["forged", "tenant"])
async def test_tokens_that_let_nobody_in_keep_out_nobody_who_was(others: str) -> None:
    """Neither out of memory nor by the questions that they cost. A tenant makes as many valid ones
    as he likes.
    """
    reviewer, asked = guarded()
    assert (await asked.get("/metrics", token="prometheus")).status == 200
    for number in range(MOST + 10):
        await asked.get("/metrics", token=f"{others}-{number}")
    questions = len(reviewer.asked)
    assert (await asked.get("/metrics", token="prometheus")).status == 200
    assert len(reviewer.asked) == questions
    reviewer.now = REMEMBERED
    reviewer.may_answer.clear()
    calls = [asked.get("/metrics", token=f"{others}-new-{n}") for n in range(AT_ONCE)]
    tasks = [asyncio.create_task(call) for call in calls]
    await asyncio.sleep(0)
    renewal = asyncio.create_task(asked.get("/metrics", token="prometheus"))
    await asyncio.sleep(0)
    assert reviewer.asked[-1] == {"token": "prometheus"}
    reviewer.may_answer.set()
    assert (await renewal).status == 200
    refused = 401 if others == "forged" else 403
    assert [(await task).status for task in tasks] == [refused] * AT_ONCE


async def test_while_too_many_are_asked_about_a_known_caller_has_a_minute_more() -> None:
    reviewer, asked = guarded()
    assert (await asked.get("/metrics", token="prometheus")).status == 200
    reviewer.now = REMEMBERED
    reviewer.may_answer.clear()
    tasks = [asyncio.create_task(asked.get("/metrics", token="prometheus")) for _ in range(AT_ONCE)]
    await asyncio.sleep(0)
    assert (await asked.get("/metrics", token="prometheus")).status == 200
    reviewer.now = 2 * REMEMBERED
    assert (await asked.get("/metrics", token="prometheus")).status == 429
    reviewer.may_answer.set()
    assert [(await task).status for task in tasks] == [200] * AT_ONCE


async def test_without_the_api_server_nobody_reads(caplog: pytest.LogCaptureFixture) -> None:
    reviewer, asked = guarded()
    reviewer.down = True
    assert (await asked.get("/metrics", token="prometheus")).status == 503
    assert len(caplog.records) == 1
    reviewer.down = False
    assert (await asked.get("/metrics", token="prometheus")).status == 200
