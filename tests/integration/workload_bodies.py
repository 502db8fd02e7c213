"""Workloads of Kubernetes' own controllers, made of a pod: as people write them."""

from typing import Any

from builders.pod import PodBody

from .asking import MERGE, ApiReply, Object, ask
from .team import Team

_BATCH = ("Job", "CronJob")


def workload(team: Team, kind: str, pod: PodBody, **spec: Any) -> Object:
    """A workload of the pod's name; `spec` is what it says beside the template.

    Of a CronJob that is the specification of its Jobs, and one is due every minute, unless there is
    one already.
    """
    wire = team.wire(pod)
    labels = {"app": pod.name}
    template = {
        "metadata": {"annotations": wire["metadata"]["annotations"], "labels": labels},
        "spec": wire["spec"],
    }
    body: Object = {"template": template, **spec}
    if kind in _BATCH:
        template["spec"]["restartPolicy"] = "Never"
    else:
        body["selector"] = {"matchLabels": labels}
    if kind == "CronJob":
        body = {"schedule": "* * * * *", "jobTemplate": {"spec": body}}
        body["concurrencyPolicy"] = "Forbid"
    version = "batch/v1" if kind in _BATCH else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": pod.name}, "spec": body}


def path(team: Team, kind: str) -> str:
    group = "batch" if kind in _BATCH else "apps"
    return f"/apis/{group}/v1/namespaces/{team.namespace}/{kind.lower()}s"


def create(team: Team, kind: str, pod: PodBody, **spec: Any) -> ApiReply:
    return ask(team.cluster, "POST", path(team, kind), workload(team, kind, pod, **spec))


def change(team: Team, kind: str, name: str, spec: Object) -> ApiReply:
    """A merge patch of its specification."""
    target = f"{path(team, kind)}/{name}"
    return ask(team.cluster, "PATCH", target, {"spec": spec}, content_type=MERGE)


def refusals(team: Team) -> list[str]:
    """What controllers were told when a pod was refused, by their own events."""
    events = ask(team.cluster, "GET", f"/api/v1/namespaces/{team.namespace}/events").body["items"]
    return [event["message"] for event in events if event["reason"] == "FailedCreate"]
