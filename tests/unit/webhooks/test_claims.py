"""P7: claims of devices that are no cards are let by, and the pod's cards count; others are not."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from builders import H200, a_namespace, a_pod, a_queue, a_volcano_job
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota.quota.objects import ResourceClaim, Workload
from cardquota.quota.pods import PodDefaults, pod_of
from cardquota.quota.pods.workload_facts import workload_facts
from cardquota_webhooks import volcano_jobs

from .endpoint import Endpoint, patched
from .workload_review import THREE, pod, warned

CHANNEL = "compute-domain-default-channel.nvidia.com"
CARD = "gpu.example.com"
STRICT = a_namespace("team").in_mode("enforced")
TEMPLATE = ("team", "ResourceClaimTemplate", "imex")
CLAIM = ("team", "ResourceClaim", "imex")


def claiming(asked: PodBody, *claims: dict[str, str]) -> PodBody:
    named = [{"name": f"c{number}", **claim} for number, claim in enumerate(claims)]
    return asked.put(named, "spec", "resourceClaims")


BY_TEMPLATE = {"resourceClaimTemplateName": "imex"}
BY_NAME = {"resourceClaimName": "imex"}


@pytest.mark.parametrize("claim", [BY_TEMPLATE, BY_NAME])
@pytest.mark.parametrize("gate", ["webhook", "policy"])
async def test_cards_beside_a_claim_of_no_card_count(claim: dict[str, str], gate: str) -> None:
    async with Endpoint(THREE, STRICT, webhook={"gate": gate}) as endpoint:
        endpoint.claimed = {TEMPLATE: [CHANNEL], CLAIM: [CHANNEL]}
        asked = claiming(pod(2), claim)
        if gate == "webhook":
            said = await endpoint.mutate(asked)
            assert (said.allowed, said.warnings) == (True, [])
            assert patched(asked.body, said.patch) == [v.GATE]
        said = await endpoint.validate(asked.gated())
        assert (said.allowed, said.warnings) == (True, [])
        said = await endpoint.validate(claiming(pod(4), claim).gated())
        assert (said.allowed, said.reason) == (False, v.Reason.INSUFFICIENT_CARD)
        assert (await endpoint.validate(claiming(a_pod(), claim))).allowed


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ([BY_TEMPLATE], f"ResourceClaimTemplate <imex> is of DeviceClass <{CARD}>; if "),
        ([BY_NAME, BY_TEMPLATE], f"ResourceClaimTemplate <imex> is of DeviceClass <{CARD}>; "),
        ([{"resourceClaimName": "gone"}], "ResourceClaim <gone> does not exist"),
        ([{}], "ResourceClaim <> does not exist"),
        ([{"resourceClaimName": f"c{n}"} for n in range(9)], "has <9> claims, of which at most 8"),
    ],
)
async def test_all_others_are_refused_and_told_why(claims: list[dict[str, str]], said: str) -> None:
    async with Endpoint(THREE, STRICT) as endpoint:
        endpoint.claimed = {TEMPLATE: [CHANNEL, CARD], CLAIM: [CHANNEL]}
        for path in ("mutate", "validate"):
            answer = await getattr(endpoint, path)(claiming(pod(), *claims))
            assert (answer.allowed, answer.reason) == (False, v.Reason.DEVICE_CLAIMED)
            assert "cannot be counted by card; ask for the card's own resource" in answer.text
            assert said in answer.text


async def test_what_cannot_be_read_is_refused_and_says_so() -> None:
    async with Endpoint(THREE, STRICT) as endpoint:
        endpoint.claims_failure = "no answer in time"
        answer = await endpoint.mutate(claiming(pod(), BY_TEMPLATE))
        assert (answer.allowed, answer.reason) == (False, v.Reason.DEVICE_CLAIMED)
        assert "<imex> claims could not be read: no answer in time; try again" in answer.text


async def test_the_setting_names_the_classes() -> None:
    listed = {"device_classes_without_cards": ("nic.example.com",)}
    async with Endpoint(THREE, STRICT, **listed) as endpoint:
        endpoint.claimed = {TEMPLATE: ["nic.example.com"], CLAIM: [CHANNEL]}
        assert (await endpoint.mutate(claiming(pod(), BY_TEMPLATE))).allowed
        assert not (await endpoint.mutate(claiming(pod(), BY_NAME))).allowed


async def test_devices_asked_for_as_a_resource_are_refused_beside_it() -> None:
    resource = "deviceclass.resource.kubernetes.io/npu"
    async with Endpoint(THREE, STRICT) as endpoint:
        endpoint.claimed = {TEMPLATE: [CHANNEL]}
        asked = claiming(pod().asking_for(1, resource), BY_TEMPLATE)
        assert (await endpoint.mutate(asked)).reason == v.Reason.DEVICE_CLAIMED


@pytest.mark.parametrize("mode", [None, "audit", "off"])
async def test_nothing_is_read_where_nothing_is_refused(mode: str | None) -> None:
    async with Endpoint(THREE, a_namespace("team").in_mode(mode)) as endpoint:
        endpoint.claims_failure = "asked"
        answer = await endpoint.mutate(claiming(pod(), BY_TEMPLATE))
        assert answer.allowed
        assert not [text for text in answer.warnings if "asked" in text]


async def test_a_workload_is_told_the_same() -> None:
    template = claiming(pod(), BY_TEMPLATE)
    async with Endpoint(THREE, STRICT) as endpoint:
        endpoint.claimed = {TEMPLATE: [CHANNEL]}
        assert await warned(endpoint, "deployments", template, replicas=3) == []
        how_many, _ = await warned(endpoint, "deployments", template, replicas=4)
        assert "3 of 4 pods fit" in how_many
        endpoint.claimed = {TEMPLATE: [CARD]}
        (refused,) = await warned(endpoint, "deployments", template, replicas=1)
        assert f"is of DeviceClass <{CARD}>" in refused


async def test_a_job_does_not_wait_for_unread_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have hundreds; its pods are judged one by one."""
    monkeypatch.setattr(volcano_jobs, "CLAIMS_WITHIN", 0.05)
    task = claiming(pod().in_queue(None), BY_TEMPLATE)
    job = a_volcano_job().in_queue("red").with_task("worker", 2, task)
    async with Endpoint(a_queue("red").with_quota({H200: 3}), STRICT) as endpoint:
        endpoint.answers.clear()
        answer = await asyncio.wait_for(endpoint.validate(job), 30)
        assert (answer.allowed, answer.warnings) == (True, [])


async def test_so_is_a_job_of_volcano() -> None:
    task = claiming(pod().in_queue(None), BY_TEMPLATE)
    job = a_volcano_job().in_queue("red").with_task("worker", 2, task)
    async with Endpoint(a_queue("red").with_quota({H200: 3}), STRICT) as endpoint:
        endpoint.claimed = {TEMPLATE: [CHANNEL]}
        assert (await endpoint.validate(job)).allowed
        endpoint.claimed = {TEMPLATE: [CARD]}
        assert (await endpoint.validate(job)).reason == v.Reason.DEVICE_CLAIMED


def test_a_workload_that_is_scaled_is_judged_without_its_claims() -> None:
    """Its pods are judged with them."""
    template = claiming(pod(), BY_TEMPLATE).body
    body = {
        "metadata": {"name": "web", "namespace": "team"},
        "spec": {"replicas": 1, "template": {k: template[k] for k in ("metadata", "spec")}},
    }
    found = workload_facts("Deployment", msgspec.convert(body, Workload))
    assert found is not None
    asked = pod_of(found, "ReplicaSet", PodDefaults())
    assert asked is not None
    assert asked.devices
    assert not asked.claims_devices


@pytest.mark.parametrize(
    ("requests", "classes"),
    [
        ([{"exactly": {"deviceClassName": "a", "count": 2}}], ["a"]),
        ([{"firstAvailable": [{"deviceClassName": "a"}, {"deviceClassName": "b"}]}], ["a", "b"]),
        ([{"deviceClassName": "a"}, {"exactly": {"deviceClassName": "b"}}], ["a", "b"]),
        ([{"deviceClassName": "", "firstAvailable": [{"deviceClassName": "a"}]}], ["a"]),
        ([{"byAnotherWay": {"deviceClassName": "a"}}], [""]),
        ([], []),
        (None, []),
    ],
)
def test_classes_of_claim_and_template_in_each_version(requests: Any, classes: list[str]) -> None:
    spec = {"devices": {"requests": requests}}
    for body in ({"spec": spec}, {"spec": {"metadata": {}, "spec": spec}}):
        named = json.dumps({"metadata": {"name": "a"}, **body})
        found = msgspec.json.decode(named, type=ResourceClaim)
        assert list(found.device_classes()) == classes
