"""What is answered to the creation of a pod: refused with numbers, gated, or admitted."""

import asyncio
from typing import Any

import pytest

from builders import H200, H800, a_namespace, a_node, a_pod, a_queue
from builders.namespace import NamespaceBody
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import Effect
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import queue_messages, request_messages

from .endpoint import Endpoint, patched, request_of
from .workload_review import THREE, pod

AGES = 3600.0
"""Seconds that a review may wait: who does so in vain is not answered in time."""
PATIENCE = 60.0
"""Seconds for an answer that waits for nothing more."""
OTHER = "example.com/other"


LABEL = f"/metadata/labels/{v.MANAGED.replace('/', '~1')}"
GATES = "/spec/schedulingGates"


@pytest.mark.parametrize(
    ("asked", "paths"),
    [
        (pod(), [GATES, "/metadata/labels"]),
        (pod().labelled("app", "a"), [GATES, LABEL]),
        (pod().put({}, "metadata", "labels"), [GATES, LABEL]),
        (pod().gated(), ["/metadata/labels"]),
        (pod().managed(), [GATES]),
        (pod().labelled(v.MANAGED, "x"), [GATES, LABEL]),
        (pod().gated(OTHER).labelled(v.MANAGED, v.IS_MANAGED), []),
    ],
)
async def test_what_it_lacks_is_added(endpoint: Endpoint, asked: PodBody, paths: list[str]) -> None:
    said = await endpoint.mutate(asked)
    assert (said.allowed, [step["path"] for step in said.patch]) == (True, paths)
    label = {v.MANAGED: v.IS_MANAGED}
    values = {GATES: [{"name": v.GATE}], LABEL: v.IS_MANAGED, "/metadata/labels": label}
    steps = [{"op": "add", "path": path, "value": values[path]} for path in paths]
    assert said.patch == steps


@pytest.mark.parametrize(
    "asked",
    [a_pod().asking_for(1, v.GPU_MEMORY), a_pod().asking_for(1), a_pod().claiming_devices()],
)
async def test_what_uses_cards_without_a_queue_is_labelled(asked: PodBody) -> None:
    """So the policies know that it has been here. Not where nothing is gated."""
    async with Endpoint() as endpoint:
        for stray in (asked, asked.gated()):
            patch = (await endpoint.mutate(stray)).patch
            assert patch[-1]["value"] == {v.MANAGED: v.IS_MANAGED}
            assert patched(stray.body, patch) == []
        assert endpoint.counted("pods", "gate") == 0
        assert (await endpoint.mutate(asked.managed())).patch == []
        endpoint.see(a_namespace("team").in_mode("audit"))
        assert (await endpoint.mutate(asked)).patch == []


async def test_to_take_the_gate_away_costs_the_same_however_many_others_there_are() -> None:
    async with Endpoint(a_namespace("team").in_mode("off")) as endpoint:
        others = [f"other.io/{n}" for n in range(10_000)]
        stray = a_pod().asking_for(1).gated(*others)
        patch = (await endpoint.mutate(stray)).patch
        assert [step["op"] for step in patch] == ["test", "remove"]
        assert patched(stray.body, patch) == others


async def test_a_gate_that_stands_there_twice_is_taken_away_twice_and_no_more_often() -> None:
    async with Endpoint() as endpoint:
        stray = a_pod().asking_for(1).gated(OTHER, v.GATE)
        assert patched(stray.body, (await endpoint.mutate(stray)).patch) == [OTHER]
        without_end = a_pod().asking_for(1).managed().gated(*[v.GATE] * 100)
        assert (await endpoint.mutate(without_end)).patch == []


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
async def test_both_reviews_refuse_alike(endpoint: Endpoint, path: str) -> None:
    """Whoever sets the gate."""
    said = await endpoint.review(path, request_of(pod(5).gated()))
    assert (said.allowed, said.code) == (False, 403)
    assert said.reason == v.Reason.INSUFFICIENT_CARD
    assert "requested <5>, total would be <5>, but capability is <3>" in said.text
    assert endpoint.counted("pods", "deny") == 1


GATED, DENIED, ADMITTED, WARNED = "gated", "denied", "admitted", "warned"


async def effect(endpoint: Endpoint, thing: PodBody) -> str:
    said = await endpoint.mutate(thing)
    if not said.allowed:
        return DENIED
    if patched(thing.body, said.patch):
        return GATED
    return WARNED if any(w.startswith("audit: ") for w in said.warnings) else ADMITTED


async def test_claimed_devices_are_named_where_they_are_admitted(endpoint: Endpoint) -> None:
    endpoint.ledger.device_class_seen("npu", "example.com/npu")
    asked = a_pod().in_queue("queue")
    for claims in (asked.claiming_devices(), asked.asking_for(1, "example.com/npu")):
        said = await endpoint.mutate(claims)
        assert said.allowed
        assert said.warnings == [request_messages.claim_not_counted()]


@pytest.mark.parametrize(
    ("mode", "label"), [("enforce", "audit"), ("audit", "enforced"), ("audit", "audit")]
)
async def test_claims_of_pods_that_ask_for_nothing_else_are_named(mode: str, label: str) -> None:
    """P7: where nothing is refused."""
    async with Endpoint(THREE, a_namespace("team").in_mode(label), mode=mode) as endpoint:
        said = await endpoint.mutate(a_pod().claiming_devices())
        assert said.allowed
        assert said.warnings[-1] == request_messages.claim_not_counted()
        assert [w.startswith("audit: ") for w in said.warnings[:-1]] == [True] * (label != "audit")


async def test_v5_beside_volcano_a_pod_without_a_queue_is_told_who_counts_it() -> None:
    pod = a_pod().asking_for(1).with_spec(schedulerName="volcano")
    async with Endpoint(THREE, scheduler="volcano") as endpoint:
        said = await endpoint.mutate(pod)
        assert (said.allowed, len(said.warnings)) == (True, 1)
        assert "Volcano runs it in <default>" in said.warnings[0]
        assert (await endpoint.mutate(a_pod().asking_for(1))).warnings == []
    async with Endpoint(THREE) as endpoint:
        assert (await endpoint.mutate(pod)).warnings == []
    async with Endpoint(THREE, scheduler="volcano", requireQueue=True) as endpoint:
        assert (await endpoint.mutate(pod)).reason == v.Reason.QUEUE_NOT_FOUND


XPU = "new.example/xpu"
"""Of no vendor row: a node shows by the plain rule that it counts cards (D1)."""
WITHOUT_ROW = (a_node("x").with_cards("X1", 8, XPU), a_queue().with_quota({"X1": 3}))


async def test_a_card_of_no_vendor_row_is_gated_by_the_queue_of_an_enforced_namespace() -> None:
    """It carries no annotation; the webhook `pods-enforced` brings it to us."""
    stock = a_pod().asking_for(1, XPU)
    strict = a_namespace("team").in_mode("enforced").with_default_queue("queue")
    async with Endpoint(*WITHOUT_ROW, strict) as endpoint:
        assert patched(stock.body, (await endpoint.mutate(stock)).patch) == [v.GATE]
        assert (await endpoint.validate(stock.gated())).allowed
        assert "requested <9>" in (await endpoint.mutate(stock.asking_for(9, XPU))).text
        other = a_pod().asking_for(1, "new.example/nic")
        assert (await endpoint.mutate(other)).patch == []
        assert (await endpoint.validate(other)).allowed


async def test_b10_card_memory_is_gated_while_a_quota_limits_it() -> None:
    """And not before: then only who has a queue is told that nothing limits it."""
    node = a_node("a10").labelled(v.GPU_PRODUCT, "NVIDIA-A10").sharing_memory(32_552, 2)
    team = a_namespace("team").with_default_queue("queue")
    stock = a_pod().asking_for_memory(8_138)
    async with Endpoint(node, team, THREE) as endpoint:
        assert await effect(endpoint, stock) == ADMITTED
        assert (await endpoint.mutate(stock)).warnings == []
        (warning,) = (await endpoint.mutate(stock.in_queue("queue"))).warnings
        assert "aliyun.com/gpu-mem is not limited" in warning
        endpoint.see(a_queue().with_quota({"NVIDIA-A10/gpu-mem": 8_138}))
        assert await effect(endpoint, stock) == GATED
        assert (await endpoint.mutate(stock.in_queue("queue"))).warnings == []


NEW = "new"
STOCK = a_pod().in_namespace(NEW).asking_for(1)


@pytest.mark.parametrize(
    ("namespace", "expected"),
    [
        (a_namespace(NEW), ADMITTED),
        (a_namespace(NEW).in_mode("enforced"), DENIED),
        (a_namespace(NEW).in_mode("audit"), ADMITTED),
        (a_namespace(NEW).with_default_queue("queue"), GATED),
    ],
)
async def test_one_of_a_moment_ago_is_waited_for(namespace: NamespaceBody, expected: str) -> None:
    """Its label may demand a queue, and its annotation may name one."""
    async with Endpoint(THREE, unseen_wait=AGES) as endpoint:
        answer = asyncio.create_task(effect(endpoint, STOCK))
        done, _ = await asyncio.wait([answer], timeout=0.05)
        assert not done
        endpoint.see(namespace)
        assert await asyncio.wait_for(answer, PATIENCE) == expected


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
@pytest.mark.parametrize(
    "thing", [STOCK, STOCK.naming(H200), STOCK.in_queue("queue").naming(H200).asking_for(5)]
)
async def test_one_that_stays_unseen_is_asked_about_again(path: str, thing: PodBody) -> None:
    """Neither admitted nor refused: nobody knows yet what holds there."""
    async with Endpoint(THREE, unseen_wait=0.05) as endpoint:
        said = await endpoint.review(path, request_of(thing))
        assert (said.allowed, said.code) == (False, 429)
        assert said.response["status"]["details"] == {"retryAfterSeconds": 1}
        assert "has not seen namespace <new> yet" in said.text


async def test_what_waits_at_the_gate_in_any_namespace_is_gated_in_an_unseen_one() -> None:
    """A gate is always safe: the leader opens it by what holds there."""
    async with Endpoint(THREE, unseen_wait=0.05) as endpoint:
        ours = pod().in_namespace(NEW)
        assert await effect(endpoint, ours) == GATED
        assert (await endpoint.validate(ours.gated())).allowed
        assert (await endpoint.validate(ours)).code == 429


@pytest.mark.parametrize(
    ("thing", "mode"),
    [(a_pod().in_namespace(NEW), "enforce"), (STOCK, "audit")],
    ids=["has nothing to do with cards", "in audit"],
)
async def test_who_waits_for_no_namespace(thing: PodBody, mode: str) -> None:
    async with Endpoint(THREE, mode=mode, unseen_wait=AGES) as endpoint:
        assert await asyncio.wait_for(effect(endpoint, thing), PATIENCE) == ADMITTED


async def test_a_queue_that_was_just_created_may_still_show_up() -> None:
    async with Endpoint(unseen_wait=AGES) as endpoint:
        review = asyncio.create_task(endpoint.mutate(pod()))
        done, _ = await asyncio.wait([review], timeout=0.1)
        assert not done
        endpoint.see(THREE)
        assert (await asyncio.wait_for(review, PATIENCE)).patch


async def test_a_queue_that_is_not_there_is_refused_at_once() -> None:
    async with Endpoint(unseen_wait=AGES) as endpoint:
        endpoint.there = False
        said = await asyncio.wait_for(endpoint.mutate(pod()), PATIENCE)
        assert (said.allowed, said.reason) == (False, v.Reason.QUEUE_NOT_FOUND)
        assert endpoint.asked == ["queue"]


@pytest.mark.parametrize("policy", [a_pod(), a_pod().owned_by("Job")])
async def test_a_queue_that_is_there_and_unseen_is_waited_for_at_the_gate(policy: PodBody) -> None:
    """Whoever creates a queue and its pods in one breath is refused nothing."""
    ours = policy.in_queue("queue").naming(H200).asking_for(1)
    async with Endpoint(unseen_wait=0.05) as endpoint:
        endpoint.there = True
        said = await endpoint.mutate(ours)
        assert patched(ours.body, said.patch) == [v.GATE]
        assert said.warnings == [queue_messages.queue_not_seen("queue")]
        assert (await endpoint.validate(ours.gated())).allowed
        assert not (await endpoint.validate(ours)).allowed
        endpoint.see(THREE)
        endpoint.asked.clear()
        assert (await endpoint.mutate(ours)).warnings == []
        assert endpoint.asked == []


async def test_while_nobody_answers_a_queue_is_waited_for_and_then_refused() -> None:
    async with Endpoint(unseen_wait=0.1) as endpoint:
        loop = asyncio.get_running_loop()
        began = loop.time()
        assert (await endpoint.mutate(pod())).reason == v.Reason.QUEUE_NOT_FOUND
        assert loop.time() - began > 0.09


async def test_what_is_wrong_whatever_the_queue_is_refused_without_asking_for_it() -> None:
    async with Endpoint() as endpoint:
        endpoint.there = True
        said = await endpoint.mutate(pod().with_spec(nodeName="h200-a"))
        assert said.reason == v.Reason.NODE_NAMED
        assert endpoint.asked == []


@pytest.mark.parametrize("ours", [pod(), a_pod().in_group("gang"), a_pod().in_queue("q")])
async def test_before_the_first_sync_what_is_ours_is_gated(ours: PodBody) -> None:
    """A gate is always safe: the leader opens it once it knows."""
    async with Endpoint() as endpoint:
        endpoint.synced = False
        said = await endpoint.mutate(ours)
        assert patched(ours.body, said.patch) == [v.GATE]
        assert (await endpoint.validate(ours.gated())).allowed


async def test_before_the_first_sync_the_rest_is_asked_to_try_again() -> None:
    async with Endpoint() as endpoint:
        endpoint.synced = False
        said = await endpoint.mutate(a_pod().asking_for(1))
        assert (said.allowed, said.code, said.reason) == (False, 429, "TooManyRequests")
        assert said.response["status"]["details"] == {"retryAfterSeconds": 1}
        assert endpoint.counted("pods", "retry") == 1


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
@pytest.mark.parametrize("thing", [pod(), a_pod().asking_for(1)])
async def test_before_the_first_sync_audit_lets_everybody_by(path: str, thing: PodBody) -> None:
    async with Endpoint(mode="audit") as endpoint:
        endpoint.synced = False
        said = await endpoint.review(path, request_of(thing))
        assert said.allowed
        assert said.patch == []


async def test_warnings_stay_short() -> None:
    card = "NVIDIA-" + "x" * 40
    async with Endpoint(a_queue().with_quota({card: 1})) as endpoint:
        for thing in (pod(1, card), a_pod().asking_for(1).naming(H800)):
            said = await endpoint.mutate(thing)
            assert said.warnings
            assert all(len(warning) <= 160 for warning in said.warnings), said.warnings


@pytest.mark.parametrize(
    "asked", [pod(9), pod(1, "NVIDIA-NEW"), pod().in_queue("no such queue"), pod().asking_for("x")]
)
async def test_with_an_old_view_nothing_is_refused_and_everything_is_gated(asked: PodBody) -> None:
    """The watches stand still: a no might be wrong, a gate is safe."""
    async with Endpoint(THREE, unseen_wait=0) as endpoint:
        assert not (await endpoint.mutate(asked)).allowed
        endpoint.late = True
        assert patched(asked.body, (await endpoint.mutate(asked)).patch) == [v.GATE]
        assert (await endpoint.validate(asked.gated())).allowed


async def test_e9_with_an_old_view_what_cannot_be_gated_is_refused(endpoint: Endpoint) -> None:
    endpoint.late = True
    assert not (await endpoint.mutate(pod().on_node("h200-a"))).allowed


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
@pytest.mark.parametrize("gate", ["webhook", "policy"])
@pytest.mark.parametrize("asked", [a_pod(), pod(), pod().gated()])
async def test_with_an_old_view_claims_that_no_quota_counts_are_refused_all_the_same(
    asked: PodBody, gate: str, path: str
) -> None:
    """P7: it follows from the pod and the label, and nobody would open a gate for it."""
    strict = a_namespace("team").in_mode("enforced")
    async with Endpoint(THREE, strict, webhook={"gate": gate}) as endpoint:
        endpoint.late = True
        endpoint.ledger.device_class_seen("npu", "example.com/npu")
        for claims in (asked.claiming_devices(), asked.asking_for(1, "example.com/npu")):
            said = await endpoint.review(path, request_of(claims))
            assert (said.allowed, said.reason) == (False, v.Reason.DEVICE_CLAIMED)
            assert request_messages.device_claimed() in said.text


VOLCANO_JOB = "batch.volcano.sh/v1alpha1"


def of_volcano(cards: int = 1, card: str = H200) -> PodBody:
    return pod(cards, card).owned_by("Job", VOLCANO_JOB)


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
@pytest.mark.parametrize(
    ("asked", "queue", "reason"),
    [
        (of_volcano(), THREE.annotated(v.QUEUE_STATE, "Closed"), "QueueNotOpen"),
        (of_volcano(), THREE.open_to("elsewhere"), "QueueNotOpen"),
        (of_volcano(card=H800), THREE, "CardNotInQuota"),
        (of_volcano().in_queue("missing"), THREE, "QueueNotFound"),
        (of_volcano(), a_queue(), "CardNotInQuota"),
    ],
)
async def test_e5_what_an_administrator_can_change_ends_no_job_of_volcano(
    asked: PodBody, queue: QueueBody, reason: str, path: str
) -> None:
    """Its controller ends a Job after 15 refusals: so its pods wait, and say for what. Pods of
    others are refused, as they always are.
    """
    node = a_node("h800-a").with_cards(H800, 8)
    async with Endpoint(queue, node) as endpoint:
        endpoint.there = False
        if path == "/mutate":
            said = await endpoint.mutate(asked)
            assert patched(asked.body, said.patch) == [v.GATE]
            other = await endpoint.mutate(asked.owned_by("Job"))
        else:
            marked = asked.gated().labelled(v.MANAGED, v.IS_MANAGED)
            said = await endpoint.validate(marked)
            other = await endpoint.validate(marked.owned_by("Job"))
        assert said.allowed
        assert (other.allowed, other.reason) == (False, reason)
        if path == "/mutate":
            assert other.text in said.warnings[0] or said.warnings[0] in other.text


# --- keys of ours on a new pod, as from a backup (I3) -------------------------------------------


def restored(pod: PodBody) -> PodBody:
    found = pod.stamped("elsewhere", {H200: 200}).managed()
    return found.annotated(v.SETTLE, "1").annotated(v.GPU_MEMORY_CARD, "0")


def left_of(pod: PodBody, patch: list[dict[str, Any]]) -> tuple[set[str], bool]:
    """Which annotations stay, and whether our label does."""
    notes, label = set(pod.body["metadata"]["annotations"]), True
    for step in patch:
        key = step["path"].replace("~1", "/")
        if key.startswith("/metadata/annotations/"):
            assert step["op"] == "remove"
            notes.remove(key.removeprefix("/metadata/annotations/"))
        elif key.startswith("/metadata/labels"):
            label = step["op"] == "add"
    return notes, label


@pytest.mark.parametrize("synced", [True, False])
@pytest.mark.parametrize("extender", [True, False])
async def test_i3_what_we_wrote_on_others_is_left_out(*, synced: bool, extender: bool) -> None:
    body = restored(pod())
    async with Endpoint(THREE, extender={"enabled": extender}) as endpoint:
        endpoint.synced = synced
        said = await endpoint.mutate(body)
        notes, label = left_of(body, said.patch)
        theirs = {v.QUEUE_NAME, v.CARD_NAME}
        assert notes == (theirs if extender else {*theirs, v.GPU_MEMORY_CARD})
        assert label
        assert patched(body.body, said.patch) == [v.GATE]
        assert [one for one in said.warnings if one.startswith("left out: card.allocated")] or (
            not synced
        )
        assert all(len(one) <= 120 for one in said.warnings)
        endpoint.synced = True
        too_much = await endpoint.mutate(restored(pod(4)))
        assert "requested <4>" in too_much.text


async def test_i3_of_a_pod_that_is_none_of_ours_the_label_is_taken_off_too() -> None:
    audited = a_namespace("team").labelled(v.NAMESPACE_MODE, v.NAMESPACE_AUDIT)
    for things, body in (((THREE,), restored(a_pod())), ((THREE, audited), restored(pod()))):
        async with Endpoint(*things, extender={"enabled": True}) as endpoint:
            said = await endpoint.mutate(body)
            notes, label = left_of(body, said.patch)
            assert not notes - {v.QUEUE_NAME, v.CARD_NAME}
            assert not label
            assert patched(body.body, said.patch) == []


async def test_what_audit_mode_lets_by_is_counted_for_queues_that_exist_alone() -> None:
    """Section 2: a tenant may name anything, and may send what nobody reads."""
    async with Endpoint(THREE, a_namespace("team").in_mode("audit")) as endpoint:
        large = pod().annotated("x", "y" * 600_000)
        for one in (pod(), pod(4), pod(4).in_queue("\U0001f600" * 250), large):
            assert (await endpoint.mutate(one)).allowed
        assert endpoint.audited == [
            (THREE.name, "team", Effect.DENY),
            ("*", "team", Effect.DENY),
            ("*", "team", Effect.DENY),
        ]
