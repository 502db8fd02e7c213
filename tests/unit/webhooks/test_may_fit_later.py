"""Refusals that may come true later have the words for which batch tools try again (section 9)."""

import pytest

from builders.pod import PodBody
from cardquota.quota import vocabulary as v

from .endpoint import Endpoint, ReviewAnswer, request_of
from .scale_review import Watches, by_people
from .workload_review import THREE, pod, running

WORDS = "exceeded quota"


async def resized(endpoint: Endpoint, cpu: str) -> ReviewAnswer:
    before = running("a").with_cpu("1")
    request = request_of(before.with_cpu(cpu), operation="UPDATE", subResource="resize")
    return await endpoint.review("/validate", {**request, "oldObject": before.body})


async def test_what_may_fit_later_has_them_once() -> None:
    """With status 403: Argo Workflows does not look at the text of any other."""
    limited = THREE.limited_to(cpu="4")
    async with Endpoint(limited, running("a").with_cpu("1"), running("b").with_cpu("1")) as one:
        Watches(one).show(replicas=1)
        said = [
            await one.mutate(pod(2)),
            await one.validate(pod(2)),
            await by_people(one, 1, 3),
            await resized(one, "3500m"),
        ]
    for answer in said:
        assert (answer.allowed, answer.code, answer.text.count(WORDS)) == (False, 403, 1)
        assert WORDS not in answer.text.partition("; held by")[2]  # that is last, as ever


@pytest.mark.parametrize(
    "asked",
    [
        pod(4),
        pod(1, "NVIDIA-B200"),
        pod().in_queue("other"),
        pod().naming("A||B"),
        pod().on_node("h200-a"),
        pod().with_cpu("many"),
    ],
)
async def test_what_never_fits_has_none_of_them(asked: PodBody) -> None:
    """Whoever tries again for ever would never be told."""
    async with Endpoint(THREE) as endpoint:
        said = await endpoint.mutate(asked)
        assert not said.allowed
        assert WORDS not in said.text


async def test_what_can_never_have_more_cpu_or_replicas_has_none_of_them() -> None:
    async with Endpoint(THREE.limited_to(cpu="4"), running("a").with_cpu("1")) as endpoint:
        Watches(endpoint).show(template=pod(5), replicas=0)
        for said in (await resized(endpoint, "5"), await by_people(endpoint, 0, 1)):
            assert not said.allowed
            assert WORDS not in said.text


async def test_who_waits_and_who_is_only_warned_has_none_of_them() -> None:
    job = pod(2).owned_by("Job")
    for config in ({}, {"mode": "audit"}):
        async with Endpoint(THREE, running("a"), running("b"), **config) as endpoint:
            said = await endpoint.mutate(job)
            assert said.allowed
            assert not any(WORDS in text for text in said.warnings)


ADVICE = (
    "or wait instead: pods of a <b> are refused by default; write Gate into the queue's annotation "
    f"{v.POLICY}, or into policyByOwner of cardquota's configuration"
)


async def test_who_is_refused_for_a_kind_that_nobody_knows_is_told_how_to_wait() -> None:
    """Not where the queue has a policy, nor for kinds that make services, nor for a bare pod."""
    kind = "TaskRun"
    for policy, owner, told in (
        (None, kind, True),
        ("Deny", kind, False),
        (None, "ReplicaSet", False),
        (None, "", False),
    ):
        queue = THREE.with_policy(policy) if policy else THREE
        asked = pod(2).owned_by(owner) if owner else pod(2)
        async with Endpoint(queue, running("a"), running("b")) as endpoint:
            said = await endpoint.mutate(asked)
            assert not said.allowed
            assert (ADVICE.replace("<b>", kind) in said.text) is told


@pytest.mark.parametrize("label", ["spark-role", "dag_id"])
async def test_what_a_batch_tool_makes_without_a_controller_waits(label: str) -> None:
    """Spark's operator writes its SparkApplication as owner after us; Airflow owns no pod. What a
    service makes is not batch for its labels.
    """
    asked = pod(2).labelled(label, "x")
    async with Endpoint(THREE, running("a"), running("b")) as endpoint:
        assert (await endpoint.mutate(asked)).allowed
        assert not (await endpoint.mutate(asked.owned_by("ReplicaSet"))).allowed


async def test_a_kind_of_any_form_is_shown_harmlessly() -> None:
    asked = pod(2).owned_by("<img src=x>\n" * 20)
    async with Endpoint(THREE, running("a"), running("b")) as endpoint:
        text = (await endpoint.mutate(asked)).text
        assert "\n" not in text
        assert len(text) < 1_000


async def test_a_setting_says_which_kinds_wait() -> None:
    policies = {"TaskRun": "Gate", "PyTorchJob": "Deny"}
    async with Endpoint(THREE, running("a"), running("b"), policyByOwner=policies) as endpoint:
        allowed = [
            kind
            for kind in ("TaskRun", "PyTorchJob", "Workflow", "ReplicaSet")
            if (await endpoint.mutate(pod(2).owned_by(kind, "example.com/v1"))).allowed
        ]
    assert allowed == ["TaskRun", "Workflow"]
