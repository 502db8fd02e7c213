"""Who holds the cards of a queue: what is let through or bound, by namespace and workload."""

from builders import CARDS, H200, H800, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger

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


def test_who_waits_or_has_ended_holds_nothing() -> None:
    waits = a_pod("w").in_queue("queue").naming(H200).asking_for(1).gated()
    ledger = a_ledger(*CARDS, QUEUE, waits, bound("a", "chat"))
    see(ledger, bound("a", "chat").in_phase("Succeeded"))
    assert held(ledger) == {}
    assert dict(ledger.held_cards.all()) == {}


def test_who_is_deleted_holds_until_it_is_gone() -> None:
    ledger = a_ledger(*CARDS, QUEUE, bound("a", "chat"))
    see(ledger, bound("a", "chat").terminating())
    assert held(ledger) == {"chat": 1}
    ledger.pod_gone("a")
    assert held(ledger) == {}


def choosing(uid: str, cards: str, number: int = 1) -> PodBody:
    """Came past admission with a choice of cards, and is not bound."""
    pod = a_pod(uid).with_uid(uid).in_queue("queue").naming(cards).asking_for(number)
    return pod.owned_by("StatefulSet", name="flex")


def test_t3_who_came_past_us_with_a_choice_holds_the_first_until_its_node_says_which() -> None:
    both = f"{H200}|{H800}"
    ledger = a_ledger(*CARDS, QUEUE, choosing("a", both, 2), bound("c", "chat"))
    assert held(ledger) == {"chat": 1, "flex": 2}
    assert held(ledger, card=H800) == {}
    see(ledger, choosing("a", both, 2).on_node("h800-a"))
    assert held(ledger) == {"chat": 1}
    assert held(ledger, card=H800) == {"flex": 2}


def test_outside_every_queue_nobody_is_named() -> None:
    ledger = a_ledger(*CARDS, a_pod("x").asking_for(1).on_node("h200-a"))
    assert dict(ledger.held_cards.all()) == {}
