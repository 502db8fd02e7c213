"""A Deployment in a rolling update, whose old pods hold all of its queue's quota."""

from builders import CARDS, H200, a_ledger, a_namespace, a_pod, a_queue
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.objects import (
    Owner,
    PodMeta,
    PodSpec,
    PodTemplate,
    Workload,
    WorkloadAnnotations,
    WorkloadMeta,
    WorkloadSpec,
)
from cardquota.quota.pods.workload_facts import workload_facts

QUEUE = a_queue("queue").with_quota({H200: 3})


def lending(surge: str | None = "1", queue: QueueBody = QUEUE) -> QueueBody:
    return queue.annotated(v.SURGE, surge)


def deployment(ledger: Ledger, replicas: int, name: str = "web", uid: str = "d") -> None:
    _see(ledger, "Deployment", name, uid, replicas)


def daemon_set(ledger: Ledger, name: str) -> None:
    _see(ledger, "DaemonSet", name, f"uid-{name}", 1)


def replica_set(
    ledger: Ledger,
    name: str,
    replicas: int,
    desired: str | None = "3",
    owner: str = "d",
) -> None:
    _see(ledger, "ReplicaSet", name, f"uid-{name}", replicas, owner=owner, desired=desired)


def _see(
    ledger: Ledger,
    kind: str,
    name: str,
    uid: str,
    replicas: int,
    *,
    owner: str = "",
    desired: str | None = None,
) -> None:
    wire = pod("any").wire()
    owners = (Owner(kind="Deployment", name="web", uid=owner, controller=True),) if owner else ()
    meta = WorkloadMeta(
        name=name,
        namespace="team",
        uid=uid,
        owner_references=owners,
        annotations=WorkloadAnnotations(desired=desired),
    )
    template = PodTemplate(
        metadata=PodMeta(annotations=wire.metadata.annotations),
        spec=PodSpec(containers=wire.spec.containers),
    )
    spec = WorkloadSpec(replicas=replicas, template=template)
    facts = workload_facts(kind, Workload(metadata=meta, spec=spec))
    if facts is not None:
        ledger.workloads.see(facts)


def pod(name: str, of: str = "web-new", card: str = H200, cards: int = 1) -> PodBody:
    """Of a ReplicaSet."""
    found = a_pod(name).with_uid(name).in_queue("queue").naming(card).asking_for(cards)
    return found.owned_by("ReplicaSet", "apps/v1", of)


def running(name: str, of: str = "web-old", card: str = H200, cards: int = 1) -> PodBody:
    return pod(name, of, card, cards).stamped("queue", {card: cards}).on_node("h200-a")


def full(surge: str | None = "1", *, queue: QueueBody = QUEUE, new: int = 1) -> Ledger:
    """Three old pods hold the whole quota, and the update wants `new` new ones."""
    old = [running(f"old-{number}") for number in range(3)]
    ledger = a_ledger(*CARDS, a_namespace("team"), lending(surge, queue), *old)
    deployment(ledger, 3)
    replica_set(ledger, "web-old", 3)
    replica_set(ledger, "web-new", new)
    return ledger
