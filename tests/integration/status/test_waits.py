"""T7 on a real API server: who waits, for what and for how long, in metrics and on the Queue."""

from typing import Any

import pytest

from cardquota.quota import vocabulary as v
from integration.asking import metric
from integration.roomy_nodes import T1000
from integration.team import Team


def of_queue(team: Team, queue: str, name: str, **labels: str) -> float:
    return metric(team.cluster, f"cardquota_{name}", queue=queue, **labels)


def waiting(team: Team) -> dict[str, Any]:
    return dict(team.status().get("waiting") or {})


@pytest.mark.slow
def test_t7_a_pod_that_waits_is_counted_until_its_gate_opens(team: Team) -> None:
    queue = team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    assert team.create(team.a_pod("holds", 1, T1000)).ok
    team.until_bound("holds")
    assert of_queue(team, queue, "queue_oldest_wait_seconds") == 0
    assert waiting(team).get("pods", 0) == 0
    assert team.create(team.a_pod("waits", 1, T1000)).ok
    reason = v.Reason.INSUFFICIENT_CARD
    team.until(
        lambda: of_queue(team, queue, "waiting_pods", reason=reason) == 1, "one waits for quota"
    )
    team.until(lambda: of_queue(team, queue, "queue_oldest_wait_seconds") > 0, "it has waited")
    team.until(lambda: of_queue(team, queue, "queue_median_wait_seconds") > 0, "so has half")
    created = team.pod("waits")["metadata"]["creationTimestamp"]
    team.until(lambda: waiting(team) == {"pods": 1, "oldest": created}, "the Queue says so")
    assert team.delete(team.a_pod("holds", 1, T1000)).ok
    team.until_bound("waits")
    team.until(lambda: of_queue(team, queue, "waiting_pods") == 0, "nobody waits")
    assert of_queue(team, queue, "queue_oldest_wait_seconds") == 0
    assert of_queue(team, queue, "queue_median_wait_seconds") == 0
    team.until(lambda: waiting(team) == {"pods": 0}, "nor does the Queue say so")
