"""V5, beside Volcano, by a stand-in for it: pods with cards that name no queue.

Volcano makes a group for them after they are created, with the queue `default`.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from builders import a_node
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import ask, metric
from integration.own_node import a_node_of
from integration.plugin import plugin
from integration.team import Team, notes
from integration.workload_bodies import create

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]
WARNED = "Volcano runs it in <default>"


@pytest.fixture
def card(team: Team) -> Iterator[str]:
    """Of which nobody else has one: pods of a namespace that is deleted are there for a while."""
    name = f"{team.prefix}-card"
    with a_node_of(team, a_node(f"{team.prefix}-node").with_cards(name, "6")):
        counted = "cardquota_cluster_card_allocatable"
        team.until(lambda: metric(team.cluster, counted, card=name) == 6, "the node is seen")
        yield name


def queueless(team: Team, name: str, card: str) -> PodBody:
    """It says itself which nodes it may go to: no gate leads it to its card."""
    pod = team.a_pod(name, 1, card).in_queue(None)
    return pod.with_spec(schedulerName="volcano", nodeSelector={"nvidia.com/gpu.product": card})


def bound(team: Team) -> int:
    return sum(bool(pod["spec"].get("nodeName")) for pod in team.pods())


def groups(team: Team) -> list[dict[str, Any]]:
    path = f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{team.namespace}/podgroups"
    return list(ask(team.cluster, "GET", path).body["items"])


def held(team: Team, queue: str, card: str) -> float:
    return metric(team.cluster, "cardquota_queue_card_allocated", queue=queue, card=card)


@pytest.mark.slow
def test_v5_they_run_and_are_counted_once_outside_every_queue(team: Team, card: str) -> None:
    reply = create(team, "Deployment", queueless(team, "web", card), replicas=2)
    assert any(WARNED in warning for warning in reply.warnings), reply
    bare = queueless(team, "bare", card)
    reply = team.create(bare)
    assert [WARNED in warning for warning in reply.warnings] == [True]

    team.until(lambda: bound(team) == 3, "all are bound")
    names = {notes(pod)["scheduling.k8s.io/group-name"] for pod in team.pods()}
    assert {group["spec"]["queue"] for group in groups(team)} == {"default"}
    assert names == {group["metadata"]["name"] for group in groups(team)}
    team.until(lambda: held(team, "", card) == 3, "counted outside")
    assert held(team, "default", card) == 0
    # Nobody is said to have got past admission.
    assert metric(team.cluster, "cardquota_unadmitted_pods", queue="default") == 0

    used = f"used outside every queue: {card} 3, by 3 pods ({team.namespace}/bare, "
    # It finds pods by their label, which the operator writes once it has seen them.
    team.until(
        lambda: used in plugin(team.cluster.kubeconfig, "check", "-n", team.namespace).stdout,
        "check shows it",
    )


@pytest.mark.slow
def test_v5_a_default_queue_holds_whatever_volcanos_group_says(team: Team, card: str) -> None:
    """None is stuck in `default`, which has no quota, and none is counted there as well."""
    team.has_queue({card: 3})
    queue = team.queue_name()
    team.mark(annotations={v.QUEUE_NAME: queue})
    bare = queueless(team, "bare", card)
    team.until(lambda: not team.create(bare, dry=True).warnings, "the namespace's queue is known")

    reply = create(team, "Deployment", queueless(team, "web", card), replicas=2)
    assert (reply.ok, reply.warnings) == (True, ())
    assert team.create(bare).ok
    team.until(lambda: bound(team) == 3, "all are bound")
    assert all(notes(pod)["volcano.sh/card.queue"] == queue for pod in team.pods())
    assert {group["spec"]["queue"] for group in groups(team)} == {"default"}
    team.until(lambda: held(team, queue, card) == 3, "counted in the namespace's queue")
    assert (held(team, "default", card), held(team, "", card)) == (0, 0)
