"""Workloads that are scaled: as the watch has shown them, and as the API server asks about it."""

import json
from typing import Any

from msgspec import Raw

from builders.pod import PodBody
from cardquota.cluster.watch import watched_kinds
from cardquota.settings import Scaling

from .endpoint import Endpoint, ReviewAnswer
from .workload_review import pod

HPA = Scaling().autoscalers[0]
KIND = {"deployments": "Deployment", "statefulsets": "StatefulSet", "replicasets": "ReplicaSet"}


class Watches:
    """The watches of workloads of an endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        kinds = watched_kinds(endpoint.ledger, endpoint.notifier)
        self._deliveries = {kind.kind: kind.delivery() for kind in kinds}
        self._revision = 0

    def show(
        self,
        resource: str = "deployments",
        template: PodBody | None = None,
        *,
        replicas: int | None = 1,
        name: str = "web",
        owner: tuple[str, str, str] | None = None,
        namespace: str = "team",
        **status: Any,
    ) -> None:
        """`owner`: kind, name and uid of its controller."""
        self._revision += 1
        made = (template or pod()).body
        meta: dict[str, Any] = {
            "name": name,
            "namespace": namespace,
            "uid": uid_of(name),
            "resourceVersion": str(self._revision),
            "creationTimestamp": f"2026-01-01T00:00:{self._revision % 60:02}Z",
        }
        if owner is not None:
            kind, owner_name, uid = owner
            one = {"kind": kind, "name": owner_name, "uid": uid, "controller": True}
            meta["ownerReferences"] = [one]
        notes = {"annotations": made["metadata"].get("annotations")}
        spec = {"replicas": replicas, "template": {"metadata": notes, "spec": made.get("spec", {})}}
        body = {"metadata": meta, "spec": spec, "status": status}
        self._deliveries[resource].changed(Raw(json.dumps(body).encode()))

    def gone(self, resource: str = "deployments", name: str = "web") -> None:
        self._revision += 1
        meta = {"name": name, "namespace": "team", "uid": uid_of(name)}
        body = {"metadata": {**meta, "resourceVersion": str(self._revision)}}
        self._deliveries[resource].deleted(Raw(json.dumps(body).encode()))


def uid_of(name: str) -> str:
    return f"uid-{name}"


def scale(replicas: object, name: str, status: dict[str, Any]) -> dict[str, Any]:
    """A Scale."""
    meta = {"name": name, "namespace": "team", "uid": uid_of(name)}
    about = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": meta}
    return {**about, "spec": {"replicas": replicas}, "status": status}


def scaling(
    before: object,
    after: object,
    resource: str = "deployments",
    *,
    name: str = "web",
    by: str = "alice",
    group: str = "apps",
    **more: Any,
) -> dict[str, Any]:
    """The question that the API server asks. `more`: fields of the request, and `status`."""
    status = more.pop("status", {"replicas": before, "selector": "app=web"})
    return {
        "uid": "u",
        "resource": {"group": group, "version": "v1", "resource": resource},
        "subResource": "scale",
        "operation": "UPDATE",
        "name": name,
        "namespace": "team",
        "userInfo": {"username": by},
        "object": scale(after, name, status),
        "oldObject": scale(before, name, status),
        **more,
    }


async def by_people(
    endpoint: Endpoint, before: object, after: object, resource: str = "deployments", **more: Any
) -> ReviewAnswer:
    return await endpoint.review("/validate", scaling(before, after, resource, **more))


async def by_autoscaler(
    endpoint: Endpoint, before: object, after: object, resource: str = "deployments", **more: Any
) -> ReviewAnswer:
    return await endpoint.review("/mutate", scaling(before, after, resource, by=HPA, **more))


def granted(answer: ReviewAnswer) -> int | None:
    """To how many replicas the number was lowered; None if it was left as it is."""
    assert answer.allowed
    if not answer.patch:
        return None
    (step,) = answer.patch
    assert (step["op"], step["path"]) == ("replace", "/spec/replicas")
    return int(step["value"])
