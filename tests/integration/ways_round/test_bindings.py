"""`pods/binding` posted by hand: who may do that does the scheduler's work, and is counted."""

import json

from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import ApiReply, Object, ask
from integration.roomy_nodes import T1000, T2000
from integration.team import Team, notes

from .people import MIGHTY

T1000_NODE, T2000_NODE = "roomy-0", "roomy-1"


def bind(team: Team, pod: PodBody, node: str, annotations: Object | None = None) -> ApiReply:
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name, "annotations": annotations or {}},
        "target": {"kind": "Node", "name": node},
    }
    path = f"{team.path(pod)}/{pod.name}/binding"
    return ask(team.cluster, "POST", path, body, as_user=MIGHTY)


def unscheduled(team: Team, name: str) -> PodBody:
    """Past its gate, and no scheduler looks after it."""
    pod = team.a_pod(name, 1, T1000).with_spec(schedulerName="nobody")
    assert team.create(pod).ok
    team.until_open(name)
    return pod


def test_a_pod_at_the_gate_is_not_bound(people: Team) -> None:
    """By the API server itself."""
    people.has_queue(people.a_queue({T1000: 1}).with_policy("Gate"))
    assert people.create(people.a_pod("a", 1, T1000)).ok
    people.until_open("a")
    waits = people.a_pod("b", 1, T1000)
    assert people.create(waits).ok
    reply = bind(people, waits, T1000_NODE)
    assert reply.code == 409
    assert "scheduling" in reply.message
    assert people.pod("b")["spec"].get("nodeName") is None


def test_a_pod_bound_to_a_node_of_another_card_is_charged_for_that(people: Team) -> None:
    """E3, I1: it holds a card without quota, and the queue says so; its own card is free again.
    It says so itself, too: an operator that starts later sees a pod that may run by then (D8).

    A kubelet would not run it: the affinity that was written when the gate opened excludes it.
    """
    people.has_queue({T1000: 1})
    pod = unscheduled(people, "a")
    people.until_row(T1000, inqueue=1)
    assert bind(people, pod, T2000_NODE).ok
    people.until_row(T2000, allocated=1, quota=0)
    people.until_row(T1000, allocated=0, inqueue=0)
    holds = {T2000: 1}
    people.until(
        lambda: json.loads(notes(people.pod("a"))[v.ALLOCATED]) == holds, "the cards it holds"
    )
    people.until_row(T2000, allocated=1, quota=0)
    people.until(lambda: people.condition("OverQuota")["status"] == "True", "OverQuota")
    assert f"holds 1 of <{T2000}>, its quota is 0" in people.condition("OverQuota")["message"]
    assert people.create(people.a_pod("b", 1, T1000)).ok
    people.until_bound("b")
    refused = people.create(people.a_pod("c", 1, T2000))
    assert refused.reason == v.Reason.CARD_NOT_IN_QUOTA
