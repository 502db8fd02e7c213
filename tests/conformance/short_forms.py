"""The short forms of the table, turned into Kubernetes objects.

The first key of a row is its kind, and the object's name the value; further keys are those of
`KEYS`. Amounts of `asks` and `offers` are by resource name; one without a domain is NVIDIA's:
`gpu`, `mig-1g.18gb`, `gpu.shared`. `asks: 2` is `asks: {gpu: 2}`. A pod is in the namespace `lab`.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from cardquota.quota import vocabulary as v

Row = Mapping[str, Any]
Object = dict[str, Any]

USUAL_NAMESPACE = "lab"
SHARED_NAMESPACE = "conformance-lab"
"""What it is called on a cluster, unless the case says more of it."""
CASE_LABEL = "conformance"
"""On what a case creates in a namespace: whose it is."""
_VOLCANO = f"{v.API_GROUP}/{v.VERSION}"
_RUN_SECONDS = {"cardquota.dev/run-seconds": "3600"}
"""Pods of Jobs do not end while the test looks at them."""

_OF_PODS = frozenset(
    {"namespace", "queue", "group", "card", "asks", "cpu", "memory", "owner", "selects", "requires"}
    | {"notes", "spec"}
)
KEYS = {
    "node": frozenset({"maker", "product", "mib", "replicas", "sharing", "labels", "offers"}),
    "queue": frozenset({"quota", "cpu", "memory", "policy", "namespaces", "notes", "spec"}),
    "namespace": frozenset({"mode", "queue"}),
    "group": frozenset({"namespace", "queue", "members", "tasks", "request", "resources", "class"}),
    "pod": _OF_PODS,
    **dict.fromkeys(("deployment", "statefulset", "daemonset", "job"), _OF_PODS | {"replicas"}),
    "object": frozenset[str](),
}
"""By kind. `object` stands for itself: its value is the whole Kubernetes object."""
IN_NAMESPACE = ("pod", "group", "deployment", "statefulset", "daemonset", "job")
"""Kinds whose objects stand in a namespace."""

_API = {
    "deployment": ("apps/v1", "Deployment"),
    "statefulset": ("apps/v1", "StatefulSet"),
    "daemonset": ("apps/v1", "DaemonSet"),
    "job": ("batch/v1", "Job"),
}


def kind_of(row: Row) -> str:
    """The kind of a row, its first key. Raises ValueError if there is none, or keys of another."""
    kind = next(iter(row), "")
    if kind not in KEYS or set(row) - KEYS[kind] - {kind}:
        raise ValueError(f"not a row of the table: {dict(row)}")
    return kind


def body(row: Row) -> Object:
    """The object of a row."""
    kind = kind_of(row)
    return _BODIES.get(kind, _workload)(row)


def _node(row: Row) -> Object:
    maker = str(row.get("maker", "nvidia.com/gpu"))
    labels = {"kubernetes.io/hostname": row["node"], **row.get("labels", {})}
    if "product" in row:
        labels[f"{maker}.product"] = row["product"]
        labels[f"{maker}.memory"] = row.get("mib", 143771)
    for key, label in (("replicas", "replicas"), ("sharing", "sharing-strategy")):
        if key in row:
            labels[f"{maker}.{label}"] = row[key]
    amounts = {"cpu": "96", "memory": "1Ti", "pods": "110", **_amounts(row.get("offers", {}))}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": row["node"], "labels": {k: str(t) for k, t in labels.items()}},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def _queue(row: Row) -> Object:
    notes = dict(row.get("notes", {}))
    if "quota" in row:
        quota = row["quota"]
        notes[v.QUOTA] = quota if isinstance(quota, str) else json.dumps(quota)
    for key, note in (("policy", v.POLICY), ("namespaces", v.NAMESPACES)):
        if key in row:
            text = row[key]
            notes[note] = text if isinstance(text, str) else json.dumps(text)
    spec = dict(row.get("spec", {}))
    limits = {key: str(row[key]) for key in ("cpu", "memory") if key in row}
    if limits:
        spec["capability"] = {**limits, **spec.get("capability", {})}
    meta = {"name": row["queue"], "annotations": notes}
    return {"apiVersion": _VOLCANO, "kind": "Queue", "metadata": meta, "spec": spec}


def _namespace(row: Row) -> Object:
    meta: Object = {"name": row["namespace"]}
    if "mode" in row:
        meta["labels"] = {v.NAMESPACE_MODE: row["mode"]}
    if "queue" in row:
        meta["annotations"] = {v.QUEUE_NAME: row["queue"]}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def _group(row: Row) -> Object:
    meta = {"name": row["group"], "namespace": row["namespace"]}
    if "request" in row:
        request = row["request"]
        text = request if isinstance(request, str) else json.dumps(request)
        meta["annotations"] = {v.REQUEST: text}
    said = {
        "queue": row.get("queue"),
        "minMember": row.get("members"),
        "minTaskMember": row.get("tasks"),
        "minResources": row.get("resources"),
        "priorityClassName": row.get("class"),
    }
    spec = {key: value for key, value in said.items() if value is not None}
    return {"apiVersion": _VOLCANO, "kind": "PodGroup", "metadata": meta, "spec": spec}


def _pod(row: Row) -> Object:
    template = _template(row)
    meta = {"name": row["pod"], "namespace": row["namespace"], **template["metadata"]}
    if "owner" in row:
        # Of a group that no API server has: nobody looks for the owner to end its pods.
        owner = {"apiVersion": "example.com/v1", "name": "owner", "uid": "owner"}
        meta["ownerReferences"] = [{**owner, "kind": row["owner"], "controller": True}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}


def _template(row: Row) -> Object:
    notes = dict(_RUN_SECONDS)
    for key, note in (("queue", v.QUEUE_NAME), ("group", v.GROUP_NAME), ("card", v.CARD_NAME)):
        if key in row:
            notes[note] = str(row[key])
    asks = row.get("asks", {})
    limits = _amounts(asks if isinstance(asks, Mapping) else {"gpu": asks})
    requests = {key: str(row[key]) for key in ("cpu", "memory") if key in row}
    main = {"name": "main", "image": "i", "resources": {"limits": limits, "requests": requests}}
    spec: Object = {"containers": [main], "terminationGracePeriodSeconds": 0}
    if "selects" in row:
        spec["nodeSelector"] = row["selects"]
    if "requires" in row:
        terms = [
            {"matchExpressions": [dict(zip(("key", "operator", "values"), one, strict=False))]}
            for one in row["requires"]
        ]
        required = {"nodeSelectorTerms": terms}
        affinity = {"requiredDuringSchedulingIgnoredDuringExecution": required}
        spec["affinity"] = {"nodeAffinity": affinity}
    spec.update(row.get("spec", {}))
    spec["containers"] = [{"image": "i", **one} for one in spec["containers"]]
    return {"metadata": {"annotations": {**notes, **row.get("notes", {})}}, "spec": spec}


def _workload(row: Row) -> Object:
    kind = kind_of(row)
    version, name = _API[kind]
    template = _template(row)
    spec: Object = {"template": template}
    if kind == "job":
        count = row.get("replicas", 1)
        spec |= {"parallelism": count, "completions": count}
        template["spec"]["restartPolicy"] = "Never"
    else:
        template["metadata"]["labels"] = {"app": row[kind]}
        spec["selector"] = {"matchLabels": {"app": row[kind]}}
    if kind in ("deployment", "statefulset"):
        spec["replicas"] = row.get("replicas", 1)
    if kind == "statefulset":
        spec |= {"serviceName": row[kind], "podManagementPolicy": "Parallel"}
    meta = {"name": row[kind], "namespace": row["namespace"]}
    return {"apiVersion": version, "kind": name, "metadata": meta, "spec": spec}


def _amounts(row: Row) -> dict[str, str]:
    return {
        key if "/" in key or key in ("cpu", "memory") else f"nvidia.com/{key}": str(amount)
        for key, amount in row.items()
    }


_BODIES: Mapping[str, Callable[[Row], Object]] = {
    "node": _node,
    "queue": _queue,
    "namespace": _namespace,
    "group": _group,
    "pod": _pod,
    "object": lambda row: dict(row["object"]),
}


def labelled(thing: Object, case: str) -> Object:
    """The object, and the pods it makes, with the label of their case."""
    template = thing.get("spec", {}).get("template")
    for one in (thing, template) if template else (thing,):
        one["metadata"]["labels"] = {**one["metadata"].get("labels", {}), CASE_LABEL: case}
    return thing
