"""A HorizontalPodAutoscaler of a team, and what pods use, as the plane's metrics have it."""

import json
from typing import Any

from builders.pod import PodBody
from integration.asking import Object, ask
from integration.team import Team
from integration.workload_bodies import path, workload

USAGE = "cardquota.dev/usage"
CPU: Object = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}


def deploy(team: Team, pod: PodBody, replicas: int = 1, *, stops_in: int = 0) -> None:
    """A Deployment of such pods that request a core, and are busy until somebody says otherwise.

    `stops_in`: seconds that each pod takes to end.
    """
    body = workload(team, "Deployment", pod.with_cpu("1"), replicas=replicas)
    template = body["spec"]["template"]
    if stops_in:
        template["metadata"]["annotations"]["cardquota.dev/stop-seconds"] = str(stops_in)
        template["spec"]["terminationGracePeriodSeconds"] = 30
    assert (reply := ask(team.cluster, "POST", path(team, "Deployment"), body)).ok, reply


def autoscale(team: Team, name: str, at_most: int, metric: Object = CPU, **spec: Any) -> None:
    """An autoscaler of the Deployment of that name, from one pod."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    spec = {"minReplicas": 1, "maxReplicas": at_most, "metrics": [metric], **spec}
    body = {"metadata": {"name": name}, "spec": {"scaleTargetRef": target, **spec}}
    assert (reply := ask(team.cluster, "POST", _autoscalers(team), body)).ok, reply


def use(team: Team, **usage: str) -> None:
    """What each pod of the team uses from now on."""
    team.mark(annotations={USAGE: json.dumps(usage)})


def failed_rescales(team: Team, name: str) -> list[str]:
    """What the autoscaler was told when it was refused."""
    events = ask(team.cluster, "GET", f"/api/v1/namespaces/{team.namespace}/events").body["items"]
    return [
        event["message"]
        for event in events
        if event["reason"] == "FailedRescale" and event["involvedObject"]["name"] == name
    ]


def replicas(team: Team, name: str, kind: str = "Deployment") -> int:
    """How many a workload wants."""
    found = ask(team.cluster, "GET", f"{path(team, kind)}/{name}").body
    return int(found["spec"]["replicas"])


def _autoscalers(team: Team) -> str:
    return f"/apis/autoscaling/v2/namespaces/{team.namespace}/horizontalpodautoscalers"
