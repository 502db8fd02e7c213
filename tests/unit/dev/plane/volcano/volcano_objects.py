"""Objects as the stand-in reads them."""

from typing import Any

from cardquota_dev.plane.volcano.api_objects import GROUP_NAME, TASK_SPEC

Json = dict[str, Any]


def a_pod(
    name: str,
    *,
    group: str = "g",
    phase: str = "Pending",
    node: str = "",
    gated: bool = False,
    task: str = "worker",
    cpu: str = "1",
    needs: dict[str, str] | None = None,
    deleted: bool = False,
) -> Json:
    spec: Json = {
        "schedulerName": "volcano",
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
    }
    if node:
        spec["nodeName"] = node
    if gated:
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    if needs:
        spec["nodeSelector"] = needs
    meta: Json = {"name": name, "namespace": "team", "uid": f"uid-{name}"}
    meta["annotations"] = {GROUP_NAME: group, TASK_SPEC: task}
    if deleted:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"metadata": meta, "spec": spec, "status": {"phase": phase}}


def a_node(name: str, *, cpu: str = "4", labels: dict[str, str] | None = None) -> Json:
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {},
        "status": {"allocatable": {"cpu": cpu, "pods": "100"}},
    }


def a_pod_group(
    name: str = "g",
    *,
    phase: str = "Inqueue",
    minimum: int = 2,
    queue: str = "default",
    resources: dict[str, str] | None = None,
) -> Json:
    return {
        "metadata": {"name": name, "namespace": "team", "uid": f"uid-{name}"},
        "spec": {"minMember": minimum, "queue": queue, "minResources": resources or {}},
        "status": {"phase": phase} if phase else {},
    }


def an_open_queue(name: str = "default", *, state: str = "Open", **capability: str) -> Json:
    return {
        "metadata": {"name": name},
        "spec": {"capability": capability},
        "status": {"state": state},
    }


def a_volcano_job(
    *tasks: Json, minimum: int | None = None, status: Json | None = None, **spec: Any
) -> Json:
    if minimum is not None:
        spec["minAvailable"] = minimum
    job: Json = {
        "metadata": {
            "name": "train",
            "namespace": "team",
            "uid": "u1",
            "annotations": {"volcano.sh/card.request": "x"},
        },
        "spec": {"tasks": list(tasks), **spec},
    }
    return {**job, "status": status} if status else job


def a_task(name: str = "worker", replicas: int = 2, cpu: str = "1") -> Json:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    template = {
        "metadata": {"annotations": {"volcano.sh/card.name": "NVIDIA-H200"}},
        "spec": {"containers": [container]},
    }
    return {"name": name, "replicas": replicas, "template": template}
