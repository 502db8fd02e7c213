"""The page: who sees what of it (F7), and what bounds it (F8)."""

import asyncio
from typing import Any

import pytest

from builders import H200, H800, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.cluster.serving import BodyLimits, HttpServer
from cardquota.loop import turns
from cardquota.page import MOST_CARDS, MOST_NODES, MOST_QUEUES, MOST_SINGLE_QUEUES
from cardquota.quota import to_its_end
from cardquota.quota.answers import queue_answer
from harness.page_reader import ASK, LIST, NODES, PageReader, getting

EVERYTHING = {LIST, ASK, NODES}


def held(name: str, queue: str, cards: int) -> PodBody:
    pod = a_pod(name).with_uid(name).in_queue(queue).naming(H200).asking_for(cards)
    return pod.stamped(queue, {H200: cards}).on_node("hopper")


def waiting(name: str, queue: str, cards: int) -> PodBody:
    pod = a_pod(name).with_uid(name).in_queue(queue).naming(H200).asking_for(cards)
    return pod.owned_by("Job").gated()


def reader() -> PageReader:
    return PageReader(
        a_node("hopper").with_cards(H200, 8),
        a_queue("red").with_quota({H200: 3, H800: 1}).with_uid("red"),
        a_queue("blue").with_quota({H200: 2}).with_uid("blue"),
        held("runs", "red", 3),
        waiting("waits", "red", 2),
        chief=EVERYTHING,
        board={LIST},
        tenant={getting("red")},
        stranger={NODES},
    )


async def test_f7_who_may_list_queues_sees_the_numbers_of_all() -> None:
    found = await reader().data("overview", "chief")
    assert (found["user"], found["missing"]) == ("chief", [])
    overview = found["overview"]
    assert overview["leader"] == "replica-1"
    blue, red = overview["queues"]
    assert (blue["name"], red["name"], red["state"], red["waiting"]) == ("blue", "red", "Open", 1)
    assert red["cards"][0] == {"name": H200, "quota": 3, "allocated": 3, "requested": 5}
    assert overview["cards"][0] == {
        "name": H200,
        "allocatable": 8,
        "allocated": 3,
        "free": 5,
        "quota": 5,
    }


async def test_f7_who_may_get_some_queues_sees_these_and_is_told_what_is_missing() -> None:
    page = reader()
    found = await page.data("overview", "tenant")
    assert [one["name"] for one in found["overview"]["queues"]] == ["red"]
    assert found["overview"]["cards"] == []
    missing = " ".join(found["missing"])
    for right in (
        "list on queues.scheduling.volcano.sh",
        "create on queuereviews.",
        "list on nodes",
    ):
        assert right in missing
    assert (await page.get("nodes", "tenant")).status == 403
    assert (await page.queue("red", "tenant"))["queue"]["waitingPods"] == 1
    unseen = await page.get("queue", "tenant", "name=blue")
    asked = len(page.server.asked)
    assert await page.get("queue", "tenant", "name=no-such-queue") == unseen
    assert len(page.server.asked) == asked + 1  # as of one that is there: no time tells
    assert await page.get("queue", "tenant", "name=../no.name") == unseen
    assert len(page.server.asked) == asked + 1
    assert (unseen.status, b"you see no queue of this name" in unseen.body) == (403, True)


async def test_f7_nobody_else_sees_anything() -> None:
    page = reader()
    for what in ("overview", "queue"):
        refused = await page.get(what, "stranger", "name=red")
        assert (refused.status, b"list on queues" in refused.body) == (403, True)
        for token in ("", "forged", "\xff"):
            answer = await page.get(what, token, "name=red")
            assert (answer.status, b"bearer token" in answer.body) == (401, True)


async def test_f7_names_take_the_right_to_ask() -> None:
    """F4. Sentences have names too: BehindInQueue says who comes before."""
    page = reader()
    named = await page.queue("red", "chief")
    assert [one["name"] for one in named["queue"]["holders"]] == ["runs"]
    assert [one["name"] for one in named["queue"]["waiters"]] == ["waits"]
    bare = await page.get("queue", "board", "name=red")
    assert b"runs" not in bare.body
    assert b"waits" not in bare.body
    found = (await page.queue("red", "board"))["queue"]
    assert (found["heldPods"], found["moreHolders"]) == (1, 1)
    assert (found["waitingPods"], found["moreWaiters"]) == (1, 1)


async def test_f7_among_many_queues_single_ones_are_not_looked_for() -> None:
    queues = [a_queue(f"q{n}").with_uid(f"q{n}") for n in range(MOST_SINGLE_QUEUES + 1)]
    page = PageReader(*queues, tenant={getting("q7")})
    refused = await page.get("overview", "tenant")
    assert (refused.status, b"more than 100 queues" in refused.body) == (403, True)
    assert len(page.server.asked) == 4
    assert (await page.queue("q7", "tenant"))["queue"]["queue"] == "q7"


async def test_f7_what_he_may_is_asked_once_a_minute() -> None:
    page = reader()
    for seconds, questions in ((0.0, 6), (59.0, 6), (60.0, 12)):
        page.now = seconds
        await page.data("overview", "tenant")  # the token, three rights, two queues
        assert len(page.server.asked) == questions


async def test_f7_without_the_api_server_nobody_sees_anything() -> None:
    page = reader()
    page.server.down = True
    assert (await page.get("overview", "chief")).status == 503
    page.server.down = False
    page.known = False
    refused = await page.get("overview", "chief")
    assert (refused.status, b"has not read the cluster" in refused.body) == (503, True)


@pytest.mark.parametrize(
    ("method", "path", "query", "status"),
    [("GET", "", "", 200), ("HEAD", "", "", 200), ("GET", "page.js", "", 200),
     ("GET", "page.css", "", 200), ("GET", "icon.svg", "", 200), ("GET", "overview", "", 401),
     ("POST", "overview", "", 405), ("DELETE", "", "", 405), ("GET", "other", "", 404),
     ("GET", "../metrics", "", 404), ("GET", "page_server.py", "", 404),
     ("GET", "queue", "name=" + "%3C" * 500, 401)],
)  # fmt: skip
async def test_f8_every_answer_keeps_what_is_of_others_out(
    method: str, path: str, query: str, status: int
) -> None:
    answer = await reader().get(path, query=query, method=method)
    headers = dict(answer.headers)
    assert answer.status == status
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert (headers["cache-control"], headers["referrer-policy"]) == ("no-store", "no-referrer")


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("name=", 400), ("name=red&name=blue", 400), ("other=red", 400), ("red", 400),
     ("name=red&a=b", 400), ("name=gone", 404), ("name=%00%3Cscript%3E", 404),
     ("name=" + "a" * 5_000, 404), ("&".join(["name=red"] * 1_000), 400)],
)  # fmt: skip
async def test_f8_what_is_no_question_is_refused(query: str, status: int) -> None:
    assert (await reader().get("queue", "chief", query)).status == status


async def test_f8_the_files_hold_no_data_and_name_no_other_host() -> None:
    page = reader()
    for name in ("", "page.css", "page.js", "icon.svg"):
        text = (await page.get(name)).body.decode()
        assert "red" not in text.split()
        assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
        for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert sink not in text


async def test_f8_the_numbers_are_those_of_the_answer() -> None:
    page = reader()
    found = (await page.queue("red", "chief"))["queue"]
    wanted: Any = to_its_end(queue_answer(page.ledger, "red", limit=20, time=found["time"]))
    assert found["cards"][0]["left"] == wanted.cards[0].left == 0
    assert found["waiters"][0]["message"] == wanted.waiters[0].message
    assert found["waiters"][0]["message"].startswith("Queue <red> has insufficient")


async def test_f8_what_is_listed_is_bounded_and_the_rest_is_counted() -> None:
    quota = {f"CARD-{n}": n for n in range(MOST_CARDS + 3)}
    page = PageReader(
        a_queue("0").with_quota(quota).with_uid("0"),
        *(a_queue(f"q{n}").with_uid(f"q{n}") for n in range(MOST_QUEUES + 4)),
        *(a_node(f"n{n}").with_uid(f"n{n}").with_cards(H200, n % 9) for n in range(MOST_NODES + 5)),
        chief=EVERYTHING,
    )
    overview = (await page.data("overview", "chief"))["overview"]
    assert (len(overview["queues"]), overview["moreQueues"]) == (MOST_QUEUES, 5)
    first = overview["queues"][0]
    assert (len(first["cards"]), first["moreCards"]) == (MOST_CARDS, 3)
    nodes = await page.data("nodes", "chief")
    assert (len(nodes["nodes"]), nodes["more"]) == (MOST_NODES, 5)
    offers = [one["cards"][0]["offered"] for one in nodes["nodes"]]
    assert offers == sorted(offers, reverse=True)


async def test_f8_nodes_say_what_is_used_and_what_is_wrong() -> None:
    page = PageReader(
        a_node("hopper").with_cards(H200, 8),
        a_node("odd").with_uid("odd").with_cards(H800, "many"),
        a_node("off").with_uid("off").with_cards(H800, 8).put(True, "spec", "unschedulable"),
        a_queue("red").with_quota({H200: 3}),
        held("runs", "red", 3),
        chief=EVERYTHING,
    )
    found = {one["name"]: one for one in (await page.data("nodes", "chief"))["nodes"]}
    assert found["hopper"]["cards"] == [{"name": H200, "offered": 8, "used": 3}]
    assert found["odd"]["problem"]
    assert (found["off"]["takesPods"], found["hopper"]["takesPods"]) == (False, True)


async def test_f8_card_memory_does_not_stand_before_cards() -> None:
    """B10. Its numbers are MiB or GiB."""
    memory = f"{H800}/gpu-mem"
    page = PageReader(
        a_node("hopper").with_cards(H200, 8),
        a_node("shares").with_uid("shares").showing(H800).sharing_memory(48_000, 2),
        a_queue("red").with_quota({memory: 40_000, H200: 4}).with_uid("red"),
        held("runs", "red", 3),
        held("shares", "red", 0).stamped("red", {memory: 8_000}).on_node("shares"),
        chief=EVERYTHING,
    )
    found = (await page.data("overview", "chief"))["overview"]
    assert [one["name"] for one in found["cards"]] == [H200, memory]
    (red,) = found["queues"]
    assert [(one["name"], one["allocated"]) for one in red["cards"]] == [(H200, 3), (memory, 8_000)]
    assert red["held"] == 3


async def test_f8_one_overview_is_made_for_all_who_look(monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    page = reader()
    accounts = page.ledger.accounts

    def counted() -> Any:
        nonlocal made
        made += 1
        return accounts()

    monkeypatch.setattr(page.ledger, "accounts", counted)
    await page.data("overview", "chief")
    once = made
    together = await asyncio.gather(*(page.get("overview", "chief") for _ in range(50)))
    assert {one.status for one in together} == {200}
    assert made == 2 * once


async def test_f8_a_question_takes_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """F2."""
    monkeypatch.setattr(turns, "MOST_OF_ONE", 1)
    begun, holds = asyncio.Event(), asyncio.Event()

    async def held_up(steps: Any) -> Any:
        begun.set()
        await holds.wait()
        return to_its_end(steps)

    page = reader()
    monkeypatch.setattr(turns, "in_slices", held_up)
    first = asyncio.create_task(page.get("queue", "chief", "name=red"))
    await begun.wait()
    async with asyncio.timeout(10):
        assert (await page.get("queue", "chief", "name=red")).status == 429
    second = asyncio.create_task(page.get("queue", "board", "name=red"))
    await asyncio.sleep(0)
    page.now = 30.0
    holds.set()
    assert ((await first).status, (await second).status) == (200, 429)


async def test_f8_ten_megabytes_of_query_are_refused_before_they_are_read() -> None:
    server = HttpServer(reader().page.answer, BodyLimits(0, 0))
    await server.start("127.0.0.1", 0, None)
    async with asyncio.timeout(30):
        _, writer = await asyncio.open_connection(*server.addresses[0])
        writer.write(b"GET /page/queue?name=")
        with pytest.raises(ConnectionError):  # noqa: PT012 - some writes come before it notices
            for _ in range(160):
                writer.write(b"a" * 65_536)
                await writer.drain()
    await server.stop(1)
