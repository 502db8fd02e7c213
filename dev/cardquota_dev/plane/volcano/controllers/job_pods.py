"""The pods and the pod group that a job should have. Pure."""

import copy
from typing import Any, Final

from ..api_objects import BATCH, GROUP_NAME, TASK_SPEC, Json, annotations, name, namespace, uid
from ..resource_amounts import Amounts, quota_usage, resource_list, total

JOB_NAME: Final = "volcano.sh/job-name"
QUEUE_NAME: Final = "volcano.sh/queue-name"
"""On pods of jobs. What a pod without a job says is `scheduling.volcano.sh/queue-name`."""


def group_name(job: Json) -> str:
    """The name of the job's pod group."""
    return f"{name(job)}-{uid(job)}"


def replicas(job: Json) -> int:
    """How many pods the job has in all."""
    return sum(_replicas(task) for task in job["spec"].get("tasks") or ())


def min_available(job: Json) -> int:
    """How many pods must start together. All of them if the job does not say."""
    stated = job["spec"].get("minAvailable")
    return replicas(job) if stated is None else int(stated)


def job_group(job: Json) -> Json:
    """The job's pod group as it is created: with the job's annotations of that moment, no phase.

    `minResources` is of the first pods up to the minimum, in the order of the tasks: priorities
    are not looked at.
    """
    spec: Json = {
        "minMember": min_available(job),
        "minTaskMember": {one["name"]: _task_minimum(one) for one in job["spec"]["tasks"]},
        "queue": _queue(job),
        "minResources": resource_list(_minimum(job)),
    }
    if job["spec"].get("priorityClassName"):
        spec["priorityClassName"] = job["spec"]["priorityClassName"]
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {
            "name": group_name(job),
            "namespace": namespace(job),
            "annotations": dict(annotations(job)),
            "labels": dict(job["metadata"].get("labels") or {}),
            "ownerReferences": [_owner(job)],
        },
        "spec": spec,
    }


def job_pods(job: Json) -> dict[str, Json]:
    """All pods of the job by name."""
    found = (
        _pod(job, task, index)
        for task in job["spec"].get("tasks") or ()
        for index in range(_replicas(task))
    )
    return {name(pod): pod for pod in found}


def _pod(job: Json, task: Json, index: int) -> Json:
    template = copy.deepcopy(task.get("template") or {})
    meta: dict[str, Any] = template.get("metadata") or {}
    marks = {JOB_NAME: name(job), QUEUE_NAME: _queue(job), TASK_SPEC: task["name"]}
    marks["volcano.sh/task-index"] = str(index)
    spec = {"schedulerName": job["spec"].get("schedulerName") or "volcano"}
    spec |= template.get("spec") or {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name(job)}-{task['name']}-{index}",
            "namespace": namespace(job),
            "annotations": {
                **(meta.get("annotations") or {}),
                **marks,
                GROUP_NAME: group_name(job),
                "volcano.sh/job-version": str((job.get("status") or {}).get("version", 0)),
                "volcano.sh/template-uid": f"{name(job)}-{task['name']}",
            },
            "labels": {
                **(meta.get("labels") or {}),
                **marks,
                "volcano.sh/job-namespace": namespace(job),
            },
            "ownerReferences": [_owner(job)],
        },
        "spec": spec,
    }


def _minimum(job: Json) -> Amounts:
    pods = [
        quota_usage((task.get("template") or {}).get("spec") or {})
        for task in job["spec"]["tasks"]
        for _ in range(_replicas(task))
    ]
    return total(pods[: min_available(job)])


def _owner(job: Json) -> Json:
    return {
        "apiVersion": BATCH,
        "kind": "Job",
        "name": name(job),
        "uid": uid(job),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _queue(job: Json) -> str:
    return str(job["spec"].get("queue") or "default")


def _replicas(task: Json) -> int:
    return int(task.get("replicas", 1))


def _task_minimum(task: Json) -> int:
    stated = task.get("minAvailable")
    return _replicas(task) if stated is None else int(stated)
