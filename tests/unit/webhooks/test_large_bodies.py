"""P8: what is larger than an object can be is answered without being read."""

import json
from typing import Any

import pytest

from builders import H200, a_namespace, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.limits import BODY
from cardquota.quota.vocabulary import Reason
from cardquota_webhooks import pods, resizes, workloads

from .door import Door, request_of

QUEUE = a_queue("queue").with_quota({H200: 3})
POD = a_pod().in_queue("queue").naming(H200).asking_for(1)


def of_size(thing: PodBody, size: int) -> PodBody:
    """Its JSON has exactly so many bytes."""
    padded = thing.annotated("example.com/long", "")
    missing = size - len(json.dumps(padded.body))
    return thing.annotated("example.com/long", "x" * missing)


TOO_LARGE = of_size(POD, BODY.most + 1)


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
async def test_a_pod_that_is_too_large_is_refused_with_both_numbers(path: str) -> None:
    async with Door(QUEUE) as door:
        said = await door.review(path, request_of(TOO_LARGE))
        assert said.reason == Reason.INVALID_CARD
        assert f"<{BODY.most + 1}> bytes" in said.text
        assert f"<{BODY.most}>" in said.text


async def test_as_much_as_the_limit_is_read() -> None:
    async with Door(QUEUE) as door:
        assert (await door.mutate(of_size(POD, BODY.most))).allowed


async def test_nothing_of_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pods, resizes, workloads):
        monkeypatch.setattr(module, "_DECODER", None)
    async with Door(QUEUE) as door:
        assert not (await door.mutate(TOO_LARGE)).allowed
        resize = request_of(TOO_LARGE, subResource="resize", oldObject=TOO_LARGE.body)
        assert not (await door.review("/validate", resize)).allowed
        words = (await door.review("/validate", a_deployment(BODY.most + 1))).warnings
        assert [f"<{BODY.most}>" in text for text in words] == [True]


def a_deployment(size: int) -> dict[str, Any]:
    body = {"metadata": {"name": "d"}, "spec": {"replicas": 2, "x": "x" * size}}
    resource = {"group": "apps", "version": "v1", "resource": "deployments"}
    return {**request_of(POD), "resource": resource, "object": body}


async def test_where_nothing_is_enforced_it_is_a_word_at_most() -> None:
    audited, left_alone = (a_namespace("team").in_mode(mode) for mode in ("audit", "off"))
    async with Door(QUEUE, audited) as door:
        said = await door.mutate(TOO_LARGE)
        assert said.allowed
        assert said.warnings
    async with Door(QUEUE, left_alone) as door:
        said = await door.mutate(TOO_LARGE)
        assert said.allowed
        assert said.warnings == []
