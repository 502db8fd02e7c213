"""V5, beside Volcano, by a stand-in for it: pods with cards that name no queue.

Volcano makes a group for them after they are created, with the queue `default`.
"""

from typing import Any

import pytest

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import ask, metric
from integration.plugin import plugin
from integration.roomy_nodes import T1000
from integration.team import Team, notes
from integration.workload_bodies import create

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]
WARNED = "Volcano runs it in <default>"


def queueless(team: Team, name: str) -> PodBody:
    """It says itself which nodes it may go to: no gate leads it to its card."""
    pod = team.a_pod(name, 1, T1000).in_queue(None)
    return pod.with_spec(schedulerName="volcano", nodeSelector={"nvidia.com/gpu.product": T1000})


def bound(team: Team) -> int:
    return sum(bool(pod["spec"].get("nodeName")) for pod in team.pods())


def groups(team: Team) -> list[dict[str, Any]]:
    path = f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{team.namespace}/podgroups"
    return list(ask(team.cluster, "GET", path).body["items"])


def held(team: Team, queue: str) -> float:
    return metric(team.cluster, "cardquota_queue_card_allocated", queue=queue, card=T1000)


@pytest.mark.slow
def test_v5_they_run_and_are_counted_once_outside_every_queue(team: Team) -> None:
    before = held(team, "")
    reply = create(team, "Deployment", queueless(team, "web"), replicas=2)
    assert any(WARNED in warning for warning in reply.warnings), reply
    bare = queueless(team, "bare")
    reply = team.create(bare)
    assert [WARNED in warning for warning in reply.warnings] == [True]

    team.until(lambda: bound(team) == 3, "all are bound")
    names = {notes(pod)["scheduling.k8s.io/group-name"] for pod in team.pods()}
    assert {group["spec"]["queue"] for group in groups(team)} == {"default"}
    assert names == {group["metadata"]["name"] for group in groups(team)}
    team.until(lambda: held(team, "") == before + 3, "counted outside")
    assert held(team, "default") == 0
    # Nobody is said to have got past admission.
    assert metric(team.cluster, "cardquota_unadmitted_pods", queue="default") == 0

    used = f"used outside every queue: {T1000} 3, by 3 pods ({team.namespace}/bare, "
    # It finds pods by their label, which the operator writes once it has seen them.
    team.until(
        lambda: used in plugin(team.cluster.kubeconfig, "check", "-n", team.namespace).stdout,
        "check shows it",
    )


@pytest.mark.slow
def test_v5_a_default_queue_holds_whatever_volcanos_group_says(team: Team) -> None:
    """None is stuck in `default`, which has no quota, and none is counted there as well."""
    team.has_queue({T1000: 3})
    queue = team.queue_name()
    team.mark(annotations={v.QUEUE_NAME: queue})
    bare = queueless(team, "bare")
    team.until(lambda: not team.create(bare, dry=True).warnings, "the namespace's queue is known")

    outside = held(team, "")
    reply = create(team, "Deployment", queueless(team, "web"), replicas=2)
    assert (reply.ok, reply.warnings) == (True, ())
    assert team.create(bare).ok
    team.until(lambda: bound(team) == 3, "all are bound")
    assert all(notes(pod)["volcano.sh/card.queue"] == queue for pod in team.pods())
    assert {group["spec"]["queue"] for group in groups(team)} == {"default"}
    team.until(lambda: held(team, queue) == 3, "counted in the namespace's queue")
    assert (held(team, "default"), held(team, "")) == (0, outside)
