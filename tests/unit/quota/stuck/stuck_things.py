"""A time, pods that should be gone by then, and workloads that lack pods."""

from typing import Any

import msgspec

from builders import H200, a_pod
from builders.pod import PodBody
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.moments import seconds_of
from cardquota.quota.objects.workload import Workload
from cardquota.quota.workloads.workload_facts import workload_facts

NOON = seconds_of("2026-01-02T12:00:00Z") or 0
OURS = 'admission webhook "pods.cardquota.volcano.sh" denied the request: no'


def holding(name: str = "web", cards: int = 2, *, node: str = "h200-a") -> PodBody:
    """A bound pod that holds cards."""
    pod = a_pod(name).with_uid(name).in_queue("queue").naming(H200).asking_for(cards)
    return pod.stamped("queue", {H200: cards}).on_node(node)


def deleted(pod: PodBody, gone_by: str = "2026-01-02T11:50:00Z") -> PodBody:
    """Being deleted, and to be gone by a time."""
    return pod.put(gone_by, "metadata", "deletionTimestamp")


def waiting(
    name: str = "train", cards: int = 2, *, created: str = "2026-01-02T10:00:00Z"
) -> PodBody:
    """A pod of a Job at its gate."""
    pod = a_pod(name).with_uid(name).in_queue("queue").naming(H200).asking_for(cards).gated()
    return pod.owned_by("Job").put(created, "metadata", "creationTimestamp")


def lacking(
    ledger: Ledger,
    kind: str = "ReplicaSet",
    name: str = "chat-1",
    pod: PodBody | None = None,
    *,
    wants: int = 2,
    has: int = 1,
    said: str = OURS,
    since: str | None = "2026-01-02T11:00:00Z",
    namespace: str = "team",
    owner: str = "Deployment",
) -> None:
    """A workload that lacks pods; a ReplicaSet says why."""
    body = (pod or a_pod().in_queue("queue").naming(H200).asking_for(1)).body
    template = {"metadata": {"annotations": body["metadata"].get("annotations", {})}}
    template["spec"] = body["spec"]
    failure = {"type": "ReplicaFailure", "status": "True", "message": said}
    if since is not None:
        failure["lastTransitionTime"] = since
    status: dict[str, Any] = {"replicas": has, "active": has, "availableReplicas": has}
    status["desiredNumberScheduled"], status["currentNumberScheduled"] = wants, has
    if kind == "ReplicaSet":
        status["conditions"] = [failure]
    owners = [{"kind": owner, "name": "chat", "uid": "chat", "controller": True}] if owner else []
    meta = {"name": name, "namespace": namespace, "uid": name, "ownerReferences": owners}
    spec = {"replicas": wants, "parallelism": wants, "template": template}
    found = workload_facts(
        kind, msgspec.convert({"metadata": meta, "spec": spec, "status": status}, Workload)
    )
    assert found is not None
    ledger.workloads.see(found)
