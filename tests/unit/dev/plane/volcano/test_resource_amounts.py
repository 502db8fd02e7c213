from typing import Any

import pytest

from cardquota_dev.plane.volcano.resource_amounts import (
    counted,
    pod_requests,
    quantity,
    quota_usage,
    thousandths,
)


def a_container(*, restarts: str = "", limits: Any = None, **requests: str) -> dict[str, Any]:
    found: dict[str, Any] = {"resources": {"requests": requests, "limits": limits or {}}}
    return {**found, "restartPolicy": restarts} if restarts else found


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("2", 2_000),
        (2, 2_000),
        ("1500m", 1_500),
        ("1Ki", 1_024_000),
        ("1k", 1_000_000),
        ("0.5", 500),
        ("1u", 1),
        ("1e3", 1_000_000),
        ("3E", 3 * 10**21),
        ("0", 0),
    ],
)
def test_quantities_are_whole_thousandths_rounded_up(text: str | int, amount: int) -> None:
    assert thousandths(text) == amount
    assert thousandths(quantity(amount)) == amount


def test_a_pod_requests_the_most_that_runs_at_once() -> None:
    spec = {
        "containers": [a_container(cpu="1"), a_container(cpu="500m")],
        "initContainers": [
            a_container(cpu="3"),
            a_container(cpu="1", restarts="Always"),
        ],
        "overhead": {"cpu": "250m"},
    }
    assert pod_requests(spec) == {"cpu": 4_250, "pods": 1_000}


def test_limits_count_where_nothing_is_requested() -> None:
    cards = {"nvidia.com/gpu": "2", "cpu": "4"}
    spec = {"containers": [a_container(cpu="1", limits=cards)]}
    assert pod_requests(spec) == {"cpu": 1_000, "nvidia.com/gpu": 2_000, "pods": 1_000}


def test_usage_has_the_names_of_a_resource_quota_too() -> None:
    usage = quota_usage({"containers": [a_container(cpu="1", limits={"nvidia.com/gpu": "2"})]})
    assert usage == {
        "count/pods": 1_000,
        "pods": 1_000,
        "cpu": 1_000,
        "requests.cpu": 1_000,
        "nvidia.com/gpu": 2_000,
        "requests.nvidia.com/gpu": 2_000,
    }
    assert counted(usage) == {"pods": 1_000, "cpu": 1_000, "nvidia.com/gpu": 2_000}
