"""Workloads: a word at the Deployment, the answer at each pod."""

from typing import Any

import pytest

from builders import H200
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from integration.asking import MERGE, Object, Reply, ask
from integration.roomy_nodes import T1000
from integration.team import Team, gates, let_through, notes


def workload(team: Team, kind: str, pod: PodBody, **spec: Any) -> Object:
    wire = team.wire(pod)
    labels = {"app": pod.name}
    template = {
        "metadata": {"annotations": wire["metadata"]["annotations"], "labels": labels},
        "spec": wire["spec"],
    }
    body = {"template": template, **spec}
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
        return {
            "apiVersion": "batch/v1",
            "kind": kind,
            "metadata": {"name": pod.name},
            "spec": body,
        }
    body["selector"] = {"matchLabels": labels}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": pod.name}, "spec": body}


def path(team: Team, kind: str) -> str:
    group = "batch" if kind == "Job" else "apps"
    return f"/apis/{group}/v1/namespaces/{team.namespace}/{kind.lower()}s"


def create(team: Team, kind: str, pod: PodBody, **spec: Any) -> Reply:
    return ask(team.cluster, "POST", path(team, kind), workload(team, kind, pod, **spec))


def scale(team: Team, name: str, replicas: int) -> Reply:
    change = {"spec": {"replicas": replicas}}
    target = f"{path(team, 'Deployment')}/{name}"
    return ask(team.cluster, "PATCH", target, change, content_type=MERGE)


def refusals(team: Team) -> list[str]:
    """What the controller was told, by its own event."""
    events = ask(team.cluster, "GET", f"/api/v1/namespaces/{team.namespace}/events").body["items"]
    return [event["message"] for event in events if event["reason"] == "FailedCreate"]


@pytest.mark.slow
def test_from_two_replicas_to_four_of_a_quota_of_three(team: Team) -> None:
    """The third runs, the fourth is refused, and both the person and the controller are told."""
    queue = team.has_queue({T1000: 3})
    sentence = (
        f"Queue <{queue}> has insufficient <{T1000}> quota: "
        "requested <1>, total would be <4>, but capability is <3>"
    )
    assert create(team, "Deployment", team.a_pod("web", 1, T1000), replicas=2).warnings == ()
    team.until_row(T1000, allocated=2)

    reply = scale(team, "web", 4)

    assert reply.ok
    assert reply.warnings == (
        "web: 3 of 4 pods fit the quota now, the rest is refused until there is room",
        sentence,
    )
    team.until_row(T1000, allocated=3, requested=3, inqueue=0)
    told = team.until(lambda: refusals(team), "FailedCreate")
    assert sentence in told[0]
    assert len(team.pods()) == 3


def test_a_deployment_none_of_whose_pods_can_ever_fit(team: Team) -> None:
    """E5: a word at once, at the place where people look."""
    team.has_queue({H200: 3})
    reply = create(team, "Deployment", team.a_pod("web", 5, H200), replicas=1)
    assert reply.ok
    assert len(reply.warnings) == 1
    assert "requested <5>, total would be <5>, but capability is <3>" in reply.warnings[0]


@pytest.mark.slow
def test_the_pods_of_a_job_wait_at_the_gate(team: Team) -> None:
    """Section 2: training waits."""
    team.has_queue({T1000: 2})
    pod = team.a_pod("train", 1, T1000).annotated("cardquota.dev/run-seconds", "60")
    reply = create(team, "Job", pod, parallelism=4, completions=4)
    assert reply.warnings[0] == "train: 2 of 4 pods fit the quota now, the rest waits at the gate"
    team.until_row(T1000, allocated=2, requested=4)
    pods = team.pods()
    assert sorted(let_through(pod) for pod in pods) == [False, False, True, True]
    waiting = [pod for pod in pods if not let_through(pod)]
    for pod in waiting:
        assert gates(pod) == [v.GATE]
        assert v.ALLOCATED not in notes(pod)
        told = team.until_told(pod["metadata"]["name"], v.Reason.INSUFFICIENT_CARD)
        assert "requested <1>, total would be <3>, but capability is <2>" in told["message"]
    assert refusals(team) == []
