"""E6: which queue is looked at first."""

from builders import CARDS, H200, H800, a_ledger, a_pod, a_queue, see
from cardquota.quota.release.release_order import QueueOrder, queue_order, share

from ...containers import containers

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
    assert share(ledger, account) == 666_666


def test_e6_the_share_is_of_what_is_deserved_not_of_the_quota() -> None:
    """80 promised of 8: a queue that holds a tenth of its quota holds all that it deserves."""
    ledger = a_ledger(
        *CARDS,
        a_queue("promised").with_quota({H200: 10}),
        a_queue("others").with_quota({H200: 70}),
        a_queue("half").with_quota({H800: 8}),
        a_pod("a").in_queue("promised").naming(H200).asking_for(1).on_node("h200-a"),
        a_pod("b").in_queue("half").naming(H800).asking_for(4).on_node("h800-a"),
    )
    shares = {a.name: share(ledger, a) for a in ledger.accounts()}
    assert shares == {"promised": 1_000_000, "others": 0, "half": 500_000}
    assert queue_order(ledger, ["promised", "half"]) == ["half", "promised"]


def test_a_card_that_the_cluster_has_none_of_is_shared_by_its_quota() -> None:
    """Bound pods keep what they are charged for when their node goes (D8)."""
    pod = a_pod().in_queue("red").naming(H200).asking_for(1).on_node("h200-a")
    ledger = a_ledger(*CARDS, QUEUE, pod)
    ledger.node_gone("h200-a")
    account = ledger.account("red")
    assert account is not None
    assert share(ledger, account) == 333_333


def taken(order: QueueOrder) -> list[str]:
    while order.place_one():
        pass
    found = []
    while (queue := order.take()) is not None:
        found.append(queue)
    return found


def test_queues_that_come_bit_by_bit_go_in_the_same_order() -> None:
    names = ["c", "a", "b"]
    queues = [a_queue(name).with_quota({H200: 1}) for name in names]
    ledger = a_ledger(*queues, a_queue("z").with_priority(1))
    order = QueueOrder(ledger)
    order.add([*names, "z", "unknown"])
    assert len(order) == 5
    assert taken(order) == ["z", *queue_order(ledger, [*names, "unknown"])]
    assert not order


def test_one_that_is_added_again_goes_once_and_by_its_place_now() -> None:
    ledger = a_ledger(*(a_queue(name).with_quota({H200: 1}) for name in "ab"))
    order = QueueOrder(ledger)
    order.add("ab")
    while order.place_one():
        pass
    see(ledger, a_queue("b").with_quota({H200: 1}).with_priority(5))
    order.add("b")
    order.add("b")
    assert taken(order) == ["b", "a"]
    order.add("a")
    assert taken(order) == ["a"]


def turns(order: QueueOrder, number: int, *, left: str, changing: str = "") -> str:
    """Who has the next turns, if all of `left` are never done and of `changing` there always is
    news.
    """
    found = ""
    for _ in range(number):
        order.add(changing)
        while order.place_one():
            pass
        queue = order.take()
        if queue is None:
            return found
        found += queue
        if queue in left:
            order.add(queue)
    return found


def four_queues() -> QueueOrder:
    """By priority: a, b, c, d."""
    queues = [a_queue(q).with_quota({H200: 1}).with_priority(9 - n) for n, q in enumerate("abcd")]
    order = QueueOrder(a_ledger(*queues))
    order.add("abcd")
    return order


def test_one_that_is_left_goes_on_after_the_others_that_wait() -> None:
    order = four_queues()
    assert turns(order, 8, left="a") == "abcdaaaa"
    order.add("bc")
    assert turns(order, 6, left="a") == "bcaaaa"


def test_e6_those_that_are_left_take_turns_by_priority() -> None:
    assert turns(four_queues(), 10, left="abd") == "abcdabdabd"


def test_nobody_waits_without_end_for_those_before_it_of_which_there_always_is_news() -> None:
    assert turns(four_queues(), 10, left="d", changing="ab") == "abcdabdabd"


def test_its_memory_is_bounded_however_often_a_place_changes() -> None:
    ledger = a_ledger(a_queue("a").with_quota({H200: 1}), a_queue("z").with_priority(-1))
    order = QueueOrder(ledger)
    for priority in range(500):
        see(ledger, a_queue("a").with_quota({H200: 1}).with_priority(priority))
        order.add("az")
        while order.place_one():
            pass
    assert len(order) == 2
    assert max(containers(order).values()) <= 64 + 2 * 2
    assert taken(order) == ["a", "z"]
