"""Reviews of Queues: what cannot be read is refused at write, what is in use is not deleted."""

import pytest

from builders import GPU, H200, a_group, a_pod, a_queue
from builders.queue import QueueBody
from cardquota.quota.messages import queue_write_messages

from .endpoint import Endpoint, request_of, review_of

GOOD = a_queue().with_quota({H200: 3})


@pytest.mark.parametrize("path", ["/mutate"])
async def test_only_the_validating_review_is_for_queues(path: str) -> None:
    async with Endpoint() as endpoint:
        request = {"uid": "u", "resource": {"group": "scheduling.volcano.sh", "resource": "queues"}}
        said = await endpoint.review(path, {**request, "operation": "CREATE", "object": GOOD.body})
        assert said.code == 400


@pytest.mark.parametrize(
    "queue",
    [
        GOOD,
        a_queue(),
        a_queue().with_quota({}),
        GOOD.put("root", "spec", "parent"),
        GOOD.put("", "spec", "parent"),
        GOOD.with_policy("Gate").open_to("team-a", "team-*").closed(),
        GOOD.limited_to(cpu="4500m", memory="9Gi"),
        a_queue().with_quota({"NVIDIA-H800/mps-80g*1/2": 0, "any.name_at-all": 1}),
    ],
)
async def test_a_queue_that_can_be_used(queue: QueueBody) -> None:
    """A quota needs no node: pools may be scaled to zero (P4)."""
    async with Endpoint() as endpoint:
        said = await endpoint.validate(queue)
        assert said.allowed
        assert said.warnings == []


async def test_q2_card_resources_in_the_specification_are_spoken_of() -> None:
    """Whoever comes from Volcano's plugin `capacity` has written his quota there."""
    spec = {"capability": {"cpu": "8", GPU: "4"}, "deserved": {GPU: 4}}
    plain = a_queue().put(spec, "spec")
    async with Endpoint() as endpoint:
        (said,) = (await endpoint.validate(plain)).warnings
        assert said == (
            f"spec.capability <{GPU}>, spec.deserved <{GPU}> is no card quota, and the queue has "
            "none: write volcano.sh/card.quota"
        )
        (said,) = (await endpoint.validate(plain.with_quota({H200: 4}))).warnings
        assert said.endswith("is no card quota; that of volcano.sh/card.quota counts: take it out")
        assert (await endpoint.validate(a_queue().limited_to(cpu="8"))).warnings == []


async def test_rows_that_can_never_be_used_are_taken_with_a_warning_each() -> None:
    """D9: a card is called by a label's value. Five are named."""
    odd = ["NVIDIA H200", "nvidia.com/gpu", "A/", "-A", "A" * 64, "é"]
    async with Endpoint() as endpoint:
        said = await endpoint.validate(a_queue().with_quota(dict.fromkeys(["A", *odd], 1)))
        assert said.allowed
        assert said.warnings == [queue_write_messages.row_impossible(name) for name in odd[:5]]


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        (a_queue().with_quota_text("{"), "is not JSON"),
        (a_queue().with_quota_text("[]"), "it is a list, not a JSON object"),
        (a_queue().with_quota_text('{"a": 1.5}'), "is 1.5, not a whole number"),
        (a_queue().with_quota_text('{"a": -1}'), "is -1, at least 0 is needed"),
        (a_queue().with_quota_text('{"a": "1"}'), "is a string, not a whole number"),
        (a_queue().with_quota_text('{"a": true}'), "is true or false, not a whole number"),
        (a_queue().with_quota_text('{"a": 1, "a": 1}'), "stands there twice"),
        (a_queue().with_quota_text('{"": 1}'), "a card name is empty"),
        (a_queue().with_quota_text('{"a|b": 1}'), "is a choice of cards, not one card"),
        (a_queue().with_quota({f"c{n}": 1 for n in range(1001)}), "1001 rows, at most 1000"),
        (a_queue().with_quota_text("{}" + " " * 65_536), "longer than 64 KiB"),
        (GOOD.put("team", "spec", "parent"), "queues are flat"),
        (GOOD.with_policy("maybe"), "write Deny or Gate"),
        (GOOD.annotated("volcano.sh/card.state", "Closing"), "write Open or Closed"),
        (GOOD.annotated("volcano.sh/card.namespaces", "[3]"), "Write a JSON list"),
        (GOOD.limited_to(cpu="-1"), "it cannot be negative"),
        (GOOD.limited_to(memory="lots"), "spec.capability.memory"),
    ],
)
async def test_a_queue_that_cannot_be_used(queue: QueueBody, words: str) -> None:
    """Q4, Q5, Q8; in audit mode the same words are a Warning."""
    for operation in ("CREATE", "UPDATE"):
        async with Endpoint(GOOD) as endpoint:
            said = await endpoint.validate(queue, operation=operation)
            assert (said.allowed, said.code) == (False, 403)
            assert said.text.startswith("Queue <queue>: ")
            assert words in said.text
    async with Endpoint(GOOD, mode="audit") as endpoint:
        said = await endpoint.validate(queue)
        assert said.allowed
        assert said.warnings[0].startswith("audit: would not be let through: Queue <queue>: ")


@pytest.mark.parametrize(
    ("users", "words"),
    [
        ([a_pod("a").in_queue("queue").gated()], "1 pod and 0 pod groups (team/a)"),
        (
            [a_pod("a").in_queue("queue").stamped("queue", {H200: 1}).on_node("h200-a")],
            "1 pod and 0 pod groups (team/a)",
        ),
        ([a_group().in_queue("queue").of(2)], "0 pods and 1 pod group (team/gang)"),
        (
            [a_group().in_queue("queue").of(2)]
            + [a_pod(f"p{n}").in_group("gang").gated() for n in range(2)],
            "2 pods and 1 pod group (team/p0, team/p1, team/gang)",
        ),
    ],
)
async def test_a_queue_in_use_is_not_deleted(users: list[QueueBody], words: str) -> None:
    """Q8: the refusal counts them, and says what to do."""
    async with Endpoint(GOOD, *users) as endpoint:
        said = await endpoint.validate(GOOD, operation="DELETE", object=None, oldObject=GOOD.body)
        assert not said.allowed
        assert f"Queue <queue> is in use by {words}; close it" in said.text
        other = await endpoint.validate(a_queue("other"), operation="DELETE", object=None)
        assert other.allowed


async def test_a_queue_in_use_is_not_deleted_with_many_others() -> None:
    """Q8: the API server names no queue in the review of a deletion of many."""
    async with Endpoint(GOOD, a_pod().in_queue("queue")) as endpoint:
        many = {"operation": "DELETE", "object": None, "name": ""}
        assert not (await endpoint.validate(GOOD, **many, oldObject=GOOD.body)).allowed
        other = a_queue("other")
        assert (await endpoint.validate(other, **many, oldObject=other.body)).allowed


async def test_finished_pods_use_no_queue() -> None:
    """T1."""
    done = a_pod().in_queue("queue").on_node("h200-a").in_phase("Succeeded")
    async with Endpoint(GOOD, done) as endpoint:
        assert (await endpoint.validate(GOOD, operation="DELETE", object=None)).allowed


async def test_a_text_that_is_no_unicode_is_an_error_of_the_sender() -> None:
    """msgspec leaves it to Python to find out, whose error is another one."""
    async with Endpoint() as endpoint:
        body = review_of(request_of(GOOD)).replace(b"NVIDIA-H200", b"NVIDIA\xed\xa0\x80")
        status, text = await endpoint.post("/validate", body)
        assert (status, b"bug" in text) == (200, False)
        assert b"is not a queue" in text
