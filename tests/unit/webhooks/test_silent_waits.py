"""Warnings about what makes pods wait without another word."""

from typing import Any

import pytest

from builders import a_pod
from builders.pod import PodBody
from cardquota.quota import vocabulary as v

from .endpoint import Endpoint
from .workload_review import asked, pod, warned

SCAN = {"name": "example.com/scan"}
GATED = (
    "scheduling gate <example.com/scan> is not cardquota's: a pod that waits for that one alone "
    "holds its quota"
)
DEADLINE = (
    "activeDeadlineSeconds <600> also counts while pods wait for quota: the Job may fail before "
    "they start"
)


def beside(key: str) -> str:
    return f"annotation {key} of a workload does nothing: write it in its pod template's metadata"


def with_gate(body: PodBody) -> PodBody:
    return body.with_spec(schedulingGates=[SCAN])


async def test_another_gate_is_told_on_pods_and_templates(endpoint: Endpoint) -> None:
    said = await endpoint.mutate(with_gate(pod()))
    assert said.allowed
    assert GATED in said.warnings
    assert GATED in await warned(endpoint, "deployments", with_gate(pod()), replicas=1)
    assert await warned(endpoint, "deployments", with_gate(a_pod()), replicas=1) == []
    assert await warned(endpoint, "deployments", pod(), replicas=1) == []


@pytest.mark.parametrize("resource", ["jobs", "cronjobs"])
async def test_a_deadline_of_a_job_counts_while_it_waits(endpoint: Endpoint, resource: str) -> None:
    spec: dict[str, Any] = {"activeDeadlineSeconds": 600}
    assert DEADLINE in await warned(endpoint, resource, pod(), **spec)
    assert DEADLINE not in await warned(endpoint, resource, a_pod(), **spec)
    of_pods = pod().with_spec(activeDeadlineSeconds=600)
    assert DEADLINE not in await warned(endpoint, resource, of_pods)


async def test_keys_of_pods_on_the_workload_alone(endpoint: Endpoint) -> None:
    template = a_pod().asking_for(1)
    review = asked("deployments", template, replicas=1)
    written = {v.QUEUE_NAME: "queue", v.CARD_NAME: "x", "other": "y"}
    review["object"]["metadata"]["annotations"] = written
    told = [beside(v.CARD_NAME), beside(v.QUEUE_NAME)]
    said = await endpoint.review("/validate", review)
    assert [one for one in said.warnings if "does nothing" in one] == told
    review["object"]["spec"]["template"] = pod().body
    said = await endpoint.review("/validate", review)
    assert not [one for one in said.warnings if "does nothing" in one]
    review["object"]["spec"]["template"] = template.body
    review["oldObject"] = {"metadata": {"annotations": written}}
    said = await endpoint.review("/validate", review)
    assert not [one for one in said.warnings if "does nothing" in one]
