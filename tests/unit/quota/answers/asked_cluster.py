"""A queue in use, and what is answered about it."""

from dataclasses import replace
from typing import Any

import msgspec

from builders import CARDS, H200, Body, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota.answers import QueueAnswer, queue_answer
from cardquota.quota.ledger import Ledger
from cardquota.quota.objects import Workload
from cardquota.quota.pods.workload_facts import workload_facts

NOON = "2026-01-02T12:00:00Z"


def a_cluster(*things: Body, quota: int = 4, **settings: Any) -> Ledger:
    return a_ledger(*CARDS, a_queue().with_quota({H200: quota}), *things, **settings)


def holding(name: str, cards: int = 1, *, since: str = "2026-01-01T01:00:00Z") -> PodBody:
    """A bound pod that nothing has made."""
    pod = a_pod(name).with_uid(name).in_queue("queue").naming(H200).asking_for(cards)
    return pod.stamped("queue", {H200: cards}).on_node("h200-a", since)


def waiting(name: str, cards: int = 1, *, created: str = "2026-01-02T10:00:00Z") -> PodBody:
    """A pod at its gate, which waits whatever it was made by."""
    pod = a_pod(name).with_uid(name).in_queue("queue").naming(H200).asking_for(cards).gated()
    return pod.owned_by("Job", name="train").put(created, "metadata", "creationTimestamp")


def of_deployment(name: str, template_hash: str, pod: PodBody) -> PodBody:
    """A pod that one of its ReplicaSets has made."""
    pod = pod.owned_by("ReplicaSet", name=f"{name}-{template_hash}")
    return pod.labelled("pod-template-hash", template_hash)


def asked(ledger: Ledger, queue: str = "queue", *, limit: int = 20) -> QueueAnswer:
    found = to_its_end(queue_answer(ledger, queue, limit=limit, time=NOON))
    assert found is not None
    return found


def see_workload(
    ledger: Ledger,
    kind: str,
    name: str,
    *,
    owner: str = "",
    owner_kind: str = "Deployment",
    wants: int = 2,
    present: int = 0,
    queue: str | None = "queue",
    cards: int = 1,
    template: bool = True,
) -> None:
    """A workload whose pods ask for one card each, or `cards`. Without `template`: one too large to
    be kept.
    """
    body = a_pod().in_queue(queue).naming(H200).asking_for(cards).body
    pod = {"metadata": {"annotations": body["metadata"]["annotations"]}, "spec": body["spec"]}
    owners = (
        [{"kind": owner_kind, "name": owner, "uid": owner, "controller": True}] if owner else []
    )
    meta = {"name": name, "namespace": "team", "uid": name, "ownerReferences": owners}
    spec = {"replicas": wants, "template": pod}
    found = {"metadata": meta, "spec": spec, "status": {"replicas": present}}
    facts = workload_facts(kind, msgspec.convert(found, Workload))
    assert facts is not None
    ledger.workloads.see(facts if template else replace(facts, template=b""))
