"""WorkloadReviews: what is answered, and what is refused."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from builders import H200, a_pod, a_queue
from cardquota.loop import turns
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import answer_messages

from .endpoint import Endpoint, ReviewAnswer, hold_answers, question

RESOURCE = {"group": v.REVIEW_GROUP, "version": v.REVIEW_VERSION, "resource": v.WORKLOAD_REVIEWS}


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    waits = a_pod("w").with_uid("w").in_queue("queue").naming(H200).asking_for(2).gated()
    held = a_pod("h").with_uid("h").in_queue("queue").naming(H200).asking_for(1)
    held = held.stamped("queue", {H200: 1}).on_node("h200-a")
    queues = (a_queue(name).with_quota({H200: 2}) for name in ("queue", "other"))
    async with Endpoint(*queues, held, waits.owned_by("Job")) as endpoint:
        yield endpoint


async def asked(endpoint: Endpoint, spec: object, **more: Any) -> ReviewAnswer:
    request = question(v.WORKLOAD_REVIEWS, spec, **{"namespace": "team", **more})
    return await endpoint.review("/mutate", request)


async def test_f5_the_answer_is_added_as_the_status(endpoint: Endpoint) -> None:
    found = await asked(endpoint, {"kind": "Pod", "name": "w"})
    (step,) = found.patch
    value = step["value"]
    assert (step["op"], step["path"]) == ("add", "/status")
    assert (value["state"], value["place"]) == ("Waits", 1)
    assert (value["namespace"], value["time"]) == ("team", "2026-01-02T12:00:00Z")
    assert value["otherQueues"] == [{"queue": "other", "card": H200, "left": 2}]
    assert endpoint.counted(v.WORKLOAD_REVIEWS, "answer") == 1


async def reclaim_of(mode: str, *, seen: float | None = None) -> dict[str, Any] | None:
    """What is told of a pod without a node, whose queue is owed the cards that another holds."""
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    waits = a_pod("w").with_uid("w").in_queue("owed").naming(H200).asking_for(1)
    waits = waits.stamped("owed", {H200: 1}).put([said], "status", "conditions")
    held = [
        a_pod(name).with_uid(name).in_queue("queue").naming(H200).asking_for(4)
        for name in ("a", "b")
    ]
    held = [one.stamped("queue", {H200: 4}).on_node("h200-a") for one in held]
    queues = (a_queue(name).with_quota({H200: 8}) for name in ("queue", "owed"))
    async with Endpoint(*queues, *held, waits, reclaim=mode) as endpoint:
        if seen is not None:
            endpoint.reclaim_notes.look(endpoint.ledger.unplaced, endpoint.now - seen)
        found = await asked(endpoint, {"kind": "Pod", "name": "w"})
        told: dict[str, Any] | None = found.patch[0]["value"].get("reclaim")
        return told


@pytest.mark.parametrize(
    ("version", "known"),
    [("", True), (None, True), ("batch/v1", True), ("batch.volcano.sh/v1alpha1", False)],
)
async def test_f5_whose_job_it_is(endpoint: Endpoint, version: str | None, known: bool) -> None:
    found = await asked(endpoint, {"kind": "Job", "name": "o", "apiVersion": version})
    assert found.allowed is known


@pytest.mark.parametrize(
    ("kind", "name"),
    [("Pod", "none"), ("Pod", ""), ("Pod", "../w"), ("po d", "w"), ("", "w"), ("K" * 64, "w")],
)
async def test_f5_what_is_not_there(endpoint: Endpoint, kind: str, name: str) -> None:
    found = await asked(endpoint, {"kind": kind, "name": name})
    assert (found.allowed, found.code, found.reason) == (False, 404, "NotFound")
    assert found.text == answer_messages.no_such_workload(kind, "team", name)


async def test_f5_what_was_meant_is_told(endpoint: Endpoint) -> None:
    found = await asked(endpoint, {"kind": "Deployment", "name": "w"})
    assert found.text == answer_messages.no_such_workload("Deployment", "team", "w", meant="Pod/w")
    assert found.text.endswith("; did you mean <Pod/w>?")


async def test_f4_another_namespace_is_another_world(endpoint: Endpoint) -> None:
    found = await asked(endpoint, {"kind": "Pod", "name": "w"}, namespace="elsewhere")
    assert found.code == 404


async def test_f2_a_namespace_does_not_keep_others_from_asking(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MOST_OF_ONE", 1)
    begun, holds = hold_answers(monkeypatch)
    spec = {"kind": "Pod", "name": "w"}
    first = asyncio.create_task(asked(endpoint, spec))
    await begun.wait()
    again = await asked(endpoint, spec, userInfo={"username": "somebody else"})
    other = asyncio.create_task(asked(endpoint, spec, namespace="other"))
    holds.set()
    answers = [await first, await other]
    assert (again.code, again.text) == (429, answer_messages.too_many_questions())
    assert [one.code for one in answers] == [404, 404]


async def test_l7_what_could_be_taken_back_is_in_the_answer() -> None:
    found = await reclaim_of("on", seen=20.0)
    assert found is not None
    assert (found["state"], found["withinSeconds"]) == ("Possible", 40)
    assert found["queues"] == [
        {"queue": "queue", "pods": 1, "cards": [{"name": H200, "amount": 4}]}
    ]
    assert (await reclaim_of("on") or {})["withinSeconds"] == 60


async def test_l7_by_the_setting_it_is_left_out() -> None:
    assert await reclaim_of("off") is None
    assert (await reclaim_of("dryRun") or {})["state"] == "DryRun"
