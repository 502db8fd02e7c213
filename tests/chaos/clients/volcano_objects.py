"""What is there beside Volcano: its Jobs, the queues that they are in, and what is told to it."""

import json

from . import objects
from .objects import NAMESPACE, A, B, Object, QueueTerms

JOBS = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{NAMESPACE}/jobs"
COMMANDS = f"/apis/bus.volcano.sh/v1alpha1/namespaces/{NAMESPACE}/commands"
SCHEDULER_NAMESPACE = "volcano-system"
"""Where Volcano's accounts are, and its configuration: as by its own manifests."""

MIXED, SINGLE = "jobs", "single"
JOB_QUEUES: dict[str, QueueTerms] = {
    MIXED: ("Deny", {A: 5, B: 4}),
    SINGLE: ("Deny", {A: 4}),
}
"""Nobody lowers these quotas, so that no Job's pod is refused for being too large (E5). The policy
says nothing to Jobs. What Jobs of the second one ask for is known without their word: it has one
card (V3).
"""

_BATCH = "batch.volcano.sh/v1alpha1"
_TASK = "worker"


def volcano_job(
    name: str,
    owner: str,
    queue_name: str,
    cards: str,
    pods: int,
    minimum: int,
    *,
    seconds: int,
    says: bool,
    priority: str = "",
) -> Object:
    """One task, of whose pods so many start together, with a card each. They run for `seconds`.

    `says`: whether it says what it will ask for (`card.request`).
    """
    notes = {"volcano.sh/card.name": cards, "cardquota.dev/run-seconds": str(seconds)}
    spec: Object = {
        "restartPolicy": "Never",
        "containers": [objects.container(1)],
        "terminationGracePeriodSeconds": 1,
    }
    task = {
        "name": _TASK,
        "replicas": pods,
        "minAvailable": minimum,
        "template": {
            "metadata": {"labels": {"client": owner}, "annotations": notes},
            "spec": spec,
        },
    }
    metadata: Object = {"name": name, "labels": {"client": owner}}
    if says:
        request = json.dumps({cards: minimum})
        metadata["annotations"] = {"volcano.sh/card.request": request}
    job_spec: Object = {
        "schedulerName": "volcano",
        "queue": queue_name,
        "minAvailable": minimum,
        "tasks": [task],
    }
    if priority:
        job_spec["priorityClassName"] = priority
    return {"apiVersion": _BATCH, "kind": "Job", "metadata": metadata, "spec": job_spec}


def pod_names(job: str, pods: int) -> list[str]:
    """The names that Volcano gives the pods of a Job."""
    return [f"{job}-{_TASK}-{number}" for number in range(pods)]


def command(job: Object, action: str) -> Object:
    """What `vcctl job suspend` and `resume` write."""
    meta = job["metadata"]
    target = {"apiVersion": _BATCH, "kind": "Job", "name": meta["name"], "uid": meta["uid"]}
    return {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": {"generateName": f"{meta['name']}-"},
        "target": target,
        "action": action,
    }
