"""The pods of a queue, by what made them, and who holds its cards."""

import pytest

from builders import CARDS, H200, H800, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota.pods import queue_pods

LEDGER = (*CARDS, a_namespace("team"), a_queue().with_quota({H200: 9, H800: 9}))


def made(uid: str, name: str, kind: str = "ReplicaSet") -> PodBody:
    pod = a_pod(uid).with_uid(uid).in_queue("queue").naming(H200).asking_for(1).gated()
    return pod.owned_by(kind, name=name)


def bound(uid: str, workload: str, cards: int = 1, namespace: str = "team") -> PodBody:
    pod = a_pod(uid).with_uid(uid).in_queue("queue").naming(H200).asking_for(cards)
    pod = pod.owned_by("StatefulSet", name=workload).in_namespace(namespace)
    return pod.stamped("queue", {H200: cards}).on_node("h200-a")


def test_a_pod_that_goes_before_its_turn_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_pods, "AT_A_TIME", 1)
    ledger = a_ledger(*LEDGER, made("a", "web-1"), made("b", "web-1"), made("c", "web-1"))
    pods: list[str] = []
    steps = ledger.made_pods.each_in("queue", "team", lambda one: pods.append(one.facts.name))
    next(steps)
    ledger.pod_gone("b")
    see(ledger, made("d", "web-1"))
    to_its_end(steps)
    assert pods == ["a", "c"]


def test_equal_holders_stand_in_the_order_of_their_names() -> None:
    ledger = a_ledger(*LEDGER, bound("1", "c"), bound("2", "a"), bound("3", "b", 2))
    see(ledger, bound("4", "d", 4, "other"))
    holders = ledger.held_cards.within("queue", H200, "team")
    assert holders.most(3) == [("b", 2), ("a", 1), ("c", 1)]
    assert ledger.held_cards.within("queue", H800, "team").most(3) == []


def test_who_holds_most_is_found_once_after_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many who wait are told the same at once, and there may be very many who hold."""
    ledger = a_ledger(*LEDGER, bound("1", "a"), bound("2", "b", 2))
    holders = ledger.held_cards.within("queue", H200, "team")
    assert holders.most(3) == [("b", 2), ("a", 1)]
    with monkeypatch.context() as patched:
        patched.delattr(queue_pods, "nsmallest")
        assert holders.most(3) == [("b", 2), ("a", 1)]
    see(ledger, bound("3", "a", 4))
    assert holders.most(3) == [("a", 5), ("b", 2)]
    ledger.pod_gone("3")
    assert holders.most(3) == [("b", 2), ("a", 1)]
