"""R2: real autoscalers over real controllers: none gets more than fits, and what they give back is
free at once.
"""

import pytest

from cardquota_dev.testing import eventually
from integration.roomy_nodes import T1000
from integration.team import Team, of_a_job
from integration.workload_bodies import refusals

from .autoscaler import autoscale, deploy, failed_rescales, replicas, use

IDLE = {"cpu": "1m"}


@pytest.mark.slow
def test_r2_it_wants_10_gets_3_is_told_why_and_gives_back(team: Team) -> None:
    queue = team.has_queue({T1000: 3})
    deploy(team, team.a_pod("web", 1, T1000), stops_in=2)
    team.until_row(T1000, allocated=1)
    autoscale(team, "web", 10)
    team.until_row(T1000, allocated=3)
    told = eventually(lambda: failed_rescales(team, "web"), "FailedRescale")
    assert f"Queue <{queue}> has insufficient <{T1000}> quota: requested <" in told[0]
    assert "but capability is <3>; 3 of " in told[0]
    assert replicas(team, "web") == 3
    (cut,) = team.events("web", "ScalePartlyGranted")
    assert cut["message"].startswith("granted 3 of ")
    assert refusals(team) == []

    waiting = of_a_job(team.a_pod("train", 2, T1000))
    assert team.create(waiting).ok
    team.until_told("train", "InsufficientCardQuota")
    use(team, **IDLE)
    team.until_open("train")
    team.until_row(T1000, allocated=3, requested=3)
    assert replicas(team, "web") == 1
    assert len(team.pods()) == 2


@pytest.mark.slow
def test_r2_by_a_custom_metric(team: Team) -> None:
    team.has_queue({T1000: 2})
    use(team, requests_per_second="100")
    deploy(team, team.a_pod("web", 1, T1000))
    team.until_row(T1000, allocated=1)
    target = {"type": "AverageValue", "averageValue": "10"}
    pods = {"metric": {"name": "requests_per_second"}, "target": target}
    autoscale(team, "web", 10, {"type": "Pods", "pods": pods})
    team.until_row(T1000, allocated=2)
    eventually(lambda: failed_rescales(team, "web"), "FailedRescale")
    assert replicas(team, "web") == 2
    assert refusals(team) == []
