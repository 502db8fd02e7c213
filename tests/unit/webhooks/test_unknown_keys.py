"""Warnings about annotations that were meant to be ours, on whatever is written."""

from typing import Any

import msgspec
import pytest

from builders import H200, a_group, a_pod, a_queue
from cardquota.quota import JOB_TASKS, KEYS_OF_PODS
from cardquota.quota import vocabulary as v
from cardquota_webhooks import GroupResource, Request, key_warnings, of_tasks, of_template

from ..steps import steps_of
from .endpoint import Endpoint
from .workload_review import GROUPS, stored, warned

QUEUE = a_queue("research").with_quota({H200: 8})
WRONG = "volcano.sh/card-name"
SAID = f"annotation <{WRONG}> has no effect; did you mean {v.CARD_NAME}?"
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
    said = f"annotation <volcano.sh/card.requests> has no effect; did you mean {v.REQUEST}?"
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


@pytest.mark.parametrize("resource", sorted(GROUPS))
async def test_on_a_pod_template_once(endpoint: Endpoint, resource: str) -> None:
    template = POD.in_queue("queue").annotated(WRONG, H200)
    assert await warned(endpoint, resource, template) == [SAID]
    assert await warned(endpoint, resource, POD.in_queue("queue")) == []
    old = stored(template, resource)
    assert SAID not in await warned(endpoint, resource, template, old)


def request(written: object, before: object = None) -> Request:
    encoded = [msgspec.Raw(msgspec.json.encode(one)) for one in (written, before)]
    return Request("u", GroupResource(), "UPDATE", object=encoded[0], old_object=encoded[1])


@pytest.mark.parametrize(
    "odd", [None, 3, {}, {"metadata": None}, {"metadata": {"annotations": None}}, {"spec": []}]
)
def test_of_what_cannot_be_read_nothing_is_said(odd: object) -> None:
    good = {"metadata": {"annotations": {WRONG: H200}}}
    assert key_warnings(request(odd), KEYS_OF_PODS) == ()
    assert key_warnings(request(odd), KEYS_OF_PODS, of_template) == ()
    assert key_warnings(request(odd), KEYS_OF_PODS, of_tasks) == ()
    assert key_warnings(request({"spec": {"tasks": [odd]}}), KEYS_OF_PODS, of_tasks) == ()
    assert key_warnings(request(good, odd), KEYS_OF_PODS) == (SAID,)


def test_three_are_told() -> None:
    keys = {f"volcano.sh/card-name{n}": "" for n in range(9)}
    found = key_warnings(request({"metadata": {"annotations": keys}}), KEYS_OF_PODS)
    assert len(found) == 3
    assert max(map(len, found)) <= 256


def test_i5_twenty_thousand_annotations_cost_little() -> None:
    keys = {f"{n:x}/a": 0 for n in range(20_000)} | {f"volcano.sh/q{n}": 0 for n in range(1_000)}
    large = request({"metadata": {"annotations": keys}})
    assert steps_of(lambda: key_warnings(large, KEYS_OF_PODS)) < 200_000


def test_i5_many_tasks_with_many_annotations_cost_little() -> None:
    annotations = [{f"{n:x}-{task}/a": 0 for n in range(80)} for task in range(250)]
    tasks = [{"template": {"metadata": {"annotations": one}}} for one in annotations]
    large = request({"spec": {"tasks": tasks}})
    assert steps_of(lambda: key_warnings(large, KEYS_OF_PODS, of_tasks)) < 300_000


def test_i5_of_more_tasks_than_are_read_no_keys_are() -> None:
    """What was stored before may have tens of thousands: nothing of these is decoded."""
    task = {"template": {"metadata": {"annotations": {WRONG: H200}}}}
    new, old = {"spec": {"tasks": [task]}}, {"spec": {"tasks": [task] * (JOB_TASKS.most + 1)}}
    assert key_warnings(request(new, new), KEYS_OF_PODS, of_tasks) == ()
    assert key_warnings(request(new, old), KEYS_OF_PODS, of_tasks) == (SAID,)
    assert key_warnings(request(old), KEYS_OF_PODS, of_tasks) == ()
