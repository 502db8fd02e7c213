"""E6: which queue is looked at first."""

from builders import CARDS, H200, H800, a_ledger, a_pod, a_queue
from cardquota.quota.release_order import queue_order, share

QUEUE = a_queue("red").with_quota({H200: 3, H800: 3})


def test_e6_queues_by_priority_then_share_then_name() -> None:
    ledger = a_ledger(
        *CARDS,
        QUEUE,
        a_queue("first").with_priority(5),
        a_queue("busy").with_quota({H200: 2}),
        a_queue("blue").with_quota({H200: 0}),
        a_pod().in_queue("busy").naming(H200).asking_for(1).on_node("h200-a"),
    )
    order = queue_order(ledger, ["red", "busy", "blue", "unknown", "first"])
    assert order == ["first", "blue", "red", "unknown", "busy"]


def test_the_share_of_a_queue_is_its_largest_of_any_card() -> None:
    ledger = a_ledger(
        *CARDS,
        QUEUE,
        a_pod("a").in_queue("red").naming(H200).asking_for(1).on_node("h200-a"),
        a_pod("b").in_queue("red").naming(H800).asking_for(2).on_node("h800-a"),
    )
    account = ledger.account("red")
    assert account is not None
    assert share(account) == 666_666
