"""How many of a workload's pods fit: those it has, those it gives back, and how many it wants."""

from typing import Any

import pytest

from builders import H200, H800, a_node, a_pod, a_queue

from .door import Door
from .workload_review import THREE, pod, running, stored, warned


async def test_an_update_keeps_its_own_pods() -> None:
    """They hold their quota: nothing is said about them."""
    old = stored(pod(), replicas=3)
    async with Door(THREE, *[running(f"p{n}") for n in range(3)]) as door:
        assert await warned(door, "deployments", pod(), old, replicas=3) == []
        assert await warned(door, "deployments", pod(), old, replicas=1) == []
        assert "3 of 4 pods fit" in (await warned(door, "deployments", pod(), old, replicas=4))[0]


async def test_another_template_gets_the_room_that_the_old_pods_give_back() -> None:
    """Three pods of one card become three of two cards: one of them fits three cards."""
    old = stored(pod(), replicas=3)
    async with Door(THREE, *[running(f"p{n}") for n in range(3)]) as door:
        how_many, why = await warned(door, "deployments", pod(2), old, replicas=3)
        assert "web: 1 of 3 pods fit" in how_many
        assert f"<{H200}> quota: requested <2>, total would be <4>, but capability is <3>" in why
        assert await warned(door, "deployments", pod(2), old, replicas=1) == []


async def test_another_card_gets_no_room_from_the_old_one() -> None:
    """Three H200 are given back, and there are two H800."""
    old = stored(pod(), replicas=3)
    queue = a_queue().with_quota({H200: 3, H800: 2})
    async with Door(queue, *[running(f"p{n}") for n in range(3)]) as door:
        how_many, why = await warned(door, "deployments", pod(1, H800), old, replicas=3)
        assert "2 of 3 pods fit" in how_many
        assert f"<{H800}> quota: requested <1>, total would be <3>, but capability is <2>" in why


async def test_pods_of_alternatives_give_back_what_is_charged_of_each() -> None:
    queue = a_queue().with_quota({H200: 2, H800: 2})
    either = pod(1, f"{H200}|{H800}")
    others = [running("a"), running("b").stamped("queue", {H800: 1}).on_node("h800-a")]
    async with Door(queue, *others) as door:
        old = stored(either, replicas=2)
        assert await warned(door, "deployments", pod(2), old, replicas=1) == []
        assert "1 of 2" in (await warned(door, "deployments", pod(2), old, replicas=2))[0]


async def test_pods_of_another_queue_give_nothing_back() -> None:
    old = stored(pod().in_queue("other"), replicas=3)
    async with Door(THREE, running("a", 3)) as door:
        how_many, _ = await warned(door, "deployments", pod(), old, replicas=3)
        assert "0 of 3 pods fit" in how_many


async def test_a_pod_that_waits_at_the_gate_does_not_fit_already() -> None:
    """A Job counts it as active."""
    old = stored(pod(), "jobs", active=5, ready=3)
    async with Door(THREE, *[running(f"p{n}") for n in range(3)]) as door:
        assert "3 of 6 pods fit" in (await warned(door, "jobs", pod(), old, parallelism=6))[0]
    async with Door(THREE, running("starts")) as door:
        starting = stored(pod(), "jobs", active=1, ready=0)
        assert await warned(door, "jobs", pod(), starting, parallelism=3) == []


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
    resource: str, spec: dict[str, Any], asked: int
) -> None:
    async with Door(THREE) as door:
        said = await warned(door, resource, pod(), **spec)
        assert (f"web: 3 of {asked} pods fit" in said[0]) if asked else said == []


async def test_what_a_job_has_completed_is_asked_for_no_more() -> None:
    old = stored(pod(), "jobs", active=0, succeeded=7)
    async with Door(THREE) as door:
        assert await warned(door, "jobs", pod(), old, parallelism=6, completions=9) == []


async def test_a_cron_job_that_runs_is_changed() -> None:
    """In its status stand its Jobs, whose pods are no part of the next one."""
    old = stored(pod(), "cronjobs", active=[{"kind": "Job", "name": "web-1"}])
    async with Door(THREE) as door:
        assert "3 of 4" in (await warned(door, "cronjobs", pod(), old, parallelism=4))[0]


async def test_a_daemon_set_has_a_pod_on_each_node_that_it_selects_and_that_has_the_card() -> None:
    pool = {"pool": "a"}
    nodes = [a_node(f"n{n}").with_cards(H200, 8).labelled("pool", "a") for n in range(4)]
    others = [a_node("other").with_cards(H200, 8), a_node("none").labelled("pool", "a")]
    there = pod().on_nodes_labelled(pool)
    async with Door(THREE, *nodes, *others) as door:
        how_many, why = await warned(door, "daemonsets", there)
        assert how_many.startswith("web: 3 of 4 pods fit the quota now, the rest is refused")
        assert "total would be <4>" in why
        old = stored(there, "daemonsets", currentNumberScheduled=4, numberReady=4)
        assert await warned(door, "daemonsets", there, old) == []
        cpu = a_pod().in_queue("queue").with_cpu("1").on_nodes_labelled(pool)
        door.see(THREE.limited_to(cpu="2").at_revision(2))
        assert "2 of 5 pods fit" in (await warned(door, "daemonsets", cpu))[0]
