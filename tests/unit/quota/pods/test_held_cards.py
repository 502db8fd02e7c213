"""Who holds the cards of a queue: what is let through or bound, by namespace and workload."""

import pytest

from builders import CARDS, H200, H800, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger
from cardquota.quota.pods import queue_users

QUEUE = a_queue().with_quota({H200: 9, H800: 9})


def bound(uid: str, workload: str, cards: int = 1, namespace: str = "team") -> PodBody:
    pod = a_pod(uid).with_uid(uid).in_queue("queue").naming(H200).asking_for(cards)
    pod = pod.owned_by("StatefulSet", name=workload).in_namespace(namespace)
    return pod.stamped("queue", {H200: cards}).on_node("h200-a")


def held(ledger: Ledger, namespace: str = "team", card: str = H200) -> dict[str, int]:
    return ledger.held_cards.within("queue", card, namespace).amounts


def test_by_namespace_and_workload() -> None:
    ledger = a_ledger(*CARDS, QUEUE, bound("a", "chat"), bound("b", "chat", 2), bound("c", "tune"))
    see(ledger, bound("d", "chat", 4, "other"))
    assert held(ledger) == {"chat": 3, "tune": 1}
    assert held(ledger, "other") == {"chat": 4}
    assert held(ledger, "nowhere") == {}
    assert held(ledger, card=H800) == {}
    assert ledger.held_cards.total("queue", H200) == 8
    assert sum(amount for _, amount in ledger.held_cards.all()) == 8
    assert ledger.held_cards.total("queue", H800) == 0


def test_equal_ones_stand_in_the_order_of_their_names() -> None:
    ledger = a_ledger(*CARDS, QUEUE, bound("1", "c"), bound("2", "a"), bound("3", "b", 2))
    holders = ledger.held_cards.within("queue", H200, "team")
    assert holders.most(3) == [("b", 2), ("a", 1), ("c", 1)]


def test_who_holds_most_is_found_once_after_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many who wait are told the same at once, and there may be very many who hold."""
    ledger = a_ledger(*CARDS, QUEUE, bound("1", "a"), bound("2", "b", 2))
    holders = ledger.held_cards.within("queue", H200, "team")
    assert holders.most(3) == [("b", 2), ("a", 1)]
    with monkeypatch.context() as patched:
        patched.delattr(queue_users, "nsmallest")
        assert holders.most(3) == [("b", 2), ("a", 1)]
    see(ledger, bound("3", "a", 4))
    assert holders.most(3) == [("a", 5), ("b", 2)]
    ledger.pod_gone("3")
    assert holders.most(3) == [("b", 2), ("a", 1)]
