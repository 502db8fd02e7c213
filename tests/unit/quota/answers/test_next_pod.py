"""F5: what would become of the next pod of a workload."""

from dataclasses import replace

from cardquota.quota.answers.next_pod import next_pod
from cardquota.quota.ledger import Ledger

from ..rollouts import full


def denied(surge: str | None) -> set[str]:
    """Two ReplicaSets of equal pods lack some: of an update, and of a Deployment that grows."""
    ledger: Ledger = full(surge)
    found = set()
    for name in ("web-new", "web-old"):
        facts = ledger.workloads.named("ReplicaSet", "team", name)
        assert facts is not None
        replicas = facts.replicas + (name == "web-old")
        facts = replace(facts, replicas=replicas, present=0, refused=True)
        ledger.workloads.see(facts)
        answer = next_pod(ledger, facts, require_queue=False)
        if answer is not None and answer.denied:
            found.add(name)
    return found


def test_what_an_update_may_borrow_is_room_for_its_pods_alone() -> None:
    assert denied(None) == {"web-new", "web-old"}
    assert denied("1") == {"web-old"}
