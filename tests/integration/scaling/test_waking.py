"""R5 on real controllers: workloads whose pods were refused sleep, and are woken when they fit."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from builders import a_node
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually
from integration.asking import Object, ask, metric
from integration.bursts import end_surplus
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


def tries(team: Team) -> Iterator[tuple[str, int]]:
    """The workloads whose controllers tried in vain to create a pod, and how often."""
    events = ask(team.cluster, "GET", f"/api/v1/namespaces/{team.namespace}/events").body["items"]
    for event in events:
        if event["reason"] == "FailedCreate":
            yield event["involvedObject"]["name"], event["count"]


def sleeps(team: Team, seconds: float) -> None:
    """Wait until nobody has tried for so long."""
    seen = [0, 0.0]

    def still() -> bool:
        tried = sum(count for _, count in tries(team))
        if tried != seen[0]:
            seen[:] = tried, time.monotonic()
        return tried > 0 and time.monotonic() - seen[1] >= seconds

    eventually(still, "it tries ever more rarely")


def woken(team: Team) -> list[str]:
    """Names of ReplicaSets that were woken."""
    return [
        one["metadata"]["name"]
        for one in replica_sets(team)
        for condition in one["status"].get("conditions", ())
        if condition["type"] == v.WOKEN_CONDITION
    ]


WORKLOADS: dict[str, tuple[str, Object]] = {
    "deployment": ("Deployment", {"replicas": 3}),
    "statefulset": ("StatefulSet", {"replicas": 3}),
    "parallel": ("StatefulSet", {"replicas": 3, "podManagementPolicy": "Parallel"}),
    "job": ("Job", {"parallelism": 3, "completions": 3}),
    "daemonset": ("DaemonSet", {}),
}
"""By name, which is that of its queue too. Most controllers do not say why they lack pods."""


def raise_when_it_has_just_tried(team: Team, quotas: dict[str, dict[str, int]]) -> None:
    """Each queue, as soon as its workload has tried after three quiet seconds: pauses double, so
    the controller's next try is six seconds away, or more.
    """
    seen: dict[str, tuple[int, float]] = {}

    def all_raised() -> bool:
        tried = Counter[str]()
        for name, count in tries(team):
            tried[name.partition("-")[0]] += count
        now = time.monotonic()
        for name in list(quotas):
            end_surplus(team.cluster, team.namespace, 1, name)
            before, since = seen.get(name, (0, now))
            if tried[name] != before:
                seen[name] = tried[name], now
                if before and now - since >= 3.0:
                    team.set_quota(quotas.pop(name), name)
        return not quotas

    eventually(all_raised, "all try ever more rarely")


@pytest.mark.slow
def test_r5_refused_workloads_go_on_when_the_quota_is_raised(team: Team) -> None:
    card = f"{team.prefix}-card"
    cards = {name: card if name == "daemonset" else T1000 for name in WORKLOADS}
    counted, nodes = "cardquota_cluster_card_allocatable", range(3)
    with ExitStack() as there:
        for number in nodes:
            node = a_node(f"{team.prefix}-{number}").with_cards(card, "8")
            there.enter_context(a_node_of(team, node))
        team.until(lambda: metric(team.cluster, counted, card=card) == 24, "the nodes are seen")
        before = metric(team.cluster, WOKEN)
        for name, (kind, spec) in WORKLOADS.items():
            team.has_queue(team.a_queue({cards[name]: 1}, name).with_policy("Deny"), name)
            pod = team.a_pod(name, 1, cards[name], name)
            if kind == "DaemonSet":
                pod = pod.on_nodes_labelled({"nvidia.com/gpu.product": card})
            create(team, kind, pod.annotated("cardquota.dev/run-seconds", "3600"), **spec)
        for name in WORKLOADS:
            team.until_row(cards[name], name, allocated=1)
        raise_when_it_has_just_tried(team, {name: {cards[name]: 3} for name in WORKLOADS})
        for name in WORKLOADS:
            team.until_row(cards[name], name, allocated=3)
        assert metric(team.cluster, WOKEN) - before >= len(WORKLOADS)


@pytest.mark.slow
def test_r5_one_freed_card_wakes_one_of_many(team: Team) -> None:
    team.has_queue({T1000: 1})
    create(team, "ReplicaSet", team.a_pod("first", 1, T1000), replicas=1)
    team.until_row(T1000, allocated=1)
    for number in range(5):
        create(team, "ReplicaSet", team.a_pod(f"web-{number}", 1, T1000), replicas=1)
    eventually(lambda: len(refused(team)) == 5, "all others are refused")
    sleeps(team, 3.5)
    before = metric(team.cluster, WOKEN)
    assert ask(team.cluster, "DELETE", f"{path(team, 'ReplicaSet')}/first").ok

    def another() -> bool:
        end_surplus(team.cluster, team.namespace, 1)
        names = [pod["metadata"]["name"] for pod in team.pods()]
        return len(names) == 1 and names[0].startswith("web-")

    eventually(another, "one of the others has its pod")
    assert metric(team.cluster, WOKEN) - before <= 2
    assert set(woken(team)) <= {"web-0", "web-1"}
