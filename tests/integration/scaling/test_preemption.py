"""Section 6, E2: kube-scheduler preempts a pod of one queue for one of another. Each is charged to
its own queue throughout.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from builders import a_node
from integration.asking import ask, metric
from integration.own_node import a_node_of
from integration.team import Team

from .leaving_pods import counts_exactly, gone, is_leaving, most_held, start

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


@contextmanager
def a_priority_class(team: Team, value: int) -> Iterator[str]:
    body = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": team.prefix},
        "value": value,
    }
    assert ask(team.cluster, "POST", CLASSES, body).ok
    try:
        yield team.prefix
    finally:
        assert ask(team.cluster, "DELETE", f"{CLASSES}/{team.prefix}").ok


@pytest.mark.slow
def test_a_victim_holds_its_quota_until_it_is_gone_and_the_preemptor_has_its_own(
    team: Team,
) -> None:
    card = f"{team.prefix}-card"
    node = a_node(f"{team.prefix}-node").with_cards(card, "2")
    counted = "cardquota_cluster_card_allocatable"
    with a_node_of(team, node), a_priority_class(team, 1_000) as high, team.watching() as watch:
        victims = team.has_queue({card: 2}, "low")
        preemptors = team.has_queue({card: 2}, "high")
        team.until(lambda: metric(team.cluster, counted, card=card) == 2, "the node is seen")
        start(team, team.a_pod("victim", 2, card, "low"), stops_in=600)
        counts_exactly(team, card, name="low", allocated=2)
        uid = team.pod("victim")["metadata"]["uid"]
        urgent = team.a_pod("urgent", 2, card, "high").with_spec(priorityClassName=high)
        assert team.create(urgent).ok
        watch.first(
            lambda s: s.object["metadata"]["uid"] == uid and is_leaving(s.object), "it is preempted"
        )
        counts_exactly(team, card, name="low", allocated=2, inqueue=0)
        counts_exactly(team, card, name="high", allocated=0, inqueue=2)
        assert team.delete(team.a_pod("victim")).ok
        gone(watch, uid)
        team.until_bound("urgent")
        counts_exactly(team, card, name="low", allocated=0, requested=0)
        counts_exactly(team, card, name="high", allocated=2, inqueue=0)
        assert most_held(watch, victims, card) == 2
        assert most_held(watch, preemptors, card) == 2
