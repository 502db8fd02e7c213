"""While a review waits for its answer, nothing of its body is kept."""

import asyncio
import tracemalloc
from collections.abc import Iterator

import pytest

from builders import H200, a_group, a_pod, a_queue, a_volcano_job
from builders.pod import PodBody
from cardquota.cluster.serving import HttpCall

from .endpoint import Endpoint, request_of, review_of

LONG = "x" * 200_000
TOGETHER = 20
KEPT = 40_000
"""Bytes of each at most."""
NEW = "not-seen-yet"
POD = a_pod().in_namespace(NEW).in_queue("queue").naming(H200).asking_for(1)


def a_deployment(pod: PodBody) -> dict[str, object]:
    return {
        "metadata": {"name": "d", "annotations": {"long": LONG}},
        "spec": {"replicas": 2, "template": {"metadata": pod.body["metadata"], "spec": {}}},
    }


def reviews() -> Iterator[tuple[str, str, bytes]]:
    pod = POD.annotated("example.com/long", LONG)
    yield "pods", "/mutate", review_of(request_of(pod))
    yield "final pods", "/validate", review_of(request_of(pod))
    group = a_group().in_queue("other").in_namespace(NEW).annotated("example.com/long", LONG)
    yield "groups", "/validate", review_of(request_of(group))
    job = a_volcano_job(namespace=NEW).annotated("example.com/long", LONG)
    changed = request_of(job, operation="UPDATE", oldObject=job.body)
    yield "jobs", "/validate", review_of(changed)
    body = a_deployment(POD)
    resource = {"group": "apps", "version": "v1", "resource": "deployments"}
    changed = request_of(POD, resource=resource, object=body, oldObject=body, operation="UPDATE")
    yield "deployments", "/validate", review_of(changed)


REVIEWS = list(reviews())


@pytest.mark.parametrize(("path", "body"), [r[1:] for r in REVIEWS], ids=[r[0] for r in REVIEWS])
async def test_a_review_that_waits_keeps_nothing_of_its_body(path: str, body: bytes) -> None:
    """It waits until a namespace is seen."""
    server = Endpoint(a_queue("queue").with_quota({H200: 3}), unseen_wait=30).server
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tasks = []
    for _ in range(TOGETHER):
        tasks.append(asyncio.create_task(server.answer(sent(path, body))))
        for _ in range(3):
            await asyncio.sleep(0)
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert not any(task.done() for task in tasks)
    assert kept < TOGETHER * KEPT
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def sent(path: str, body: bytes) -> HttpCall:
    async def own() -> bytes:
        return bytes(bytearray(body))  # not the one that all tests share

    return HttpCall("POST", path, own, {})
