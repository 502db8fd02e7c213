"""The kind that somebody names, as kubectl takes it."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_VOLCANO: Final = "batch.volcano.sh/v1alpha1"
_KUBERNETES: Final = "batch/v1"


class NamedKind(NamedTuple):
    """A kind, and its API version where the kind alone does not tell it."""

    kind: str
    api_version: str = ""


_KNOWN: Final[Mapping[str, NamedKind]] = {
    name: kind
    for kind, names in {
        NamedKind("Pod"): ("pod", "pods", "po"),
        NamedKind("PodGroup"): ("podgroup", "podgroups", "pg"),
        NamedKind("Deployment"): ("deployment", "deployments", "deploy", "deployments.apps"),
        NamedKind("StatefulSet"): ("statefulset", "statefulsets", "sts", "statefulsets.apps"),
        NamedKind("DaemonSet"): ("daemonset", "daemonsets", "ds", "daemonsets.apps"),
        NamedKind("ReplicaSet"): ("replicaset", "replicasets", "rs", "replicasets.apps"),
        NamedKind("Job"): ("job", "jobs"),
        NamedKind("Job", _KUBERNETES): ("job.batch", "jobs.batch"),
        NamedKind("Job", _VOLCANO): (
            "vcjob",
            "vj",
            "job.batch.volcano.sh",
            "jobs.batch.volcano.sh",
        ),
    }.items()
    for name in names
}
KNOWN: Final = (
    "pod, deployment (deploy), statefulset (sts), daemonset (ds), replicaset (rs), job, "
    "podgroup (pg), vcjob"
)
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,62}", re.ASCII)


def named_kind(text: str) -> NamedKind | None:
    """None: no kind has this name. One that begins with a capital is taken as it is: any kind may
    be the controller of pods.
    """
    known = _KNOWN.get(text.lower())
    if known is not None:
        return known
    return NamedKind(text) if _KIND.fullmatch(text) else None
