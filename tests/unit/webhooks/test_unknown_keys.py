"""Warnings about annotations that were meant to be ours, on whatever is written."""

from typing import Any

import pytest

from builders import H200, a_group, a_pod, a_queue
from cardquota.quota import vocabulary as v

from .endpoint import Endpoint, request_of
from .workload_review import a_workload

QUEUE = a_queue("research").with_quota({H200: 8})
WRONG = "volcano.sh/card-name"
SAID = f"annotation <{WRONG}> means nothing; did you mean {v.CARD_NAME}?"
POD = a_pod().in_queue("research").asking_for(1)


async def test_on_a_pod() -> None:
    async with Endpoint(QUEUE) as endpoint:
        said = await endpoint.mutate(POD.annotated(WRONG, H200))
        assert said.allowed
        assert said.warnings == [SAID]
        assert (await endpoint.mutate(POD)).warnings == []


async def test_where_a_policy_sets_the_gate_the_validating_review_says_it() -> None:
    config: dict[str, Any] = {"webhook": {"gate": "policy"}}
    async with Endpoint(QUEUE, **config) as endpoint:
        pod = POD.gated().annotated(WRONG, H200)
        assert (await endpoint.validate(pod)).warnings == [SAID]


async def test_on_a_pod_group() -> None:
    group = a_group().in_queue("research").of(2)
    wrong = group.annotated("volcano.sh/card.requests", "{}")
    said = f"annotation <volcano.sh/card.requests> means nothing; did you mean {v.REQUEST}?"
    async with Endpoint(QUEUE) as endpoint:
        assert (await endpoint.validate(wrong)).warnings == [said]
        more = {"operation": "UPDATE", "oldObject": group.body}
        assert (await endpoint.validate(wrong, **more)).warnings == [said]
        more["oldObject"] = wrong.body
        assert (await endpoint.validate(wrong, **more)).warnings == []


@pytest.mark.parametrize("long", [300_000, 1_000_000])
async def test_of_a_large_object_no_keys_are_read(long: int) -> None:
    pod = POD.annotated(WRONG, H200).annotated("example.com/x", "x" * long)
    async with Endpoint(QUEUE) as endpoint:
        assert (await endpoint.mutate(pod)).warnings == []


@pytest.mark.parametrize("annotations", [None, {}, 3, [1], {"a": 1}])
async def test_whatever_stands_there_is_no_error(annotations: object) -> None:
    body = a_queue().body
    body = {**body, "metadata": {**body["metadata"], "annotations": annotations}}
    async with Endpoint() as endpoint:
        request = {**request_of(a_queue()), "object": body}
        status, _ = await endpoint.post("/validate", b"{}")
        assert status == 400
        request["oldObject"] = {"metadata": {"annotations": annotations}}
        await endpoint.post("/validate", __import__("json").dumps(request).encode())
