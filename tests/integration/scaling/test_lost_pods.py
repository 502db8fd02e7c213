"""I2: what is charged follows the API server's objects: pods that are deleted by force, and pods
whose node is gone.
"""

import pytest

from builders import a_node
from integration.asking import ask, metric
from integration.own_node import a_node_of
from integration.roomy_nodes import T1000
from integration.team import Team, of_a_job

from .leaving_pods import counts_exactly, is_leaving, start


@pytest.mark.slow
def test_a_pod_that_does_not_stop_is_charged_until_it_is_deleted_by_force(team: Team) -> None:
    queue = team.has_queue({T1000: 1})
    stuck = team.a_pod("stuck", 1, T1000)
    start(team, stuck, stops_in=600)
    counts_exactly(team, T1000, allocated=1)
    assert team.delete(stuck, now=False).ok
    assert team.create(of_a_job(team.a_pod("next", 1, T1000))).ok
    team.until_told("next", "InsufficientCardQuota")
    counts_exactly(team, T1000, allocated=1, requested=2)
    assert is_leaving(team.pod("stuck"))
    assert ask(team.cluster, "DELETE", f"{team.path(stuck)}/stuck?gracePeriodSeconds=1").ok
    late = "cardquota_queue_oldest_terminating_seconds"
    team.until(lambda: metric(team.cluster, late, queue=queue) > 0, "it should be gone (R7)")
    assert team.delete(stuck).ok
    team.until_bound("next")
    counts_exactly(team, T1000, allocated=1, requested=1)
    assert team.delete(of_a_job(team.a_pod("next"))).ok
    counts_exactly(team, T1000, allocated=0, requested=0)


@pytest.mark.long
def test_pods_of_a_node_that_is_gone_hold_their_quota_until_they_are_deleted(team: Team) -> None:
    """The garbage collector of pods takes most of a minute. Until then they may still run."""
    card = f"{team.prefix}-card"
    node = a_node(f"{team.prefix}-node").with_cards(card, "2")
    counted = "cardquota_cluster_card_allocatable"
    with a_node_of(team, node):
        team.has_queue({card: 2})
        team.until(lambda: metric(team.cluster, counted, card=card) == 2, "the node is seen")
        start(team, team.a_pod("web", 2, card), stops_in=600)
        counts_exactly(team, card, allocated=2)
        assert ask(team.cluster, "DELETE", f"/api/v1/nodes/{node.name}").ok
        team.until(lambda: metric(team.cluster, counted, card=card) == 0, "the node is gone")
        counts_exactly(team, card, allocated=2, requested=2)
        team.until(lambda: not team.pods(), "the garbage collector has taken it", 150.0)
        counts_exactly(team, card, allocated=0, requested=0)
