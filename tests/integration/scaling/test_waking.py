"""R5 on real controllers: workloads whose pods were refused sleep, and are woken when they fit."""

import time

import pytest

from builders import a_node
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually
from integration.asking import Object, ask, metric
from integration.own_node import a_node_of
from integration.roomy_nodes import T1000
from integration.team import Team
from integration.workload_bodies import create, path

WOKEN = "cardquota_workloads_woken_total"


def replica_sets(team: Team) -> list[Object]:
    return list(ask(team.cluster, "GET", path(team, "ReplicaSet")).body["items"])


def refused(team: Team) -> list[str]:
    """Names of ReplicaSets that say that a pod of theirs could not be created."""
    return [
        one["metadata"]["name"]
        for one in replica_sets(team)
        for condition in one["status"].get("conditions", ())
        if condition["type"] == "ReplicaFailure" and condition["status"] == "True"
    ]


def tries(team: Team) -> int:
    """How often controllers have tried in vain to create a pod."""
    events = ask(team.cluster, "GET", f"/api/v1/namespaces/{team.namespace}/events").body["items"]
    return sum(event["count"] for event in events if event["reason"] == "FailedCreate")


def sleeps(team: Team, seconds: float) -> None:
    """Wait until nobody has tried for so long."""
    seen = [0, 0.0]

    def still() -> bool:
        tried = tries(team)
        if tried != seen[0]:
            seen[:] = tried, time.monotonic()
        return tried > 0 and time.monotonic() - seen[1] >= seconds

    eventually(still, "it tries ever more rarely")


def has_just_tried(team: Team) -> None:
    """Wait for a try after four quiet seconds or so: pauses double, so the next is eight away."""
    sleeps(team, 3.0)
    tried = tries(team)
    eventually(lambda: tries(team) > tried, "it tries once more")


def woken(team: Team) -> list[str]:
    """Names of ReplicaSets that were woken."""
    return [
        one["metadata"]["name"]
        for one in replica_sets(team)
        for condition in one["status"].get("conditions", ())
        if condition["type"] == v.WOKEN_CONDITION
    ]


@pytest.mark.slow
def test_r5_a_refused_deployment_goes_on_when_the_quota_is_raised(team: Team) -> None:
    team.has_queue({T1000: 1})
    create(team, "Deployment", team.a_pod("web", 1, T1000), replicas=3)
    team.until_row(T1000, allocated=1)
    has_just_tried(team)
    eventually(lambda: len(refused(team)) == 1, "its ReplicaSet says so")
    before = metric(team.cluster, WOKEN)
    team.set_quota({T1000: 3})
    team.until_row(T1000, allocated=3)
    assert metric(team.cluster, WOKEN) > before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("StatefulSet", {"replicas": 3}),
        ("StatefulSet", {"replicas": 3, "podManagementPolicy": "Parallel"}),
        ("Job", {"parallelism": 3, "completions": 3}),
    ],
    ids=["StatefulSet", "parallel", "Job"],
)
def test_r5_controllers_that_do_not_say_why_they_lack_pods(
    team: Team, kind: str, spec: Object
) -> None:
    team.has_queue(team.a_queue({T1000: 1}).with_policy("Deny"))
    pod = team.a_pod("web", 1, T1000).annotated("cardquota.dev/run-seconds", "3600")
    create(team, kind, pod, **spec)
    team.until_row(T1000, allocated=1)
    has_just_tried(team)
    before = metric(team.cluster, WOKEN)
    team.set_quota({T1000: 3})
    team.until_row(T1000, allocated=3)
    assert metric(team.cluster, WOKEN) > before


@pytest.mark.slow
def test_r5_a_daemon_set(team: Team) -> None:
    card = f"{team.prefix}-card"
    nodes = [a_node(f"{team.prefix}-{n}").with_cards(card, "8") for n in range(3)]
    with a_node_of(team, nodes[0]), a_node_of(team, nodes[1]), a_node_of(team, nodes[2]):
        team.has_queue({card: 1})
        counted = "cardquota_cluster_card_allocatable"
        team.until(lambda: metric(team.cluster, counted, card=card) == 24, "the nodes are seen")
        pod = team.a_pod("web", 1, card).on_nodes_labelled({"nvidia.com/gpu.product": card})
        create(team, "DaemonSet", pod)
        team.until_row(card, allocated=1)
        has_just_tried(team)
        before = metric(team.cluster, WOKEN)
        team.set_quota({card: 3})
        team.until_row(card, allocated=3)
        assert metric(team.cluster, WOKEN) > before


@pytest.mark.slow
def test_r5_one_freed_card_wakes_one_of_many(team: Team) -> None:
    team.has_queue({T1000: 1})
    create(team, "ReplicaSet", team.a_pod("first", 1, T1000), replicas=1)
    team.until_row(T1000, allocated=1)
    for number in range(20):
        create(team, "ReplicaSet", team.a_pod(f"web-{number:02}", 1, T1000), replicas=1)
    eventually(lambda: len(refused(team)) == 20, "all others are refused")
    sleeps(team, 3.5)
    before = metric(team.cluster, WOKEN)
    assert ask(team.cluster, "DELETE", f"{path(team, 'ReplicaSet')}/first").ok

    def another() -> bool:
        names = [pod["metadata"]["name"] for pod in team.pods()]
        return len(names) == 1 and names[0].startswith("web-")

    eventually(another, "one of the others has its pod")
    assert metric(team.cluster, WOKEN) - before <= 2
    assert set(woken(team)) <= {"web-00", "web-01"}
