"""How many of a workload's pods fit: those it has, those it gives back, and how many it wants."""

from typing import Any

import pytest

from builders import H200, H800, a_node, a_pod, a_queue
from builders.pod import PodBody

from .endpoint import Endpoint
from .workload_review import THREE, made, own, own_gated, pod, running, stored, warned


@pytest.mark.parametrize(
    ("quota", "pods"),
    [(3, own(3)), (3, [*own(1), *own_gated(2)]), (2, own(3))],
    ids=["all hold quota", "E2: gated ones have room", "Q7: the quota was lowered below them"],
)
async def test_e2_q7_an_update_keeps_its_own_pods(quota: int, pods: list[PodBody]) -> None:
    old = stored(pod(), replicas=3)
    async with Endpoint(THREE.with_quota({H200: quota}), *pods) as endpoint:
        for replicas in (1, 3):
            assert await warned(endpoint, "deployments", pod(), old, replicas=replicas) == []
        (how_many, _) = await warned(endpoint, "deployments", pod(), old, replicas=4)
        assert "3 of 4 pods fit" in how_many


async def test_another_template_gets_the_room_that_the_old_pods_give_back() -> None:
    old = stored(pod(), "statefulsets")
    async with Endpoint(THREE, *own(3, "statefulsets")) as endpoint:
        how_many, why = await warned(endpoint, "statefulsets", pod(2), old, replicas=3)
        assert "web: 1 of 3 pods fit" in how_many
        assert f"<{H200}> quota: requested <2>, total would be <4>, but capability is <3>" in why
        assert await warned(endpoint, "statefulsets", pod(2), old, replicas=1) == []


async def test_pods_of_alternatives_give_back_what_is_charged_of_each() -> None:
    queue = a_queue().with_quota({H200: 2, H800: 2})
    either = pod(1, f"{H200}|{H800}")
    there = [running("a"), running("b").stamped("queue", {H800: 1}).on_node("h800-a")]
    async with Endpoint(queue, *(made(body, "statefulsets") for body in there)) as endpoint:
        old = stored(either, "statefulsets")
        assert await warned(endpoint, "statefulsets", pod(2), old, replicas=1) == []
        assert "1 of 2" in (await warned(endpoint, "statefulsets", pod(2), old, replicas=2))[0]


async def test_a_pod_that_waits_at_the_gate_does_not_fit_already() -> None:
    """A Job counts it as active."""
    old = stored(pod(), "jobs", active=5, ready=3)
    async with Endpoint(THREE, *own(3, "jobs"), *own_gated(2, "jobs")) as endpoint:
        assert "3 of 6 pods fit" in (await warned(endpoint, "jobs", pod(), old, parallelism=6))[0]


@pytest.mark.parametrize("resource", ["jobs", "deployments", "statefulsets", "replicasets"])
@pytest.mark.parametrize("ready", [0, 1, 3])
async def test_what_is_released_holds_quota_before_it_is_ready(resource: str, ready: int) -> None:
    """Three of three, without a node or without their image; their controller knows no more."""
    old = stored(pod(), resource, active=3, replicas=3, ready=ready, readyReplicas=ready)
    size = "parallelism" if resource == "jobs" else "replicas"
    opened = [body.put(None, "spec", "nodeName") for body in own(3, resource)]
    async with Endpoint(THREE.with_policy("Gate"), *opened) as endpoint:
        for asked in (1, 3):
            assert await warned(endpoint, resource, pod(), old, **{size: asked}) == []
        how_many, why = await warned(endpoint, resource, pod(), old, **{size: 5})
        assert how_many == "web: 3 of 5 pods fit the quota now, 2 wait at the gate"
        assert "requested <1>, total would be <4>, but capability is <3>" in why


async def test_pods_of_an_older_template_give_back_what_they_hold() -> None:
    """In the middle of an update: two of two cards, and one of one card that is to go."""
    old = stored(pod(2), replicas=3)
    queue = THREE.with_quota({H200: 5})
    there = [running(f"new-{n}", 2) for n in range(2)]
    async with Endpoint(queue, *own(1), *(made(body) for body in there)) as endpoint:
        assert "2 of 3" in (await warned(endpoint, "deployments", pod(2), old, replicas=3))[0]
        endpoint.see(queue.with_quota({H200: 6}).at_revision(2))
        assert await warned(endpoint, "deployments", pod(2), old, replicas=3) == []


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        ({"parallelism": 6}, 6),
        ({"parallelism": 6, "completions": 4}, 4),
        ({"parallelism": 4, "completions": 9}, 4),
        ({"parallelism": 6, "suspend": True}, 0),
    ],
)
@pytest.mark.parametrize("resource", ["jobs", "cronjobs"])
async def test_a_job_runs_no_more_pods_than_it_has_to_complete(
    endpoint: Endpoint, resource: str, spec: dict[str, Any], asked: int
) -> None:
    said = await warned(endpoint, resource, pod(), **spec)
    assert (f"web: 3 of {asked} pods fit" in said[0]) if asked else said == []


async def test_what_a_job_has_completed_is_asked_for_no_more(endpoint: Endpoint) -> None:
    old = stored(pod(), "jobs", active=0, succeeded=7)
    assert await warned(endpoint, "jobs", pod(), old, parallelism=6, completions=9) == []


async def test_a_cron_job_that_runs_is_changed(endpoint: Endpoint) -> None:
    """In its status stand its Jobs, whose pods are no part of the next one."""
    old = stored(pod(), "cronjobs", active=[{"kind": "Job", "name": "web-1"}])
    assert "3 of 4" in (await warned(endpoint, "cronjobs", pod(), old, parallelism=4))[0]


async def test_a_daemon_set_has_a_pod_on_each_node_that_it_selects_and_that_has_the_card() -> None:
    pool = {"pool": "a"}
    nodes = [a_node(f"n{n}").with_cards(H200, 8).labelled("pool", "a") for n in range(4)]
    others = [a_node("other").with_cards(H200, 8), a_node("none").labelled("pool", "a")]
    there = pod().on_nodes_labelled(pool)
    async with Endpoint(THREE, *nodes, *others) as endpoint:
        how_many, why = await warned(endpoint, "daemonsets", there)
        assert how_many.startswith("web: 3 of 4 pods fit the quota now, 1 is refused")
        assert "total would be <4>" in why
        old = stored(there, "daemonsets")
        on_them = [running(f"p{n}").on_nodes_labelled(pool) for n in range(4)]
        endpoint.see(*(made(body, "daemonsets") for body in on_them))
        assert await warned(endpoint, "daemonsets", there, old) == []
        cpu = a_pod().in_queue("queue").with_cpu("1").on_nodes_labelled(pool)
        endpoint.see(THREE.limited_to(cpu="2").at_revision(2))
        assert "2 of 5 pods fit" in (await warned(endpoint, "daemonsets", cpu))[0]
