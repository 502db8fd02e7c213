"""A Deployment whose own pods fill the quota: whether its rolling update can begin (E2)."""

from typing import Any

import pytest

from builders import H200, H800
from builders.pod import PodBody

from .endpoint import Endpoint
from .workload_review import THREE, own, own_gated, pod, running, stored, warned

RESTARTED = pod().annotated("kubectl.kubernetes.io/restartedAt", "now")


def rolling(surge: int | str, unavailable: int | str) -> dict[str, Any]:
    return {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def stuck(unavailable: int = 1) -> str:
    return (
        "web: the update cannot begin, no quota is left for it: write maxSurge 0 and "
        f"maxUnavailable {unavailable}, or ask for more quota"
    )


async def updated(endpoint: Endpoint, template: PodBody = RESTARTED, **spec: Any) -> list[str]:
    """The warnings on the update of a Deployment."""
    return await warned(endpoint, "deployments", template, stored(pod()), **spec)


async def test_a_label_alone_needs_room_for_the_surge() -> None:
    """Three of three: the new pod is refused, and none of the old may go before it is there."""
    async with Endpoint(THREE, *own(3)) as endpoint:
        cannot, why = await updated(endpoint, replicas=3)
        assert cannot == stuck()
        assert why == (
            f"Queue <queue> has insufficient <{H200}> quota: "
            "requested <1>, total would be <4>, but capability is <3>; held by web 3"
        )


@pytest.mark.parametrize(
    ("strategy", "least"),
    [
        ({}, 1),
        ({"type": "RollingUpdate"}, 1),
        (rolling(1, 0), 1),
        (rolling("100%", "33%"), 1),
        (rolling(1, "34%"), 0),
        (rolling(0, 1), 0),
        (rolling("0%", "0%"), 0),
        ({"type": "Recreate"}, 0),
    ],
)
async def test_as_many_may_be_gone_as_it_says(strategy: dict[str, Any], least: int) -> None:
    """Of a percentage rounded down; where both come to nothing the controller lets one go."""
    async with Endpoint(THREE, *own(3)) as endpoint:
        said = await updated(endpoint, replicas=3, strategy=strategy)
        assert said[:1] == ([stuck(least)] if least else [])


@pytest.mark.parametrize(("cards", "unavailable", "least"), [(2, 1, 2), (2, 2, 0), (3, 2, 3)])
async def test_as_many_go_as_make_room_for_a_new(cards: int, unavailable: int, least: int) -> None:
    async with Endpoint(THREE, *own(3)) as endpoint:
        strategy = rolling(0, unavailable)
        first, *_ = await updated(endpoint, pod(cards), replicas=3, strategy=strategy)
        assert first == stuck(least) if least else "1 of 3 pods fit" in first


@pytest.mark.parametrize("policy", ["Deny", "Gate"])
async def test_pods_that_never_came_are_unavailable_already(policy: str) -> None:
    """Three of four run, and 25 % of four may be missing: that one is missing."""
    waiting = own_gated(1) if policy == "Gate" else []
    async with Endpoint(THREE.with_policy(policy), *own(3), *waiting) as endpoint:
        (cannot, _) = await updated(endpoint, replicas=4)
        assert cannot == stuck(2)
        (how_many, _) = await updated(endpoint, replicas=4, strategy=rolling(0, 2))
        assert "3 of 4 pods fit" in how_many


@pytest.mark.parametrize(
    ("quota", "resource", "template", "more"),
    [
        ({H200: 4}, "deployments", RESTARTED, {"replicas": 3}),
        ({H200: 3, H800: 3}, "deployments", pod(1, H800), {"replicas": 3}),
        # Without an update.
        ({H200: 3}, "deployments", RESTARTED, {"paused": True, "replicas": 3}),
        ({H200: 3}, "deployments", RESTARTED, {"replicas": 0}),
        # They end the old pod first.
        ({H200: 3}, "statefulsets", RESTARTED, {"replicas": 3}),
        ({H200: 3}, "daemonsets", RESTARTED, {"replicas": 3}),
    ],
)
async def test_nothing_is_said_where_it_begins(
    quota: dict[str, int], resource: str, template: PodBody, more: dict[str, Any]
) -> None:
    async with Endpoint(THREE.with_quota(quota), *own(3, resource)) as endpoint:
        assert await warned(endpoint, resource, template, stored(pod(), resource), **more) == []


async def test_where_others_hold_too_much_no_number_helps() -> None:
    """Q7: the quota was lowered to less than others hold."""
    async with Endpoint(THREE.with_quota({H200: 2}), *own(1), running("other", 3)) as endpoint:
        how_many, _ = await updated(endpoint, replicas=1)
        assert "its pod does not fit" in how_many
