"""R1 to R4: scale-ups of people and of autoscalers."""

import asyncio
import json
from typing import Any

import pytest

from builders import H200, H800, a_namespace, a_pod, a_queue
from cardquota.quota import TEMPLATE_TEXT
from cardquota.quota import vocabulary as v
from cardquota.quota.objects import Pod
from cardquota_webhooks import decode, scales

from .endpoint import Endpoint, request_of, review_of
from .scale_review import KIND, Watches, by_autoscaler, by_people, granted, scaling, uid_of
from .workload_review import THREE, made, own, own_gated, pod, running

CUSTOM = {"group": "argoproj.io"}


@pytest.mark.parametrize("resource", sorted(KIND))
async def test_r1_people_are_refused_and_told_how_many_fit(resource: str) -> None:
    async with Endpoint(THREE, *own(1, resource)) as endpoint:
        Watches(endpoint).show(resource, replicas=1)
        answer = await by_people(endpoint, 1, 10, resource)
        assert not answer.allowed
        assert answer.code == 403
        assert answer.reason == v.Reason.INSUFFICIENT_CARD
        assert answer.text == (
            f"Queue <queue> has insufficient <{H200}> quota: requested <9>, "
            "total would be <10>, but capability is <3>; "
            f"3 of 10 replicas of {KIND[resource]} <web> fit: scale it to 3 at most, "
            "wait until some of the quota is free, or ask the queue's owner for a higher quota; "
            "exceeded quota for now: try again later; "
            "held by web 1"
        )
        assert (await by_people(endpoint, 1, 3, resource)).allowed


async def test_r1_without_cards_and_queue_everything_scales_freely(endpoint: Endpoint) -> None:
    watches = Watches(endpoint)
    watches.show(template=a_pod())
    assert len(endpoint.ledger.workloads) == 0
    answer = await by_people(endpoint, 1, 10**9)
    assert (answer.allowed, answer.warnings) == (True, [])
    assert endpoint.looked_for == []


async def test_r1_pods_that_end_hold_their_cards() -> None:
    ending = own(3)[0].terminating()
    async with Endpoint(THREE, ending) as endpoint:
        Watches(endpoint).show(replicas=0)
        answer = await by_people(endpoint, 0, 3)
        assert "2 of 3 replicas" in answer.text
        assert "requested <3>, total would be <4>" in answer.text


async def test_r1_pods_of_an_old_template_are_replaced_and_count_as_kept() -> None:
    """In the middle of a rollout two of three pods are the old ones."""
    old = [made(running(f"old-{n}").annotated("x", "old")) for n in range(2)]
    new = made(running("new"))
    async with Endpoint(a_queue().with_quota({H200: 5}), *old, new) as endpoint:
        Watches(endpoint).show(replicas=3)
        assert (await by_people(endpoint, 3, 5)).allowed
        assert "5 of 6 replicas" in (await by_people(endpoint, 3, 6)).text


async def test_r1_own_pods_on_their_way_get_the_room_that_is_left() -> None:
    async with Endpoint(THREE, *own(1), *own_gated(2)) as endpoint:
        Watches(endpoint).show(replicas=3)
        assert (await by_people(endpoint, 2, 3)).allowed
        assert "3 of 4 replicas" in (await by_people(endpoint, 3, 4)).text


async def test_r1_none_fits() -> None:
    async with Endpoint(THREE, running("other", 3)) as endpoint:
        Watches(endpoint).show(replicas=0)
        text = (await by_people(endpoint, 0, 1)).text
        assert "none of 1 replica of Deployment <web> fit: do not scale it up, wait" in text


async def test_r1_several_cards_each_replica_gets_one() -> None:
    queue = a_queue().with_quota({H200: 2, H800: 1})
    async with Endpoint(queue) as endpoint:
        Watches(endpoint).show(template=pod(1, f"{H200}|{H800}"))
        assert (await by_people(endpoint, 0, 3)).allowed
        text = (await by_people(endpoint, 0, 5)).text
        assert "3 of 5 replicas" in text
        assert f"<{H200}> quota: requested <1>, total would be <3>" in text
        assert f"<{H800}> quota: requested <1>, total would be <2>" in text


async def test_r1_e5_what_can_never_fit_is_refused_to_all(endpoint: Endpoint) -> None:
    Watches(endpoint).show(template=pod(5), replicas=0)
    for answer in (await by_people(endpoint, 0, 1), await by_autoscaler(endpoint, 0, 1)):
        assert not answer.allowed
        assert answer.text.startswith(
            "Deployment <web> cannot have more replicas: "
            f"Queue <queue> has insufficient <{H200}> quota: requested <5>"
        )


async def test_r1_under_policy_gate_it_is_a_warning_since_pods_wait() -> None:
    async with Endpoint(THREE.with_policy("Gate")) as endpoint:
        Watches(endpoint).show(replicas=0)
        for answer in (await by_people(endpoint, 0, 5), await by_autoscaler(endpoint, 0, 5)):
            assert granted(answer) is None
            how_many, why = answer.warnings
            assert how_many == "web: 3 of 5 pods fit the quota now, 2 wait at the gate"
            assert "requested <5>, total would be <5>" in why


@pytest.mark.parametrize("where", ["installation", "namespace"])
async def test_r1_in_audit_mode_it_is_a_warning(where: str) -> None:
    config: dict[str, Any] = {"mode": "audit"} if where == "installation" else {}
    async with Endpoint(THREE, **config) as endpoint:
        if where == "namespace":
            endpoint.see(a_namespace("team").in_mode("audit"))
        Watches(endpoint).show(replicas=0)
        for answer in (await by_people(endpoint, 0, 5), await by_autoscaler(endpoint, 0, 5)):
            assert granted(answer) is None
            assert answer.warnings[0] == (
                "audit: would be refused or wait: web, 2 of 5 pods: 3 fit the quota now"
            )


async def test_r1_a_closed_queue_takes_nothing_more() -> None:
    async with Endpoint(THREE.closed(), *own(1)) as endpoint:
        Watches(endpoint).show(replicas=1)
        assert (await by_people(endpoint, 1, 2)).reason == v.Reason.QUEUE_NOT_OPEN


async def test_r1_what_is_old_or_unknown_refuses_nothing(endpoint: Endpoint) -> None:
    watches = Watches(endpoint)
    assert (await by_people(endpoint, 0, 10)).allowed  # not seen yet
    watches.show(replicas=0)
    assert not (await by_people(endpoint, 0, 10)).allowed
    endpoint.late = True
    assert (await by_people(endpoint, 0, 10)).allowed
    endpoint.late, endpoint.synced = False, False
    assert (await by_people(endpoint, 0, 10)).allowed
    endpoint.synced = True
    watches.gone()
    assert (await by_people(endpoint, 0, 10)).allowed


async def test_r1_another_workload_of_the_same_name_is_not_meant(endpoint: Endpoint) -> None:
    Watches(endpoint).show(replicas=0)
    asked = scaling(0, 10)
    for key in ("object", "oldObject"):
        asked[key]["metadata"]["uid"] = "another"
    assert (await endpoint.review("/validate", asked)).allowed


async def test_r2_an_autoscaler_gets_the_part_that_fits_and_one_event_says_so() -> None:
    async with Endpoint(THREE, *own(1)) as endpoint:
        watches = Watches(endpoint)
        watches.show(replicas=1)
        answer = await by_autoscaler(endpoint, 1, 10)
        assert granted(answer) == 3
        told, why = answer.warnings
        assert told == "Deployment <web>: granted 3 of 10 replicas"
        assert why.endswith("total would be <10>, but capability is <3>; held by web 1")
        ((about, said),) = endpoint.events
        assert (about.kind, about.api_version) == ("Deployment", "apps/v1")
        assert (about.name, about.uid) == ("web", uid_of("web"))
        assert said == f"granted 3 of 10 replicas: {why}"

        watches.show(replicas=3)
        endpoint.see(*own(3))
        again = await by_autoscaler(endpoint, 3, 10)
        assert not again.allowed
        assert "3 of 10 replicas of Deployment <web> fit" in again.text
        assert len(endpoint.events) == 1


async def test_r2_all_that_fits_is_granted_without_a_word(endpoint: Endpoint) -> None:
    Watches(endpoint).show(replicas=1)
    answer = await by_autoscaler(endpoint, 1, 3)
    assert granted(answer) is None
    assert answer.warnings == []
    assert endpoint.events == []


async def test_r2_a_dry_run_says_the_same_and_leaves_nothing_behind(endpoint: Endpoint) -> None:
    Watches(endpoint).show(replicas=1)
    assert granted(await by_autoscaler(endpoint, 1, 10, dryRun=True)) == 3
    assert (await by_people(endpoint, 1, 2, dryRun=True)).allowed
    assert endpoint.events == []


async def test_r2_who_only_claims_to_be_an_autoscaler_is_refused(endpoint: Endpoint) -> None:
    Watches(endpoint).show(replicas=1)
    asked = scaling(1, 10, by="system:serviceaccount:evil:horizontal-pod-autoscaler")
    for path in ("/mutate", "/validate"):
        answer = await endpoint.review(path, asked)
        assert not answer.allowed
        assert "3 of 10 replicas" in answer.text


async def test_r2_the_settings_say_who_is_an_autoscaler() -> None:
    config = {"scale": {"autoscalers": ["system:serviceaccount:keda:scaler"]}}
    async with Endpoint(THREE, **config) as endpoint:
        Watches(endpoint).show(replicas=1)
        asked = scaling(1, 10, by="system:serviceaccount:keda:scaler")
        assert granted(await endpoint.review("/mutate", asked)) == 3
        assert not (await by_autoscaler(endpoint, 1, 10)).allowed


async def test_r3_a_custom_resource_is_known_by_what_it_owns() -> None:
    """A Rollout owns ReplicaSets; the youngest has the template of new pods."""
    rollout = ("Rollout", "web", uid_of("web"))
    mine = [made(running(f"own-{n}")).owned_by("ReplicaSet", name="web-new") for n in range(2)]
    async with Endpoint(a_queue().with_quota({H200: 6}), *mine) as endpoint:
        watches = Watches(endpoint)
        watches.show("replicasets", pod(1), name="web-old", owner=rollout, replicas=0)
        watches.show("replicasets", pod(2), name="web-new", owner=rollout, replicas=2)
        answer = await by_people(endpoint, 2, 10, "rollouts", **CUSTOM)
        assert "4 of 10 replicas of Rollout <web>" in answer.text
        assert endpoint.looked_for == []
        assert granted(await by_autoscaler(endpoint, 2, 10, "rollouts", **CUSTOM)) == 4
        ((about, _),) = endpoint.events
        assert (about.kind, about.api_version) == ("Rollout", "argoproj.io/v1")


async def test_r3_a_custom_resource_is_known_by_one_of_its_pods() -> None:
    stored = json.dumps(running("own-0").put("h200-a", "spec", "nodeName").body).encode()
    async with Endpoint(THREE, running("own-0")) as endpoint:
        endpoint.selected = Pod.decode(stored)
        answer = await by_people(endpoint, 1, 10, "clonesets", **CUSTOM)
        assert "3 of 10 replicas of clonesets <web>" in answer.text
        assert endpoint.looked_for == [("team", "app=web")]


@pytest.mark.parametrize("status", [{}, {"selector": None}, {"selector": "", "replicas": None}])
async def test_r3_one_without_selector_scales_freely(endpoint: Endpoint, status: Any) -> None:
    for answer in (
        await by_people(endpoint, 0, 10**9, "things", group="example.com", status=status),
        await by_autoscaler(endpoint, 0, 10**9, "things", group="example.com", status=status),
    ):
        assert granted(answer) is None
    assert endpoint.looked_for == []


async def test_r3_a_custom_resource_without_pods_scales_freely(endpoint: Endpoint) -> None:
    assert (await by_people(endpoint, 0, 10, "clonesets", **CUSTOM)).allowed
    assert endpoint.looked_for == [("team", "app=web")]


async def test_r3_a_template_that_is_too_large_to_be_kept_scales_freely(endpoint: Endpoint) -> None:
    labels = {f"example.com/label-{n}": "x" * 60 for n in range(TEMPLATE_TEXT.most // 60)}
    watches = Watches(endpoint)
    watches.show(template=pod().with_spec(nodeSelector=labels))
    assert len(endpoint.ledger.workloads) == 1
    assert (await by_people(endpoint, 1, 10)).allowed


async def test_r3_nobody_speaks_for_those_of_another_namespace(endpoint: Endpoint) -> None:
    rollout = ("Rollout", "web", uid_of("web"))
    watches = Watches(endpoint)
    watches.show("replicasets", pod(1), name="web-1", owner=rollout, replicas=1)
    watches.show("replicasets", pod(999), name="evil", owner=rollout, replicas=1, namespace="evil")
    assert (await by_people(endpoint, 0, 3, "rollouts", **CUSTOM)).allowed


async def test_r4_replicas_that_no_pod_follows_count_against_nobody() -> None:
    async with Endpoint(a_queue().with_quota({H200: 100})) as endpoint:
        watches = Watches(endpoint)
        for name in ("paused", "web"):
            watches.show(name=name, replicas=0)
        for _ in range(3):
            assert (await by_people(endpoint, 0, 100, name="paused")).allowed
            watches.show(name="paused", replicas=100)
            assert (await by_people(endpoint, 0, 100)).allowed
            assert granted(await by_autoscaler(endpoint, 0, 101)) == 100
            watches.show(name="paused", replicas=0)


async def test_r2_each_autoscaler_gets_what_fits_now() -> None:
    """Whoever was refused before: only pods that exist take room."""
    queue = a_queue().with_quota({H200: 6})
    others = [running(f"other-{n}") for n in range(6)]
    async with Endpoint(queue, *others) as endpoint:
        watches = Watches(endpoint)
        for name in ("web", "second"):
            watches.show(name=name, replicas=0)
            assert not (await by_autoscaler(endpoint, 0, 10, name=name)).allowed
        for other in others[:4]:
            endpoint.ledger.pod_gone(other.uid)
        assert granted(await by_autoscaler(endpoint, 0, 10, name="second")) == 4
        endpoint.see(*own(3))
        assert granted(await by_autoscaler(endpoint, 0, 10, name="second")) == 1


@pytest.mark.parametrize("broken", ["text", 1.5, 2**80, [], {"a": 1}])
async def test_a_scale_that_is_unreadable_is_not_ours(endpoint: Endpoint, broken: object) -> None:
    Watches(endpoint).show(replicas=0)
    for path in ("/mutate", "/validate"):
        assert granted(await endpoint.review(path, scaling(0, broken))) is None


async def test_a_scale_that_says_nothing(endpoint: Endpoint) -> None:
    asked = scaling(0, 1)
    bodies: list[Any] = [None, {}, {"spec": None}, {"spec": {}, "status": None, "metadata": {}}]
    for body in bodies:
        if body is not None:
            asked["object"] = body
        asked["oldObject"] = body
        answer = await endpoint.review("/validate", asked)
        assert answer.allowed


async def test_a_scale_of_3_mib_costs_nothing(endpoint: Endpoint) -> None:
    Watches(endpoint).show(replicas=0)
    asked = scaling(0, 10)
    asked["object"]["metadata"]["annotations"] = {"x": "y" * 3 * 2**20}
    assert (await endpoint.review("/validate", asked)).allowed


async def test_too_many_at_once_are_to_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scales, "MOST_WAITING", 2)
    async with Endpoint(THREE, unseen_wait=60) as endpoint:
        watches = Watches(endpoint)
        watches.show(template=pod().in_queue("unseen"), replicas=0)
        watches.show(name="seen", replicas=0)
        endpoint.there = True
        held = [asyncio.create_task(by_people(endpoint, 0, 1)) for _ in range(2)]
        while len(endpoint.asked) < 2:
            endpoint.was_asked.clear()
            await endpoint.was_asked.wait()
        answer = await by_people(endpoint, 0, 10, name="seen")
        assert (answer.allowed, answer.code) == (False, 429)
        assert "of namespace <team> are scaled up at once" in answer.text
        assert (await by_people(endpoint, 0, 10, name="without cards")).allowed
        endpoint.see(a_queue("unseen").with_quota({H200: 3}))
        assert all(one.allowed for one in await asyncio.gather(*held))
        assert not (await by_people(endpoint, 0, 10, name="seen")).allowed


async def test_the_metric_counts_scale_ups_under_one_name(endpoint: Endpoint) -> None:
    Watches(endpoint).show(replicas=0)
    await by_people(endpoint, 0, 10)
    await by_autoscaler(endpoint, 0, 10)
    assert endpoint.counted("scale", "deny") == 1
    assert endpoint.counted("scale", "cut") == 1


async def test_i5_many_scale_ups_hold_up_no_pod() -> None:
    """One is answered after the other, and everybody else in between."""
    async with Endpoint(THREE, *own(3)) as endpoint:
        Watches(endpoint).show(replicas=3)
        asked = review_of(scaling(3, 10))
        created = decode(review_of(request_of(pod())))
        reviews = (endpoint.scales.validate(decode(asked)) for _ in range(scales.MOST_WAITING))
        scale_ups = [asyncio.create_task(review) for review in reviews]
        await asyncio.sleep(0)
        answer = await endpoint.pods.mutate(created)
        assert not answer.allowed
        assert sum(one.done() for one in scale_ups) < 20
        assert not any(one.allowed for one in await asyncio.gather(*scale_ups))
