"""Workloads whose own pods fill the quota: what is said is what comes of it."""

import pytest

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import Object
from integration.roomy_nodes import T1000
from integration.team import Team, let_through
from integration.workload_bodies import change, create


def a_long_pod(team: Team) -> PodBody:
    return team.a_pod("web", 1, T1000).annotated("cardquota.dev/run-seconds", "3600")


def held(team: Team) -> int:
    """Pods that are let through, bound or not."""
    return sum(let_through(pod) for pod in team.pods())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "three", "five"),
    [
        ("Deployment", {"replicas": 3}, {"replicas": 5}),
        ("Job", {"parallelism": 3, "completions": 9}, {"parallelism": 5}),
    ],
)
def test_pods_that_wait_for_a_node_hold_their_quota(
    team: Team, kind: str, three: Object, five: Object
) -> None:
    """None of them is ready, and three of five are let through all the same."""
    team.has_queue(team.a_queue({T1000: 3}).with_policy("Gate"))
    nowhere = a_long_pod(team).on_nodes_labelled({"foo": "bar"})
    assert create(team, kind, nowhere, **three).ok
    team.until_row(T1000, inqueue=3)

    reply = change(team, kind, "web", five)

    assert reply.warnings[0] == "web: 3 of 5 pods fit the quota now, 2 wait at the gate"
    assert "requested <1>, total would be <4>, but capability is <3>" in reply.warnings[1]
    team.until_row(T1000, inqueue=3, requested=5)
    assert held(team) == 3


@pytest.mark.slow
def test_gated_pods_of_a_queue_that_refuses_from_now_on(team: Team) -> None:
    """Two of five waited when the policy became Deny: they have no more room than before."""
    queue = team.a_queue({T1000: 3}).with_policy("Gate")
    team.has_queue(queue)
    assert create(team, "Deployment", a_long_pod(team), replicas=5).ok
    team.until_row(T1000, allocated=3, requested=5)
    assert team.annotate(queue, v.POLICY, "Deny").ok

    def refuses() -> bool:
        warnings = change(team, "Deployment", "web", {"replicas": 6}).warnings
        change(team, "Deployment", "web", {"replicas": 5})
        return "refused" in warnings[0]

    team.until(refuses, "the policy is seen")
    reply = change(team, "Deployment", "web", {"replicas": 7})

    assert reply.warnings[0] == (
        "web: 3 of 7 pods fit the quota now, 4 are refused until there is room"
    )
    assert held(team) == 3


@pytest.mark.slow
def test_a_rolling_update_begins_with_the_numbers_that_the_warning_names(team: Team) -> None:
    """E2: three of three run; a label changes, and the new pod has no room beside them."""
    team.has_queue({T1000: 3})
    assert create(team, "Deployment", a_long_pod(team), replicas=3).warnings == ()
    team.until_row(T1000, allocated=3)
    old = {pod["metadata"]["uid"] for pod in team.pods()}

    label = {"template": {"metadata": {"labels": {"version": "two"}}}}
    reply = change(team, "Deployment", "web", label)

    assert reply.warnings[0] == (
        "web: the update cannot begin, no quota is left for it: write maxSurge 0 and "
        "maxUnavailable 1, or ask for more quota"
    )
    assert "requested <1>, total would be <4>, but capability is <3>" in reply.warnings[1]
    assert {pod["metadata"]["uid"] for pod in team.pods()} == old

    helps = {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}
    assert change(team, "Deployment", "web", helps).warnings == ()

    def renewed() -> bool:
        uids = {pod["metadata"]["uid"] for pod in team.pods()}
        return len(uids) == 3 and not uids & old

    team.until(renewed, "all pods are new")
    again = {"template": {"metadata": {"labels": {"version": "three"}}}}
    assert change(team, "Deployment", "web", again).warnings == ()
