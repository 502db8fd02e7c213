"""Pods that a burst leaves at the gate, where a later view refuses them.

A review counts nobody who was admitted a moment before (E2), and controllers create several pods
of a workload at once.
"""

from cardquota_dev.testing import Cluster

from .asking import Object, ask
from .team import released


def end_surplus(cluster: Cluster, namespace: str, room: int, workload: str = "") -> None:
    """Delete the waiting pods of a workload, or of all, while more exist than have room: its
    controller asks again for each.
    """
    path = f"/api/v1/namespaces/{namespace}/pods"
    pods = [pod for pod in ask(cluster, "GET", path).body["items"] if _of(pod, workload)]
    if len(pods) > room:
        for pod in pods:
            if not released(pod):
                ask(cluster, "DELETE", f"{path}/{pod['metadata']['name']}?gracePeriodSeconds=0")


def _of(pod: Object, workload: str) -> bool:
    owners = pod["metadata"].get("ownerReferences", ())
    return any(owner.get("controller") and owner["name"].startswith(workload) for owner in owners)
