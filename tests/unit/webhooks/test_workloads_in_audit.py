"""Workloads where nothing is refused and nothing waits: what is said of them."""

from typing import Any

import pytest

from builders import H200, a_namespace
from cardquota.quota.messages import queue_messages

from .endpoint import Endpoint
from .workload_review import THREE, own, pod, stored, warned

AUDITED = a_namespace("team").in_mode("audit").at_revision(2)
AUDIT = "audit: would be refused or wait: "
NOT_STEERED = queue_messages.card_in_audit(H200)


@pytest.mark.parametrize("resource", ["deployments", "jobs"])
async def test_of_those_that_do_not_fit(resource: str) -> None:
    """Not that they are refused, nor that they wait."""
    size = "parallelism" if resource == "jobs" else "replicas"
    four: dict[str, Any] = {size: 4}
    three: dict[str, Any] = {size: 3}
    async with Endpoint(THREE, AUDITED) as endpoint:
        how_many, why, steers = await warned(endpoint, resource, pod(), **four)
        assert steers == NOT_STEERED
        assert how_many == f"{AUDIT}web, 1 of 4 pods: 3 fit the quota now"
        assert why == (
            f"{AUDIT}Queue <queue> has insufficient <{H200}> quota: "
            "requested <1>, total would be <4>, but capability is <3>"
        )
        assert await warned(endpoint, resource, pod(), **three) == []


async def test_e5_of_what_can_never_fit() -> None:
    async with Endpoint(THREE, AUDITED) as endpoint:
        text, _ = await warned(endpoint, "deployments", pod(5))
        assert text.startswith(f"{AUDIT}Queue <queue> has insufficient")


async def test_of_pods_that_were_admitted_over_the_quota() -> None:
    """I3: five run, and three of them would."""
    async with Endpoint(THREE, AUDITED, *own(5)) as endpoint:
        how_many, *_ = await warned(endpoint, "deployments", pod(), stored(pod()), replicas=7)
        assert how_many == f"{AUDIT}web, 4 of 7 pods: 3 fit the quota now"


async def test_an_update_begins() -> None:
    async with Endpoint(THREE, AUDITED, *own(3)) as endpoint:
        restarted = pod().annotated("restarted", "now")
        assert await warned(endpoint, "deployments", restarted, stored(pod()), replicas=3) == []


async def test_where_rules_are_off_nothing_is_said() -> None:
    off = a_namespace("team").in_mode("off").at_revision(2)
    async with Endpoint(THREE, off) as endpoint:
        assert await warned(endpoint, "deployments", pod(), replicas=4) == []
        assert await warned(endpoint, "deployments", pod(5)) == []
