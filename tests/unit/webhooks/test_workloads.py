"""A word to those who write workloads; never a refusal."""

import asyncio

import msgspec
import pytest

from builders import H200, H800, a_group, a_namespace, a_pod, a_queue
from cardquota.cluster.watch import watched_kinds
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import request_messages

from .endpoint import Endpoint, ReviewAnswer
from .workload_review import GROUPS, THREE, asked, pod, running, warned


@pytest.mark.parametrize("resource", ["deployments", "statefulsets"])
async def test_three_of_four_fit(endpoint: Endpoint, resource: str) -> None:
    assert await warned(endpoint, resource, pod(), replicas=3) == []
    how_many, why = await warned(endpoint, resource, pod(), replicas=4)
    assert how_many == ("web: 3 of 4 pods fit the quota now, 1 is refused until there is room")
    assert why == (
        f"Queue <queue> has insufficient <{H200}> quota: "
        "requested <1>, total would be <4>, but capability is <3>"
    )


async def test_a_queue_that_was_created_a_moment_ago_is_waited_for() -> None:
    """`kubectl apply` of queue and workload in one file."""
    async with Endpoint() as endpoint:
        review = asyncio.create_task(warned(endpoint, "deployments", pod(), replicas=4))
        await asyncio.sleep(0.05)
        assert not review.done()
        endpoint.see(THREE)
        how_many, _ = await review
        assert "3 of 4 pods fit" in how_many


async def test_the_warning_says_who_holds_what_it_lacks_if_that_is_short_enough() -> None:
    """Kubernetes cuts a Warning at 256 characters."""
    for number, told in ((1, f"; held by {'a' * 60}0 1"), (2, "")):
        there = [running("a" * 60 + str(n)) for n in range(number)]
        async with Endpoint(THREE, *there) as endpoint:
            _, why = await warned(endpoint, "deployments", pod(), replicas=4)
            assert why.endswith(f"but capability is <3>{told}")


async def test_each_alternative_has_its_own_room() -> None:
    """2 of the one and 1 of the other are three pods; the fourth names both."""
    queue = a_queue().with_quota({H200: 2, H800: 1})
    template = pod(1, f"{H200}|{H800}")
    async with Endpoint(queue) as endpoint:
        assert await warned(endpoint, "deployments", template, replicas=3) == []
        how_many, why = await warned(endpoint, "deployments", template, replicas=4)
        assert "3 of 4 pods fit" in how_many
        assert f"<{H200}> quota: requested <1>, total would be <3>, but capability is <2>" in why
        assert f"<{H800}> quota: requested <1>, total would be <2>, but capability is <1>" in why


@pytest.mark.parametrize("resource", sorted(GROUPS))
async def test_e5_what_never_fits_is_said_wherever_it_is(endpoint: Endpoint, resource: str) -> None:
    (text,) = await warned(endpoint, resource, pod(5))
    assert "requested <5>, total would be <5>, but capability is <3>" in text
    (text,) = await warned(endpoint, resource, pod(1, "NVIDIA-H2OO"))
    assert "is not known" in text


async def test_many_replicas_cost_nothing(endpoint: Endpoint) -> None:
    how_many, _ = await warned(endpoint, "deployments", pod(), replicas=2**31 - 1)
    assert how_many.startswith("web: 3 of 2147483647 pods fit")


async def test_of_pods_that_do_not_fit_the_alias_is_named_last(endpoint: Endpoint) -> None:
    old = a_pod().in_queue("queue").asking_for(1).annotated(v.CARD_NAME_ALIAS, H200)
    how_many, _, word = await warned(endpoint, "deployments", old, replicas=4)
    assert "3 of 4 pods fit" in how_many
    assert word == request_messages.alias_used()


async def test_without_cards_and_queue_nothing_is_said(endpoint: Endpoint) -> None:
    assert await warned(endpoint, "deployments", a_pod(), replicas=9) == []


async def test_a_gang_whose_minimum_has_no_room_waits_whole() -> None:
    gang = a_group("gang").in_queue("queue").of(2)
    member = pod().in_group("gang")
    async with Endpoint(THREE, gang, running("other", 2)) as endpoint:
        how_many, why = await warned(endpoint, "jobs", member, parallelism=2)
        assert how_many == "web: 0 of 2 pods fit the quota now, all wait at the gate"
        # The numbers of the gang, as its event has them.
        assert "requested <2>, total would be <4>, but capability is <3>" in why
    async with Endpoint(THREE, gang, running("other", 1)) as endpoint:
        how_many, _ = await warned(endpoint, "jobs", member, parallelism=3)
        assert "2 of 3 pods fit" in how_many


async def test_e2_what_its_group_has_reserved_is_for_its_pods() -> None:
    gang = a_group("gang").in_queue("queue").of(2).asking({H200: 3})
    gang = gang.enqueued("queue", {H200: 3})
    async with Endpoint(THREE, gang) as endpoint:
        assert await warned(endpoint, "jobs", pod().in_group("gang"), parallelism=3) == []
        how_many, _ = await warned(endpoint, "jobs", pod().in_group("gang"), parallelism=4)
        assert "3 of 4 pods fit" in how_many
        how_many, _ = await warned(endpoint, "jobs", pod(), parallelism=2)
        assert "0 of 2 pods fit" in how_many


async def reviewed(endpoint: Endpoint, body: object, resource: str = "deployments") -> ReviewAnswer:
    return await endpoint.review("/validate", {**asked(resource, pod()), "object": body})


@pytest.mark.parametrize(
    "body",
    [
        *(None, "x", 1, [], {"metadata": None}, {"metadata": {"name": "w"}, "spec": 3}),
        {"metadata": {"name": "w"}, "spec": {"template": {"metadata": {"resourceVersion": 3}}}},
        {"metadata": {"name": "w"}, "spec": {"replicas": 1e300}},
    ],
)
async def test_what_cannot_be_read_is_admitted_without_a_word(
    endpoint: Endpoint, body: object, caplog: pytest.LogCaptureFixture
) -> None:
    """A webhook that only warns refuses nothing; its pods, and the API server, are stricter."""
    said = await reviewed(endpoint, body)
    assert (said.allowed, said.warnings) == (True, [])
    assert caplog.records == []


async def test_a_bug_is_logged_and_refuses_nothing(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(endpoint.ledger, "queue_of", None)
    said = await reviewed(endpoint, {"metadata": {"name": "w"}})
    assert (said.allowed, said.warnings) == (True, [])
    assert "no word could be said of one of deployments" in caplog.text


async def test_v5_beside_volcano_pods_without_a_queue_are_spoken_of() -> None:
    template = a_pod().asking_for(1).with_spec(schedulerName="volcano")
    async with Endpoint(THREE, scheduler="volcano") as endpoint:
        (text,) = await warned(endpoint, "deployments", template)
        assert "Volcano runs it in <default>" in text
        assert await warned(endpoint, "deployments", a_pod().asking_for(1)) == []
    async with Endpoint(THREE) as endpoint:
        assert await warned(endpoint, "deployments", template) == []


async def test_what_the_api_server_adds_to_pods_is_in_the_numbers() -> None:
    """A template says nothing of it: 500m by the LimitRange and 250m by the RuntimeClass."""
    template = pod().with_spec(runtimeClassName="kata")
    async with Endpoint(THREE.limited_to(cpu="1")) as endpoint:
        assert await warned(endpoint, "deployments", template, replicas=3) == []
        kinds = watched_kinds(endpoint.ledger, endpoint.notifier)
        feed = {one.kind: one for one in kinds}

        def see(kind: str, body: dict[str, object]) -> None:
            feed[kind].seen(msgspec.convert(body, feed[kind].struct))

        limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "500m"}}]}
        see("limitranges", {"metadata": {"name": "l", "namespace": "team"}, "spec": limits})
        overhead = {"podFixed": {"cpu": "250m"}}
        see("runtimeclasses", {"metadata": {"name": "kata"}, "overhead": overhead})
        how_many, why = await warned(endpoint, "deployments", template, replicas=3)
        assert "1 of 3 pods fit" in how_many
        assert "<cpu> quota: requested <0.75>, total would be <1.5>, but capability is <1>" in why
        feed["runtimeclasses"].gone("", "kata", "uid")
        how_many, _ = await warned(endpoint, "deployments", template, replicas=3)
        assert "2 of 3 pods fit" in how_many
        feed["limitranges"].gone("team", "l", "uid")
        assert await warned(endpoint, "deployments", template, replicas=3) == []


async def test_claimed_devices_are_said_once(endpoint: Endpoint) -> None:
    template = pod(1).asking_for(1, "deviceclass.resource.kubernetes.io/npu")
    assert await warned(endpoint, "deployments", template) == [request_messages.claim_not_counted()]
    endpoint.see(a_namespace("team").in_mode("enforced"))
    (refused,) = await warned(endpoint, "deployments", template)
    assert request_messages.device_claimed() in refused
