"""E6, W2: which queue is looked at first."""

from builders import CARDS, H200, H800, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from builders.queue_order import queue_order
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Opening, QueueOrder, usage
from cardquota.quota.release.cycle import openings

from ...containers import containers

QUEUE = a_queue("red").with_quota({H200: 3, H800: 3})


def share(ledger: Ledger, queue: str) -> int:
    return usage_of(ledger, queue)[1]


def usage_of(ledger: Ledger, queue: str) -> tuple[bool, int]:
    """As the order has it."""
    queue_order(ledger, [queue])
    account = ledger.account(queue)
    assert account is not None
    return usage(ledger, account)


def running(queue: str, cards: int, card: str = H200) -> PodBody:
    pod = a_pod(f"{queue}-runs").in_queue(queue).naming(card).asking_for(cards)
    return pod.on_node("h200-a" if card == H200 else "h800-a")


def waiting(queue: str, cards: int, card: str = H200) -> PodBody:
    return a_pod(f"{queue}-waits").in_queue(queue).naming(card).asking_for(cards).gated()


def test_e6_queues_by_priority_then_share_then_name() -> None:
    ledger = a_ledger(
        *CARDS,
        QUEUE,
        a_queue("first").with_priority(5),
        a_queue("busy").with_quota({H200: 2}),
        a_queue("blue").with_quota({H200: 0}),
        *(running("busy", 1), waiting("busy", 1)),
    )
    order = queue_order(ledger, ["red", "busy", "blue", "unknown", "first"])
    assert order == ["first", "blue", "red", "unknown", "busy"]


def test_e6_what_groups_that_wait_to_be_enqueued_ask_for_counts_too() -> None:
    group = a_group("train").in_queue("red")
    ledger = a_ledger(*CARDS, QUEUE, running("red", 2), a_namespace("team").in_mode("enforced"))
    assert share(ledger, "red") == 0
    see(
        ledger,
        group.asking({f"{H800}|{H200}": 1}),
        a_group("next").in_queue("red").asking({H200: 1}),
    )
    assert usage_of(ledger, "red") == (False, 666_666)
    see(ledger, group.at_revision(2))
    assert share(ledger, "red") == 666_666
    ledger.group_gone("team/next")
    assert share(ledger, "red") == 0


def test_e6_the_share_is_of_what_is_deserved_not_of_the_quota() -> None:
    """80 promised of 8: two that ask for all there is deserve 3 each, the third asks for 2."""
    ledger = a_ledger(
        *CARDS,
        a_queue("large").with_quota({H200: 60}),
        a_queue("small").with_quota({H200: 10}),
        a_queue("modest").with_quota({H200: 10}),
        *(running("large", 2), waiting("large", 8), running("small", 1), waiting("small", 9)),
        *(running("modest", 1), waiting("modest", 1)),
    )
    shares = {name: share(ledger, name) for name in ("large", "small", "modest")}
    assert shares == {"large": 666_666, "small": 333_333, "modest": 500_000}
    assert queue_order(ledger, shares) == ["small", "modest", "large"]


def test_w2_who_holds_all_that_it_deserves_goes_after_all_others() -> None:
    """Whatever its priority is; and it is not refused: it goes."""
    ledger = a_ledger(
        *CARDS,
        a_queue("greedy").with_quota({H200: 8}).with_priority(9),
        a_queue("poor").with_quota({H200: 8}),
        a_queue("content").with_quota({H200: 8}),
        *(running("greedy", 4), waiting("greedy", 1)),
        *(running("poor", 2), waiting("poor", 6)),
    )
    overused = {name: usage_of(ledger, name)[0] for name in ("greedy", "poor", "content")}
    assert overused == {"greedy": True, "poor": False, "content": False}
    order = QueueOrder(ledger)
    order.add(overused)
    assert taken(order) == queue_order(ledger, overused) == ["content", "poor", "greedy"]
    found = [x for x in openings(ledger, "greedy") if isinstance(x, Opening)]
    assert [record.facts.name for x in found for record, _ in x.pods] == ["greedy-waits"]


def test_w2_only_what_is_asked_for_counts() -> None:
    """It holds all it deserves of one card, and waits for another one."""
    ledger = a_ledger(
        *CARDS,
        a_queue("red").with_quota({H200: 1, H800: 2}),
        *(running("red", 1), waiting("red", 1, H800)),
    )
    assert not usage_of(ledger, "red")[0]
    see(ledger, a_pod("too").in_queue("red").naming(H200).asking_for(1).gated())
    assert usage_of(ledger, "red")[0]


def test_w2_cpu_and_memory_count_by_what_the_queue_says_that_it_deserves() -> None:
    busy = a_pod("busy").in_queue("red").with_cpu("2").on_node("h200-a")
    ledger = a_ledger(*CARDS, QUEUE.deserving(cpu="2", memory="1Gi"), busy)
    see(ledger, a_pod("next").in_queue("red").with_memory("1Gi").gated())
    assert usage_of(ledger, "red") == (False, 0)
    see(ledger, a_pod("then").in_queue("red").with_cpu("1").gated())
    assert usage_of(ledger, "red") == (True, 1_000_000)


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


def test_the_shares_of_one_card_are_a_step_of_their_own_the_first_time() -> None:
    """All queues that have the card are asked, and a quota may have many oversold cards."""
    cards = [f"NVIDIA-MODEL-{number}" for number in range(5)]
    nodes = [a_node(f"node-{card}").with_cards(card, 1) for card in cards]
    pods = [a_pod(card).in_queue("q").naming(card).asking_for(1).gated() for card in cards]
    ledger = a_ledger(*nodes, a_queue("q").with_quota(dict.fromkeys(cards, 2)), *pods)
    order = QueueOrder(ledger)
    for steps in (len(cards) + 1, 1):
        order.add("q")
        for _ in range(steps - 1):
            assert order.place_one()
            assert order.take() is None
        assert order.place_one()
        assert order.take() == "q"
