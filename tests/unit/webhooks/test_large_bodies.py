"""P8: what is larger than an object can be is answered without being read."""

import json
import re
from typing import Any, TypeVar

import pytest

from builders import H200, a_namespace, a_pod, a_queue
from builders.body import Body
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import BODY, Reason
from cardquota.quota import vocabulary as v

from .endpoint import Endpoint, request_of

B = TypeVar("B", bound=Body)

QUEUE = a_queue("queue").with_quota({H200: 3})
POD = a_pod().in_queue("queue").naming(H200).asking_for(1)


def of_size(thing: PodBody, size: int) -> PodBody:
    """Its JSON has exactly so many bytes."""
    padded = thing.annotated("example.com/long", "")
    missing = size - len(json.dumps(padded.body))
    return thing.annotated("example.com/long", "x" * missing)


def unreadable(thing: B) -> B:
    """Who decodes it fails."""
    return thing.put(7, "metadata", "uid")


TOO_LARGE = of_size(POD, BODY.most + 1)


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
async def test_a_pod_too_large_is_refused_with_both_numbers(endpoint: Endpoint, path: str) -> None:
    said = await endpoint.review(path, request_of(TOO_LARGE))
    assert said.reason == Reason.INVALID_CARD
    assert f"<{BODY.most + 1}> bytes" in said.text
    assert f"<{BODY.most}>" in said.text


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
async def test_however_large_a_pod_that_has_no_queue_is_none_of_ours(path: str) -> None:
    """It is refused only where it would have one, or must have one."""
    outside = of_size(a_pod().asking_for(1), 1_400_000)
    given = a_namespace("team").put({v.QUEUE_NAME: "queue"}, "metadata", "annotations")
    asked = request_of(outside)
    for allowed, things, config in (
        (True, (), {}),
        (False, (given,), {}),
        (False, (a_namespace("team").in_mode("enforced"),), {}),
        (False, (), {"defaultQueue": "queue"}),
        (False, (), {"requireQueue": True}),
    ):
        async with Endpoint(QUEUE, *things, **config) as endpoint:
            assert (await endpoint.review(path, asked)).allowed is allowed, (things, config)


async def test_as_much_as_the_limit_is_read(endpoint: Endpoint) -> None:
    assert (await endpoint.mutate(of_size(POD, BODY.most))).allowed


@pytest.mark.parametrize("size", [0, BODY.most + 1])
async def test_nothing_of_it_is_decoded(endpoint: Endpoint, size: int) -> None:
    """Nobody hears that it cannot be read, as of one that is small."""
    pod = of_size(unreadable(POD), size) if size else unreadable(POD)
    said = []
    said.append((await endpoint.mutate(pod)).text)
    resize = request_of(pod, subResource="resize", oldObject=pod.body)
    said.append((await endpoint.review("/validate", resize)).text)
    said += (await endpoint.review("/validate", a_deployment(size, replicas="2"))).warnings
    said.append((await endpoint.validate(unreadable(a_large_queue(size)))).text)
    large = [f"<{BODY.most}>" in text for text in said]
    assert large == ([True] * 4 if size else [False] * len(said))


async def test_a_queue_too_large_is_refused_with_both_numbers(endpoint: Endpoint) -> None:
    said = await endpoint.validate(a_large_queue(BODY.most + 1))
    assert re.match(r"Queue <queue>: the object is <524\d\d\d> bytes long", said.text)
    large = a_large_queue(BODY.most + 1).body
    request = {**request_of(QUEUE), "name": "", "operation": "DELETE", "oldObject": large}
    assert (await endpoint.review("/validate", request)).code == 400


def a_large_queue(size: int) -> QueueBody:
    return QUEUE.annotated("example.com/long", "x" * size)


def a_deployment(size: int, replicas: object = 2) -> dict[str, Any]:
    body = {"metadata": {"name": "d"}, "spec": {"replicas": replicas, "x": "x" * size}}
    resource = {"group": "apps", "version": "v1", "resource": "deployments"}
    return {**request_of(POD), "resource": resource, "object": body}


async def test_where_nothing_is_enforced_it_is_a_word_at_most() -> None:
    audited, left_alone = (a_namespace("team").in_mode(mode) for mode in ("audit", "off"))
    async with Endpoint(QUEUE, audited) as endpoint:
        said = await endpoint.mutate(TOO_LARGE)
        assert said.allowed
        assert said.warnings
    async with Endpoint(QUEUE, left_alone) as endpoint:
        said = await endpoint.mutate(TOO_LARGE)
        assert said.allowed
        assert said.warnings == []
