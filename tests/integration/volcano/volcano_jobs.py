"""Jobs of Volcano, as people write them."""

from collections import Counter
from typing import Any

from integration.asking import ApiReply, Object, ask
from integration.team import Team

_JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces"
_COMMANDS = "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands"


def volcano_job(team: Team, name: str, pods: int, card: str, *, runs: int = 3_600) -> Object:
    """One task, all of whose pods start together, with a card each. `runs`: seconds of each pod."""
    notes = {"volcano.sh/card.name": card, "cardquota.dev/run-seconds": str(runs)}
    resources = {"limits": {"nvidia.com/gpu": "1"}}
    container = {"name": "main", "image": "trainer", "resources": resources}
    spec = {"restartPolicy": "Never", "containers": [container]}
    task = {
        "name": "worker",
        "replicas": pods,
        "template": {"metadata": {"annotations": notes}, "spec": spec},
    }
    body: dict[str, Any] = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "schedulerName": "volcano",
            "queue": team.queue_name(),
            "minAvailable": pods,
            "tasks": [task],
        },
    }
    return body


def submit(team: Team, job: Object) -> ApiReply:
    return ask(team.cluster, "POST", f"{_JOBS}/{team.namespace}/jobs", job)


def phase(team: Team, name: str) -> str:
    found = ask(team.cluster, "GET", f"{_JOBS}/{team.namespace}/jobs/{name}").body
    return str(found.get("status", {}).get("state", {}).get("phase", ""))


def running(team: Team, name: str) -> int:
    """How many of its pods are bound, and have not finished."""
    return running_by_job(team)[name]


def running_by_job(team: Team) -> Counter[str]:
    """The same of each job, at one moment: counts of several moments must not be added up, since a
    job may end, and the next one start, between them.
    """
    return Counter(
        pod["metadata"]["labels"].get("volcano.sh/job-name")
        for pod in team.pods()
        if pod["spec"].get("nodeName") and pod["status"].get("phase") != "Succeeded"
    )


def command(team: Team, action: str) -> ApiReply:
    """What `vcctl queue operate` writes, about the team's queue."""
    meta = team.queue()["metadata"]
    target = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "name": meta["name"],
        "uid": meta["uid"],
    }
    body = {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": {"generateName": f"{meta['name']}-", "namespace": "default"},
        "target": target,
        "action": action,
    }
    return ask(team.cluster, "POST", _COMMANDS, body)


def pod_of(team: Team, name: str) -> str:
    """The name of one of its pods; empty while there is none."""
    own = (pod["metadata"] for pod in team.pods() if "labels" in pod["metadata"])
    return next(
        (str(one["name"]) for one in own if one["labels"].get("volcano.sh/job-name") == name), ""
    )
