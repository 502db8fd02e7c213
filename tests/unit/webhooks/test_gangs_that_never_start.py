"""A gang for whose pods no quota has room: said when it, or its workload, is written (E5)."""

import asyncio

import pytest

from builders import H200, H800, a_group, a_namespace, a_queue
from cardquota.quota.messages import queue_messages

from .endpoint import Endpoint
from .waiting_reviews import until_waiting
from .workload_review import THREE, pod, running, warned

GANG = a_group("gang").in_queue("queue").of(4)
MEMBER = pod().in_group("gang")
TOO_FEW = "Queue <queue> has quota for <3> of <4>; lower minMember to 3, or ask its owner"
NEVER = f"web: its pods alone cannot start pod group <team/gang>: {TOO_FEW}"
FOUR = f"Queue <queue> has insufficient <{H200}> quota: requested <4>, total would be <%d>, but "


CLOSED = a_queue("closed").with_quota({H200: 3}).closed()
OTHERS = a_queue("others").with_quota({H200: 3}).open_to("else")
TAKES_NOTHING = (
    ("gone", "Queue <gone> does not exist"),
    ("closed", "Queue <closed> is Closed and takes nothing new"),
    ("others", "Queue <others> is not open to namespace <team>"),
)


async def test_one_that_starts_once_there_is_room_is_told_that_it_waits() -> None:
    async with Endpoint(THREE, GANG.of(3), running("other", 2)) as endpoint:
        how_many, _ = await warned(endpoint, "jobs", MEMBER, parallelism=3)
        assert how_many == "web: 0 of 3 pods fit the quota now, all wait at the gate"
    async with Endpoint(THREE, running("other", 3)) as endpoint:
        how_many, _ = await warned(endpoint, "deployments", pod(), replicas=2)
        assert how_many == "web: 0 of 2 pods fit the quota now, all are refused until there is room"


async def test_alternatives_are_counted_together() -> None:
    either = pod(1, f"{H200}|{H800}").in_group("gang")
    async with Endpoint(a_queue().with_quota({H200: 3, H800: 1}), GANG) as endpoint:
        assert await warned(endpoint, "jobs", either, parallelism=4) == []
        endpoint.see(GANG.of(5))
        never, why = await warned(endpoint, "jobs", either, parallelism=5)
        assert "Queue <queue> has quota for <4> of <5>" in never
        assert f"<{H800}> quota: requested <5>" in why


async def test_in_audit_it_is_worded_as_all_else() -> None:
    async with Endpoint(THREE, GANG, mode="audit") as endpoint:
        never, _, _ = await warned(endpoint, "jobs", MEMBER, parallelism=4)
        assert never == f"audit: would be refused or wait: {NEVER}"


async def test_a_group_that_was_written_a_moment_ago_is_waited_for() -> None:
    """`kubectl apply` of group and Job in one file."""
    async with Endpoint(THREE, unseen_wait=30.0) as endpoint:
        review = asyncio.create_task(warned(endpoint, "jobs", MEMBER, parallelism=4))
        await until_waiting(endpoint.notifier)
        assert not review.done()
        endpoint.see(GANG)
        never, _ = await review
        assert never == NEVER


async def test_a_group_that_does_not_come_is_named() -> None:
    async with Endpoint(THREE, unseen_wait=0) as endpoint:
        told = await warned(endpoint, "jobs", MEMBER, parallelism=4)
        assert told == [queue_messages.group_not_seen("team/gang")]


@pytest.mark.parametrize("resource", ["jobs", "deployments"])
async def test_a_workload_in_a_queue_that_takes_nothing_of_it_is_told(resource: str) -> None:
    """The queue is missing, closed, or not open to the namespace; its own, or its group's."""
    groups = [a_group(name).in_queue(name).of(2) for name in ("gone", "closed", "others")]
    async with Endpoint(CLOSED, OTHERS, *groups) as endpoint:
        endpoint.there = False
        for name, word in TAKES_NOTHING:
            for body in (pod().in_queue(name), MEMBER.in_queue(None).in_group(name)):
                (said,) = await warned(endpoint, resource, body)
                assert word in said


async def test_a_group_is_told_by_the_pods_that_are_there() -> None:
    group = "<team/gang> cannot start with its pods"
    pods = (MEMBER.put(name, "metadata", "name").with_uid(name).gated() for name in "abcd")
    async with Endpoint(THREE, *pods) as endpoint:
        said = await endpoint.validate(GANG)
        assert (said.allowed, said.warnings) == (True, [f"{group}: {TOO_FEW}"])
        assert (await endpoint.validate(GANG.of(3))).warnings == []
        endpoint.see(GANG.of(3))
        said = await endpoint.validate(GANG, operation="UPDATE", oldObject=GANG.of(3).body)
        assert (said.allowed, said.warnings) == (True, [f"{group}: {TOO_FEW}"])
        later = GANG.put({"cpu": "1"}, "spec", "minResources")
        said = await endpoint.validate(later, operation="UPDATE", oldObject=GANG.body)
        assert said.warnings == []  # that was said when it was written


async def test_a_group_without_a_request_in_a_queue_that_takes_nothing_is_refused() -> None:
    """E5: as with a request, by whatever is wrong with its queue. Not where nothing is enforced,
    nor for a queue that is not there yet: that group waits.
    """
    audited = a_namespace("team").labelled("volcano.sh/card-quota", "audit")
    for more in ([], [audited]):
        async with Endpoint(CLOSED, OTHERS, *more) as endpoint:
            endpoint.there = False
            for name, word in TAKES_NOTHING:
                word += "; name one that does (`kubectl get queues`)" * (name == "gone")
                said = await endpoint.validate(GANG.in_queue(name))
                assert said.allowed == (name == "gone" or bool(more))
                assert word in (said.warnings[0] if said.allowed else said.text)
                owned = await endpoint.validate(GANG.in_queue(name).made_by_a_controller())
                assert owned.allowed
                assert word in owned.warnings[0]
