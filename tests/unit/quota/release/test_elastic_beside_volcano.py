"""V7: beside Volcano members beyond a gang's minimum do not hold up those that it starts with."""

from builders import H200, H800, Body, a_group, a_pod, see
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.decisions import judge_enqueue
from cardquota.quota.ledger import Ledger

from ..releasing import GANG, QUEUE, a_cluster, cards_of, member, names, release, waiting

EITHER = f"{H200}|{H800}"


def beside_volcano(*things: Body) -> Ledger:
    return a_cluster(*things, enqueues=False)


def bind(ledger: Ledger, *pods: PodBody, card: str = H200) -> None:
    """Volcano binds them."""
    node = "h200-a" if card == H200 else "h800-a"
    see(ledger, *(pod.stamped("red", {card: 1}).on_node(node) for pod in pods))


def test_v7_what_would_get_another_card_waits_until_the_minimum_is_on_nodes() -> None:
    a, b, c = (member(name, 1, EITHER) for name in "abc")
    ledger = beside_volcano(QUEUE.with_quota({H200: 2, H800: 3}), GANG, a, b, c)
    opened, refusals = release(ledger)
    assert opened == [["a", "b"]]
    assert cards_of(ledger, "a", "b") == [{H200: 1}, {H200: 1}]
    assert names(refusals) == [["c"]]
    assert refusals[0].verdict.reason is Reason.GANG_INCOMPLETE
    assert refusals[0].verdict.text.startswith("Queue <red>: <0> of the <2> pods")
    bind(ledger, a)
    assert release(ledger)[0] == []
    bind(ledger, b)
    assert release(ledger)[0] == [["c"]]
    assert cards_of(ledger, "c") == [{H800: 1}]


def test_v7_on_the_card_of_the_others_it_goes_at_once() -> None:
    things = (GANG, *(member(name, 1, EITHER) for name in "abc"))
    ledger = beside_volcano(QUEUE.with_quota({H200: 3, H800: 3}), *things)
    assert release(ledger)[0] == [["a", "b"], ["c"]]
    assert cards_of(ledger, "c") == [{H200: 1}]


def test_v7_pods_without_cards_and_without_a_gang_are_not_held_up() -> None:
    plain = a_pod("plain").in_queue("red").in_group("gang").with_cpu("1").gated()
    ledger = beside_volcano(GANG, member("a"), member("b"), plain, waiting("alone", 1, H800))
    opened, _ = release(ledger)
    assert sorted(name for some in opened for name in some) == ["a", "alone", "b", "plain"]


def held(name: str, card: str) -> PodBody:
    pod = a_pod(name).in_queue("red").naming(card).asking_for(1).gated()
    return pod.stamped("red", {card: 1}).on_node("h200-a" if card == H200 else "h800-a")


def test_v7_a_minimum_is_not_split_where_it_will_have_room_on_one_card() -> None:
    """One of each card is left: two gangs that take both would hold them for ever."""
    queue = QUEUE.with_quota({H200: 2, H800: 2})
    members = (member("a", 1, EITHER), member("b", 1, EITHER))
    ledger = beside_volcano(queue, held("x", H200), held("y", H800), GANG, *members)
    opened, refusals = release(ledger)
    assert opened == []
    assert names(refusals) == [["a", "b"]]
    assert refusals[0].verdict.reason is Reason.INSUFFICIENT_CARD
    ledger.pod_gone("uid-y")
    assert release(ledger)[0] == [["a", "b"]]
    assert cards_of(ledger, "a", "b") == [{H800: 1}, {H800: 1}]


def test_v7_a_minimum_that_no_card_has_the_quota_for_is_split() -> None:
    members = (member("a", 1, EITHER), member("b", 1, EITHER))
    ledger = beside_volcano(QUEUE.with_quota({H200: 1, H800: 1}), GANG, *members)
    assert release(ledger)[0] == [["a", "b"]]
    assert cards_of(ledger, "a", "b") == [{H200: 1}, {H800: 1}]


def test_v7_what_a_group_asks_for_is_not_split_either() -> None:
    queue = QUEUE.with_quota({H200: 2, H800: 2})
    group = a_group("gang").in_queue("red").of(2).asking({EITHER: 2})
    ledger = beside_volcano(queue, held("x", H200), held("y", H800), group)
    facts = ledger.groups["team/gang"].facts
    assert facts is not None
    waits = judge_enqueue(ledger, facts)
    assert waits.verdict.reason is Reason.INSUFFICIENT_CARD
    assert "NVIDIA-H200" in waits.verdict.text
    ledger.pod_gone("uid-x")
    assert judge_enqueue(ledger, facts).amounts == ((H200, 2),)
    see(ledger, QUEUE.with_quota({H200: 1, H800: 1}).at_revision(2))
    ledger.pod_gone("uid-y")
    assert judge_enqueue(ledger, facts).amounts == ((H200, 1), (H800, 1))
