"""How many pods each controller has in a queue and a namespace."""

import pytest

from builders import CARDS, H200, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.pods import pods_by_controller

LEDGER = (*CARDS, a_namespace("team"), a_queue().with_quota({H200: 9}))


def made(uid: str, name: str, kind: str = "ReplicaSet") -> PodBody:
    pod = a_pod(uid).with_uid(uid).in_queue("queue").naming(H200).asking_for(1).gated()
    return pod.owned_by(kind, name=name)


def test_by_kind_and_name_and_of_each_deployment() -> None:
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"), made("b", "web-1"), made("c", "web-2"))
    see(ledger, made("d", "web", "StatefulSet"), made("e", "other-1"))
    assert ledger.made_pods.numbers("queue", "team") == {
        ("ReplicaSet", "web-1"): 2,
        ("ReplicaSet", "web-2"): 1,
        ("ReplicaSet", "other-1"): 1,
        ("StatefulSet", "web"): 1,
        ("Deployment", "web"): 3,
        ("Deployment", "other"): 1,
    }
    assert ledger.made_pods.numbers("queue", "elsewhere") == {}


def test_pods_that_are_being_deleted_do_not_count() -> None:
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"), made("b", "web-1").terminating())
    numbers = ledger.made_pods.numbers("queue", "team")
    assert numbers is not None
    assert numbers["ReplicaSet", "web-1"] == 1


def test_what_was_counted_is_known_until_a_pod_changes() -> None:
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"))
    first = ledger.made_pods.numbers("queue", "team")
    assert ledger.made_pods.numbers("queue", "team") is first
    see(ledger, made("b", "web-1"))
    second = ledger.made_pods.numbers("queue", "team")
    assert second is not None
    assert second["ReplicaSet", "web-1"] == 2
    ledger.pod_gone("a")
    ledger.pod_gone("b")
    assert ledger.made_pods.numbers("queue", "team") == {}


def test_very_many_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pods_by_controller, "FEW", 1)
    ledger = a_ledger(*LEDGER)
    see(ledger, made("a", "web-1"))
    assert ledger.made_pods.numbers("queue", "team")
    see(ledger, made("b", "web-1"))
    assert ledger.made_pods.numbers("queue", "team") is None
