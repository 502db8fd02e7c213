"""Workloads as a watch shows them, of a chart of one container: some 4 KB of JSON each."""

import json
from typing import Any, Final

from msgspec import Raw

from builders.names import H200

_REFUSED: Final = 'admission webhook "pods.cardquota.volcano.sh" denied the request: no room'
_STEP: Final = 20_000
"""Revisions of an object are so far apart that no two objects have the same."""


def name_of(number: int) -> str:
    """Of the workload."""
    return f"w-{number}"


def uid_of(number: int) -> str:
    """Of the workload."""
    return f"{name_of(number)}-11e8-b7cc-42010a800002"


def workload(
    number: int,
    *,
    ours: bool = True,
    queue: str = "queue",
    card: str = H200,
    replicas: int = 1,
    revision: int = 1,
    refused: bool = False,
) -> Raw:
    """A Deployment or ReplicaSet of namespace `team`; `ours`: each of its pods asks for a card."""
    name = name_of(number)
    notes = {"volcano.sh/card.name": card, "scheduling.volcano.sh/queue-name": queue}
    limits = {"nvidia.com/gpu": "1"} if ours else {}
    environment = [{"name": f"VARIABLE_{n}", "value": "x" * 40} for n in range(20)]
    failed = {"type": "ReplicaFailure", "status": "True", "message": _REFUSED}
    body = {
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": uid_of(number),
            "resourceVersion": str(revision * _STEP + number),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": name},
            "managedFields": [{"manager": "x", "fieldsV1": {"f:spec": {"f:x": {}}}}] * 10,
        },
        "spec": {
            "replicas": replicas,
            "template": {
                "metadata": {
                    "labels": {"app": name, "pod-template-hash": str(number)},
                    "annotations": {"checksum/config": f"{number:064}", **(notes if ours else {})},
                },
                "spec": {
                    "containers": [
                        {
                            "name": "main",
                            "image": f"registry.example/{name}:1",
                            "command": ["serve", "--model", name],
                            "env": environment,
                            "resources": {
                                "requests": {"cpu": "4", "memory": f"{number % 64 + 1}Gi"},
                                "limits": {"memory": "64Gi", **limits},
                            },
                        }
                    ],
                    "nodeSelector": {"pool": f"p-{number % 10}"},
                },
            },
        },
        "status": {"replicas": 0, "conditions": [failed] if refused else []},
    }
    return Raw(json.dumps(body, separators=(",", ":")).encode())


def scale_review(number: int, replicas: int, *, now: int = 1, uid: str = "") -> bytes:
    """The review of a scale-up of that Deployment by a person, as the API server sends it."""

    def scale(wanted: int) -> dict[str, Any]:
        return {
            "metadata": {"name": name_of(number), "uid": uid_of(number)},
            "spec": {"replicas": wanted},
            "status": {"replicas": now, "selector": f"app={name_of(number)}"},
        }

    request = {
        "uid": uid or "705ab4f5-6393-11e8-b7cc-42010a800002",
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "subResource": "scale",
        "operation": "UPDATE",
        "name": name_of(number),
        "namespace": "team",
        "userInfo": {"username": "tenant"},
        "object": scale(replicas),
        "oldObject": scale(now),
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(review, separators=(",", ":")).encode()
