"""The workload behind a pod, as people know it."""

from typing import NamedTuple

from ..ledger.ledger_reader import LedgerReader
from ..pods.pod_facts import PodFacts


class MadeBy(NamedTuple):
    """A workload in a pod's namespace, or the pod itself if nothing made it."""

    kind: str
    name: str


def made_by(ledger: LedgerReader, facts: PodFacts) -> MadeBy:
    """The pod's controller; where that is a ReplicaSet of a known Deployment, the Deployment. A
    former ReplicaSet is not known, and stands for itself.
    """
    if not facts.controller:
        return MadeBy("Pod", facts.name)
    if facts.controller == "ReplicaSet":
        workloads = ledger.workloads
        found = workloads.named(facts.controller, facts.namespace, facts.controller_name)
        owner = workloads.get(found.owner) if found is not None and found.owner else None
        if owner is not None and owner.kind == "Deployment":
            return MadeBy(owner.kind, owner.name)
    return MadeBy(facts.controller, facts.controller_name)
