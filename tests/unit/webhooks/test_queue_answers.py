"""QueueReviews: what is answered, and what is refused. Nothing of them is ever stored."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from builders import H200, a_pod, a_queue
from cardquota.api.reviews import DEFAULT_LIMIT, LARGEST_LIMIT
from cardquota.loop import turns
from cardquota.quota import BODY
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import answer_messages
from cardquota_webhooks import AdmissionResponse, Questions

from .endpoint import Endpoint, ReviewAnswer, hold_answers, question

RESOURCE = {"group": v.REVIEW_GROUP, "version": v.REVIEW_VERSION, "resource": v.QUEUE_REVIEWS}


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    pod = a_pod().in_queue("queue").naming(H200).asking_for(1).gated()
    pods = [pod.put(f"w{n}", "metadata", "name").with_uid(f"w{n}") for n in range(30)]
    held = a_pod("h").with_uid("h").in_queue("queue").naming(H200).asking_for(1)
    held = held.stamped("queue", {H200: 1}).on_node("h200-a")
    async with Endpoint(a_queue().with_quota({H200: 1}), held, *pods) as endpoint:
        yield endpoint


async def asked(endpoint: Endpoint, spec: object, **more: Any) -> ReviewAnswer:
    return await endpoint.review("/mutate", question(v.QUEUE_REVIEWS, spec, **more))


async def test_f1_the_answer_is_added_as_the_status(endpoint: Endpoint) -> None:
    found = await asked(endpoint, {"queue": "queue"})
    (step,) = found.patch
    assert (step["op"], step["path"]) == ("add", "/status")
    assert step["value"]["time"] == "2026-01-02T12:00:00Z"
    assert step["value"]["cards"][0]["name"] == H200
    assert len(step["value"]["waiters"]) == DEFAULT_LIMIT
    assert step["value"]["moreWaiters"] == 30 - DEFAULT_LIMIT
    assert endpoint.counted(v.QUEUE_REVIEWS, "answer") == 1


@pytest.mark.parametrize(("limit", "told"), [(0, 0), (3, 3), (-1, 0), (10**9, 30)])
async def test_f2_as_many_are_told_as_asked_for(endpoint: Endpoint, limit: int, told: int) -> None:
    """The API server looks at the bounds only after we have answered."""
    found = await asked(endpoint, {"queue": "queue", "limit": limit})
    assert len(found.patch[0]["value"]["waiters"]) == min(told, LARGEST_LIMIT)


@pytest.mark.parametrize("audit", [False, True])
@pytest.mark.parametrize("more", [{"dryRun": False}, {"dryRun": None}, {"operation": "UPDATE"}])
async def test_f1_what_would_be_stored_is_always_refused(more: dict[str, Any], audit: bool) -> None:
    async with Endpoint(mode="audit" if audit else "enforce") as endpoint:
        found = await asked(endpoint, {"queue": "queue"}, **more)
    assert not found.allowed
    assert found.text == answer_messages.send_as_dry_run(v.QUEUE_REVIEWS)


async def test_f1_without_a_name_it_is_about_use_outside_every_queue(endpoint: Endpoint) -> None:
    endpoint.see(a_pod("o").with_uid("o").asking_for(2).on_node("h200-a"))
    for what in ("binding", "group", "binding"):
        endpoint.metrics.refused_writes.labels(what).inc()
    found = await asked(endpoint, {"queue": "", "limit": 1})
    value = found.patch[0]["value"]
    assert value["refusedWrites"] == 3
    assert (value["queue"], value["heldPods"], value["waiters"]) == ("", 1, [])
    assert [one["name"] for one in value["holders"]] == ["o"]


@pytest.mark.parametrize("name", ["none", "A B", "x" * 300, "../queue", "q\n"])
async def test_f1_a_queue_that_is_not_there(endpoint: Endpoint, name: str) -> None:
    found = await asked(endpoint, {"queue": name})
    assert (found.allowed, found.code, found.reason) == (False, 404, "NotFound")
    assert found.text == answer_messages.no_such_queue(name)


async def test_f1_the_queue_that_was_meant_is_told(endpoint: Endpoint) -> None:
    found = await asked(endpoint, {"queue": "quuee"})
    assert found.text == "Queue <quuee> does not exist; did you mean <queue>?"


@pytest.mark.parametrize(
    "spec", [None, 5, [], {}, {"queue": None}, {"queue": 7}, {"queue": "queue", "limit": "many"}]
)
async def test_f2_what_is_no_question_is_refused(endpoint: Endpoint, spec: object) -> None:
    found = await asked(endpoint, spec)
    assert (found.allowed, found.code) == (False, 400)


@pytest.mark.parametrize(
    "junk", ["x" * (BODY.most + 1), ["y" * 90] * (BODY.most // 90)], ids=["long", "many"]
)
async def test_f2_what_is_very_large_is_not_read(endpoint: Endpoint, junk: object) -> None:
    found = await asked(endpoint, {"queue": "queue", "junk": junk})
    assert not found.allowed
    assert "need only their spec" in found.text


async def test_f2_before_the_cluster_was_read_clients_try_again(endpoint: Endpoint) -> None:
    endpoint.synced = False
    found = await asked(endpoint, {"queue": "queue"})
    assert (found.code, found.response["status"]["details"]["retryAfterSeconds"]) == (429, 1)


async def test_f2_of_very_many_at_once_the_last_ones_try_again(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MOST_WAITING", 1)
    begun, holds = hold_answers(monkeypatch)
    first = asyncio.create_task(asked(endpoint, {"queue": "queue"}))
    await begun.wait()
    second = await asked(endpoint, {"queue": "queue"})
    holds.set()
    answer = await first
    third = await asked(endpoint, {"queue": "queue"})
    assert (second.code, second.text) == (429, answer_messages.too_many_questions())
    assert (answer.code, third.code) == (404, 404)


async def test_f2_others_may_ask_too(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a queue each user has places of his own, of a workload each namespace."""
    monkeypatch.setattr(turns, "MOST_OF_ONE", 1)
    begun, holds = hold_answers(monkeypatch)
    first = asyncio.create_task(asked(endpoint, {"queue": "queue"}))
    await begun.wait()
    again = await asked(endpoint, {"queue": "queue"})
    other = asyncio.create_task(asked(endpoint, {"queue": "queue"}, userInfo={"username": "other"}))
    holds.set()
    answers = [await first, await other]
    assert (again.code, again.text) == (429, answer_messages.too_many_questions())
    assert [one.code for one in answers] == [404, 404]


async def test_f2_late_ones_ask_again(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[object] = []
    holds = asyncio.Event()

    async def in_slices(steps: object) -> AdmissionResponse:
        answered.append(steps)
        await holds.wait()
        return AdmissionResponse(allowed=False, code=404)

    waits, wait = asyncio.Semaphore(0), Questions.answered

    async def wait_in_turn(*args: Any) -> Any:
        waits.release()
        return await wait(*args)

    monkeypatch.setattr(turns, "in_slices", in_slices)
    monkeypatch.setattr(Questions, "answered", wait_in_turn)
    first = asyncio.create_task(asked(endpoint, {"queue": "queue"}))
    await waits.acquire()
    second = asyncio.create_task(asked(endpoint, {"queue": "queue"}))
    await waits.acquire()
    endpoint.now += endpoint.settings.webhook.timeout_seconds / 2 + 1
    holds.set()
    answers = [await first, await second]
    assert [one.code for one in answers] == [404, 429]
    assert len(answered) == 1
