"""I5: a word on a workload or a queue of very many pods keeps nobody waiting."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from builders import H200, a_queue
from cardquota.loop import timing
from cardquota.quota.pods import queue_pods as made_pods
from cardquota_webhooks import (
    AdmissionResponse,
    QueueReviews,
    WorkloadReviews,
    WorkloadRoom,
    decode,
    fitting,
)

from .endpoint import Endpoint, request_of, review_of
from .scale_review import Watches, scaling
from .workload_review import THREE, asked, own, pod, stored, warned

MANY = 200
QUEUE = THREE.with_quota({H200: MANY})


@pytest.fixture(autouse=True)
def in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_pods, "AT_A_TIME", 2)
    monkeypatch.setattr(timing, "SLICE", 0.0)
    monkeypatch.setattr(fitting, "FEW", 2)


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with Endpoint(QUEUE, *own(MANY)) as endpoint:
        yield endpoint


def reviewed(
    endpoint: Endpoint, number: int = 1, replicas: int = MANY + 5
) -> list[asyncio.Task[AdmissionResponse]]:
    """So many reviews of a Deployment at once."""
    ledger, settings = endpoint.ledger, endpoint.settings
    reviews = WorkloadReviews(ledger, settings, endpoint.visibility, endpoint.claims)
    body = review_of(asked("deployments", pod(), stored(pod()), replicas=replicas))
    return [asyncio.create_task(reviews.validate(decode(body))) for _ in range(number)]


async def others_turns(task: asyncio.Task[AdmissionResponse]) -> int:
    """How often others had theirs until it was done."""
    seen = 0
    while not task.done():
        await asyncio.sleep(0)
        seen += 1
    return seen


async def test_they_are_counted_exactly(endpoint: Endpoint) -> None:
    cannot, _ = await warned(endpoint, "deployments", pod(70), stored(pod()), replicas=MANY)
    assert "write maxSurge 0 and maxUnavailable 70," in cannot
    how_many, _ = await warned(endpoint, "deployments", pod(), stored(pod()), replicas=MANY + 5)
    assert f"{MANY} of {MANY + 5} pods fit" in how_many


async def test_others_have_their_turn_meanwhile(endpoint: Endpoint) -> None:
    (task,) = reviewed(endpoint)
    assert await others_turns(task) >= MANY // 2
    assert f"{MANY} of {MANY + 5} pods fit" in (await task).warnings[0]


async def test_others_have_their_turn_while_a_deleted_queue_is_counted(endpoint: Endpoint) -> None:
    """Q8: its answer has their number."""
    request = request_of(QUEUE, operation="DELETE", object=None)
    queues = QueueReviews(endpoint.ledger)
    task = asyncio.create_task(queues.validate(decode(review_of(request))))
    assert await others_turns(task) >= MANY // 2
    assert f"in use by {MANY} pods" in (await task).text


async def test_of_several_at_once_one_is_counted_after_the_other(endpoint: Endpoint) -> None:
    done = []
    tasks = reviewed(endpoint, 3)
    for task in asyncio.as_completed(tasks):
        assert len((await task).warnings) == 2
        done.append(sum(one.done() for one in tasks))
    assert done == [1, 2, 3]


async def test_who_has_few_does_not_wait_for_who_has_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is there no word on his workload, because others were being counted for so long."""
    monkeypatch.setattr(fitting, "COUNT_TIMEOUT", 60.0)
    few = a_queue("few").with_quota({H200: 1})
    async with Endpoint(QUEUE, few, *own(MANY)) as endpoint:
        usage = WorkloadRoom(endpoint.ledger, endpoint.settings)
        makers = {"ReplicaSet": lambda _: True}
        many = asyncio.create_task(usage.held_by(QUEUE.name, "team", makers))
        await asyncio.sleep(0)
        assert await usage.held_by(few.name, "team", makers) is not None
        assert not many.done()
        assert (await many) is not None


async def test_nobody_waits_for_a_word(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "COUNT_TIMEOUT", 0.0)
    assert await warned(endpoint, "deployments", pod(), stored(pod()), replicas=MANY + 5) == []


async def test_a_queue_that_closes_meanwhile_is_closed(endpoint: Endpoint) -> None:
    Watches(endpoint).show(name="web", replicas=MANY)
    request = decode(review_of(scaling(MANY, MANY + 1)))
    task = asyncio.create_task(endpoint.scales.validate(request))
    for _ in range(MANY // 4):
        await asyncio.sleep(0)
    assert not task.done()
    endpoint.see(QUEUE.closed().at_revision(2))
    said = await task
    assert (said.allowed, said.reason) == (False, "QueueNotOpen")
