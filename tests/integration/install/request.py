"""The requests of which the tests here make many, without a process of kubectl for each.

They say who asks by kubectl's flags, and are checked as strictly as kubectl has them checked.
"""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from cardquota_dev.testing import Cluster
from integration.asking import MERGE, ApiReply, ask

from .answer import WriteResponse, from_reply

APPLY = "application/apply-patch+yaml"
_OURS = "/apis/scheduling.volcano.sh/v1beta1"
_PLACES = {
    "Pod": ("/api/v1", "pods"),
    "Queue": (_OURS, "queues"),
    "PodGroup": (_OURS, "podgroups"),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases"),
    "Term": ("/apis/cardquota.volcano.sh/v1alpha1", "terms"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
    "DaemonSet": ("/apis/apps/v1", "daemonsets"),
    "ReplicaSet": ("/apis/apps/v1", "replicasets"),
    "Job": ("/apis/batch/v1", "jobs"),
    "CronJob": ("/apis/batch/v1", "cronjobs"),
}
_OF_THE_CLUSTER = {"Queue"}


def create(
    plane: Cluster, document: dict[str, Any], who: Iterable[str], namespace: str, *, dry: bool
) -> WriteResponse:
    """Create an object."""
    path = _path(document["kind"], namespace)
    options = {"fieldValidation": "Strict", **_dry(dry)}
    return from_reply(_as(plane, "POST", path, options, document, who))


def patch(
    plane: Cluster,
    kind: str,
    name: str,
    change: dict[str, Any],
    who: Iterable[str],
    namespace: str,
    *,
    dry: bool = False,
) -> WriteResponse:
    """Merge-patch an object."""
    path = f"{_path(kind, namespace)}/{name}"
    return from_reply(_as(plane, "PATCH", path, _dry(dry), change, who, MERGE))


def bind(
    plane: Cluster,
    name: str,
    node: str,
    annotations: dict[str, str],
    who: Iterable[str],
    namespace: str,
) -> WriteResponse:
    """Bind a pod to a node, as schedulers do."""
    document = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, "annotations": annotations},
        "target": {"kind": "Node", "name": node},
    }
    path = f"{_path('Pod', namespace)}/{name}/binding"
    return from_reply(_as(plane, "POST", path, {}, document, who))


def apply(plane: Cluster, document: dict[str, Any], who: Iterable[str]) -> WriteResponse:
    """Create an object or make it be so, whoever wrote it before."""
    meta = document["metadata"]
    path = f"{_path(document['kind'], meta['namespace'])}/{meta['name']}"
    options = {"fieldManager": "tests", "force": "true", "fieldValidation": "Strict"}
    return from_reply(_as(plane, "PATCH", path, options, document, who, APPLY))


def _as(
    plane: Cluster,
    method: str,
    path: str,
    options: dict[str, str],
    body: object,
    who: Iterable[str],
    content_type: str = "application/json",
) -> ApiReply:
    user, groups = "", []
    for flag in who:
        name, _, value = flag.partition("=")
        match name:
            case "--as":
                user = value
            case "--as-group":
                groups.append(value)
            case _:
                raise ValueError(f"{flag} does not say who asks")
    return ask(
        plane,
        method,
        f"{path}?{urlencode(options)}",
        body,
        content_type=content_type,
        as_user=user,
        as_groups=groups,
    )


def _path(kind: str, namespace: str) -> str:
    group, plural = _PLACES[kind]
    place = "" if kind in _OF_THE_CLUSTER else f"/namespaces/{namespace}"
    return f"{group}{place}/{plural}"


def _dry(dry: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry else {}
