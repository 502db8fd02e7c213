"""Reviews of pod groups: what could never start is refused, all else is admitted."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from builders import GPU, H200, H800, a_group, a_namespace, a_pod, a_queue
from builders.group import GroupBody
from cardquota.quota import BODY
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import group_messages

from .endpoint import Endpoint

RED = a_queue("red").with_quota({H200: 3})
GANG = a_group().in_queue("red").of(2).requesting({H200: 2})
TOO_MUCH = GANG.requesting({H200: 5})
SENTENCE = (
    f"Queue <red> has insufficient <{H200}> quota: requested <5>, total would be <5>, but "
    "capability is <3>; ask for at most 3, or ask the queue's owner for a higher quota"
)


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with Endpoint(RED) as endpoint:
        yield endpoint


@pytest.mark.parametrize(
    ("group", "reason", "words"),
    [
        (GANG.requesting("{"), "InvalidCardAnnotation", "cannot be read: it is not JSON"),
        (GANG.requesting({H800: 1}), "CardNotInQuota", "is not in the queue's quota"),
        (GANG.of(0), "Forbidden", "pod group <team/gang>: spec.minMember is <0>"),
    ],
)
async def test_what_is_refused_at_create_and_at_update(
    endpoint: Endpoint, group: GroupBody, reason: str, words: str
) -> None:
    """E5, P8; a dry run gets the same answer, and in audit the same words are a Warning."""
    endpoint.there = False
    for more in ({}, {"dryRun": True}, {"operation": "UPDATE", "oldObject": GANG.body}):
        said = await endpoint.validate(group, **more)
        assert (said.allowed, said.reason) == (False, reason)
        assert words in said.text
    audited = a_namespace("team").labelled("volcano.sh/card-quota", "audit")
    for endpoint in (Endpoint(RED, mode="audit"), Endpoint(RED, audited)):
        async with endpoint:
            endpoint.there = False
            said = await endpoint.validate(group)
            assert said.allowed
            assert said.warnings[0].startswith("audit: would be refused or wait: ")
            assert words in said.warnings[0]


async def test_a_namespace_that_is_off_is_left_alone() -> None:
    async with Endpoint(RED, a_namespace("team").labelled("volcano.sh/card-quota", "off")) as there:
        for group in (TOO_MUCH, GANG.of(0), GANG.requesting({"NVIDIA-B300": 1})):
            said = await there.validate(group)
            assert (said.allowed, said.warnings) == (True, [])


async def test_what_changes_nothing_that_is_judged_is_never_refused(endpoint: Endpoint) -> None:
    """Status, finalizers and our own annotations are written whatever is wrong with the group."""
    for bad in (TOO_MUCH, GANG.of(0), GANG.in_queue("gone")):
        for new in (
            bad.in_phase("Inqueue"),
            bad.annotated("volcano.sh/card.reservation", "x"),
            bad.put(["f"], "metadata", "finalizers"),
        ):
            said = await endpoint.validate(new, operation="UPDATE", oldObject=bad.body)
            assert (said.allowed, said.warnings) == (True, [])
    assert endpoint.asked == []


async def test_a_group_that_is_being_deleted_is_admitted(endpoint: Endpoint) -> None:
    """Its controllers take their finalizers away, whatever else they write."""
    going = TOO_MUCH.put("2026-01-01T00:00:00Z", "metadata", "deletionTimestamp")
    said = await endpoint.validate(going, operation="UPDATE", oldObject=GANG.body)
    assert said.allowed


async def test_what_was_stored_and_cannot_be_read_stands_in_no_ones_way(endpoint: Endpoint) -> None:
    old = GANG.put("two", "spec", "minMember").body
    assert (await endpoint.validate(TOO_MUCH, operation="UPDATE", oldObject=old)).allowed
    new = GANG.put("two", "spec", "minMember")
    said = await endpoint.validate(new)
    assert (said.allowed, said.code) == (False, 400)
    assert "is not a pod group" in said.text


@pytest.mark.parametrize("revision", ["pod-17", "\\", "1{", "9" * 5_000])
async def test_an_odd_revision_is_no_business_of_ours(endpoint: Endpoint, revision: str) -> None:
    group = GANG.put(revision, "metadata", "resourceVersion")
    assert (await endpoint.validate(group)).allowed
    assert not (await endpoint.validate(TOO_MUCH.put(revision, "metadata", "uid"))).allowed


async def test_before_the_cluster_is_known_nothing_is_refused(endpoint: Endpoint) -> None:
    """Its pods wait at their gates: the failure policy is to admit."""
    endpoint.synced = False
    assert (await endpoint.validate(TOO_MUCH)).allowed
    endpoint.synced, endpoint.late = True, True
    assert (await endpoint.validate(TOO_MUCH)).allowed


async def test_a_queue_that_was_just_created_is_asked_for_and_waited_for() -> None:
    """E5: only the API server knows that a queue is missing."""
    group = GANG.in_queue("new")
    async with Endpoint(RED, unseen_wait=30.0) as endpoint:
        endpoint.there = True
        review = asyncio.ensure_future(endpoint.validate(group.requesting({H200: 2})))
        await endpoint.was_asked.wait()
        endpoint.see(a_queue("new").with_quota({H200: 1}))
        said = await review
        assert (said.allowed, said.reason) == (False, "InsufficientCardQuota")
        assert endpoint.asked == ["new"]


@pytest.mark.parametrize("there", [True, None])
async def test_a_queue_that_is_or_may_be_there_refuses_nothing(*, there: bool | None) -> None:
    async with Endpoint(unseen_wait=0) as endpoint:
        endpoint.there = there
        assert (await endpoint.validate(GANG)).allowed
        # What cannot be read in any queue is refused all the same.
        assert not (await endpoint.validate(GANG.requesting("["))).allowed
        endpoint.there = False
        said = await endpoint.validate(GANG)
        assert said.allowed
        assert said.warnings[0].startswith("Queue <red> does not exist (the group requests <2> of")


async def test_i3_our_keys_are_taken_off_a_new_group_and_kept_on_an_old(endpoint: Endpoint) -> None:
    """From a backup, or `kubectl replace`. A forged one is left to the policy that refuses it."""
    ours = GANG.annotated(v.RESERVATION, "{}").annotated(v.SETTLE, "a")
    said = await endpoint.mutate(ours)
    assert kept_notes(ours, said.patch) == GANG.body["metadata"]["annotations"]
    assert said.warnings == [
        "left out: card.reservation, card.settle; cardquota writes these annotations"
    ]
    update = {"operation": "UPDATE", "oldObject": ours.body}
    for written in (GANG, a_group("gang"), GANG.annotated(v.SETTLE, "a")):
        said = await endpoint.mutate(written, **update)
        expected = {**written.body["metadata"].get("annotations", {})}
        expected |= {v.RESERVATION: "{}", v.SETTLE: "a"}
        assert kept_notes(written, said.patch) == expected
        assert "only cardquota removes" in said.warnings[0]
    forged = GANG.annotated(v.RESERVATION, "forged").annotated(v.SETTLE, "b")
    for said in (
        await endpoint.mutate(forged, **update),
        await endpoint.mutate(ours, **update),
        await endpoint.mutate(forged, operation="UPDATE", oldObject=GANG.body),
        await endpoint.mutate(GANG),
        await endpoint.mutate(ours.annotated("example.com/x", "," * 4_000_000)),
    ):
        assert (said.allowed, said.patch, said.warnings) == (True, [], [])


def kept_notes(group: GroupBody, patch: list[dict[str, Any]]) -> dict[str, str]:
    """The annotations after a patch of ours."""
    notes = dict(group.body["metadata"].get("annotations", {}))
    for step in patch:
        key = step["path"].removeprefix("/metadata/annotations").replace("~1", "/")[1:]
        if not key:
            notes = step["value"]
        elif step["op"] == "remove":
            del notes[key]
        else:
            notes[key] = step["value"]
    return notes


async def test_a_namespace_that_was_not_seen_may_be_one_that_refuses_nothing() -> None:
    other = TOO_MUCH.in_namespace("new")
    async with Endpoint(RED, unseen_wait=0) as endpoint:
        assert (await endpoint.validate(other)).allowed
        endpoint.there = False
        assert (await endpoint.validate(other.in_queue("gone"))).allowed
        endpoint.see(a_namespace("new"))
        assert not (await endpoint.validate(other)).allowed


async def test_beside_volcano_a_group_without_a_queue_is_one_of_the_default_queue() -> None:
    group = TOO_MUCH.in_queue(None)
    default = a_queue("default").with_quota({H200: 3})
    async with Endpoint(default, scheduler="volcano") as endpoint:
        assert (await endpoint.validate(group)).text == SENTENCE.replace("<red>", "<default>")
    async with Endpoint(default) as endpoint:
        assert (await endpoint.validate(group)).allowed


async def test_warnings_are_given_for_what_is_admitted() -> None:
    pods = [
        a_pod(n).in_group("gang").naming(H200).asking_for(1).stamped("red", {H200: 1})
        for n in ("a", "b")
    ]
    running = [pod.on_node("h200-a") for pod in pods]
    async with Endpoint(RED, a_queue("blue").with_quota({H200: 3}), GANG, *running) as endpoint:
        moved = await endpoint.validate(
            GANG.in_queue("blue"), operation="UPDATE", oldObject=GANG.body
        )
        goes_on = group_messages.group_goes_on(2, 0)
        assert moved.warnings == [group_messages.group_moved("blue"), goes_on]
        said = await endpoint.validate(GANG.needing({GPU: 3}))
        assert said.warnings == [group_messages.minimum_disagrees(GPU, 3, 2)]


async def test_a_body_that_is_too_large_is_answered_unread(endpoint: Endpoint) -> None:
    said = await endpoint.validate(GANG.annotated("note", "x" * BODY.most))
    assert not said.allowed
    assert "the object is <" in said.text
