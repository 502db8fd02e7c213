"""WorkloadReviews: what is answered, and what is refused."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from builders import H200, Body, a_pod, a_queue
from builders.pod import PodBody
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


def a_cluster_that_lends(*, past: bool = False) -> list[Body]:
    """No node has room for pod w, whose queue is owed the cards that another holds. Of the other a
    pod of higher priority waits for quota.
    """
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}

    def of(name: str, queue: str, cards: int) -> PodBody:
        return a_pod(name).with_uid(name).in_queue(queue).naming(H200).asking_for(cards)

    waits = of("w", "owed", 1).stamped("owed", {H200: 1}).put([said], "status", "conditions")
    held = [of(name, "queue", 4) for name in ("a", "b")]
    if not past:
        held = [one.stamped("queue", {H200: 4}) for one in held]
    high = of("high", "queue", 1).with_priority(1).created("2026-01-02T11:59:50Z").gated()
    queues = (a_queue(name).with_quota({H200: 8}) for name in ("queue", "owed"))
    return [*queues, *(one.on_node("h200-a") for one in held), waits, high.owned_by("Job")]


async def reclaim_of(endpoint: Endpoint, name: str = "w") -> dict[str, Any]:
    found = await asked(endpoint, {"kind": "Pod", "name": name})
    told: dict[str, Any] = found.patch[0]["value"].get("reclaim", {})
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
    async with Endpoint(*a_cluster_that_lends(), reclaim="on") as endpoint:
        found = await reclaim_of(endpoint)
        assert (found["state"], found["withinSeconds"]) == ("Possible", 60)
        cards = [{"name": H200, "amount": 4}]
        assert found["queues"] == [{"queue": "queue", "pods": 1, "cards": cards}]
        assert (await reclaim_of(endpoint, "high"))["withinSeconds"] == 20
        endpoint.reclaim_notes.look(endpoint.ledger.unplaced, endpoint.now - 20)
        assert (await reclaim_of(endpoint))["withinSeconds"] == 40
        endpoint.reclaim_notes.refused = ["a", "b"]
        assert (await reclaim_of(endpoint))["state"] == "DisruptionBudget"


async def test_l7_by_the_settings() -> None:
    more = {"reclaim": {"mode": "dryRun", "after": 7, "pastAdmission": True}}
    past = a_cluster_that_lends(past=True)
    async with Endpoint(*past, **more, preempt={"after": 19}) as endpoint:
        found = await reclaim_of(endpoint)
        assert (found["state"], found["withinSeconds"]) == ("DryRun", 7)
        assert (await reclaim_of(endpoint, "high"))["withinSeconds"] == 9
    async with Endpoint(*past, reclaim="on") as endpoint:
        assert (await reclaim_of(endpoint))["state"] == "Protected"


async def test_l7_where_reclaim_is_off_it_is_left_out() -> None:
    async with Endpoint(*a_cluster_that_lends(), reclaim="off") as endpoint:
        assert await reclaim_of(endpoint) == {}
