"""How many pods each controller has in a queue and a namespace."""

import pytest

from builders import CARDS, H200, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import PodRecord, pods_by_controller

LEDGER = (*CARDS, a_namespace("team"), a_queue().with_quota({H200: 9}))


def made(uid: str, name: str, kind: str = "ReplicaSet") -> PodBody:
    pod = a_pod(uid).with_uid(uid).in_queue("queue").naming(H200).asking_for(1).gated()
    return pod.owned_by(kind, name=name)


def found(ledger: Ledger, *names: str) -> list[str]:
    """Pods of ReplicaSets of these names."""
    pods: list[PodRecord] = []
    made_pods = ledger.made_pods
    to_its_end(made_pods.each("queue", "team", "ReplicaSet", names.__contains__, pods.append))
    return [record.facts.name for record in pods]


def test_they_are_found_in_the_order_in_which_they_were_charged() -> None:
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"), made("b", "web-2"), made("c", "web-1"), made("d", "web", "Job"))
    assert found(ledger, "web-1", "web-2", "web") == ["a", "b", "c"]
    see(ledger, made("a", "web-1").with_cpu("1"), made("e", "web-3"))
    assert found(ledger, "web-1", "web-2") == ["b", "c", "a"]
    assert found(ledger, "web-1") == ["c", "a"]
    assert found(ledger, "web-9") == []


def test_a_pod_that_goes_before_its_turn_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods_by_controller, "AT_A_TIME", 1)
    ledger = a_ledger(*LEDGER, made("a", "web-1"), made("b", "web-1"), made("c", "web-1"))
    pods: list[str] = []
    steps = ledger.made_pods.each_in("queue", "team", lambda one: pods.append(one.facts.name))
    next(steps)
    ledger.pod_gone("b")
    see(ledger, made("d", "web-1"))
    to_its_end(steps)
    assert pods == ["a", "c"]
