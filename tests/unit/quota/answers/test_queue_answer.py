"""F1: what is answered about a queue."""

from builders import H200, H800, a_node, a_pod, a_queue, see
from cardquota.quota import to_its_end
from cardquota.quota import vocabulary as v
from cardquota.quota.answers import LONGEST_NAME, MOST_CARDS
from cardquota.quota.answers import queue_answer as answer

from .asked_cluster import NOON, a_cluster, asked, holding, waiting


def test_f1_what_would_fit_is_limited_by_what_nodes_have_free() -> None:
    ledger = a_cluster(holding("a", 7), quota=40)
    (card,) = asked(ledger).cards
    assert (card.left, card.free, card.fits) == (33, 1, 1)
    see(ledger, a_node("h200-b").with_cards(H200, 3))
    (card,) = asked(ledger).cards
    assert (card.free, card.most_on_node, card.fits) == (4, 3, 4)


def test_f1_what_would_fit_is_limited_by_what_is_kept_for_others() -> None:
    """L1, L2."""
    other = a_queue("other").with_quota({H200: 6}).deserving_cards({H200: 5}).lending({H200: 0})
    ledger = a_cluster(holding("a", 2), other)
    see(ledger, a_queue().with_quota({H200: 7}).deserving_cards({H200: 1}))
    (card,) = asked(ledger).cards
    assert (card.left, card.free, card.fits) == (5, 6, 1)
    assert (card.deserved, card.borrowed) == (1, 1)


def test_f1_nothing_fits_a_queue_that_is_closed() -> None:
    ledger = a_cluster(quota=4)
    see(ledger, a_queue().with_quota({H200: 4}).closed())
    found = asked(ledger)
    assert found.state == v.QueueState.CLOSED
    assert (found.cards[0].left, found.cards[0].fits) == (4, 0)


def test_f1_cards_that_are_held_without_a_quota_are_shown_and_made_up_names_are_not() -> None:
    pod = a_pod("x").with_uid("x").in_queue("queue").naming(H800).asking_for(1)
    made_up = waiting("y").naming("NVIDIA-H900")
    ledger = a_cluster(pod.stamped("queue", {H800: 1}).on_node("h800-a"), made_up)
    assert [card.name for card in asked(ledger).cards] == [H200, H800]
    held = a_pod("z").with_uid("z").in_queue("queue").asking_for(1)
    see(ledger, held.stamped("queue", {"NVIDIA-H900": 1}))
    assert [card.name for card in asked(ledger).cards] == [H200, H800, "NVIDIA-H900"]


def test_f1_cpu_and_memory_as_quantities() -> None:
    ledger = a_cluster(holding("a").with_cpu("1500m").with_memory("2Gi"))
    cpu, memory = asked(ledger).resources
    assert (cpu.name, cpu.allocated, cpu.quota, cpu.left) == ("cpu", "1500m", None, None)
    see(ledger, a_queue().with_quota({H200: 4}).limited_to("4", "1Gi"))
    cpu, memory = asked(ledger).resources
    assert (cpu.quota, cpu.left, cpu.requested) == ("4", "2500m", "1500m")
    assert (memory.quota, memory.left, memory.inqueue) == ("1Gi", "0", "0")


def test_f1_of_a_queue_that_does_not_exist_nothing_is_answered() -> None:
    ledger = a_cluster(waiting("lost").in_queue("gone"))
    for name in ("gone", "nobodys"):
        assert to_its_end(answer(ledger, name, limit=20, time=NOON)) is None


def test_f2_the_answer_is_bounded_whatever_is_there() -> None:
    pods = [holding(f"h{n}") for n in range(5)] + [waiting(f"w{n}") for n in range(7)]
    ledger = a_cluster(*pods, quota=5)
    found = asked(ledger, limit=2)
    assert (len(found.holders), found.more_holders, found.held_pods) == (2, 3, 5)
    assert (len(found.waiters), found.more_waiters, found.waiting_pods) == (2, 5, 7)
    nobody = asked(ledger, limit=0)
    assert (nobody.holders, nobody.more_holders) == ((), 5)
    assert (nobody.waiters, nobody.more_waiters) == ((), 7)


def test_f2_of_very_many_cards_those_are_told_that_are_asked_for() -> None:
    quota = {f"{H200}-{n}": 1 for n in range(2 * MOST_CARDS)}
    ledger = a_cluster()
    see(ledger, a_queue().with_quota(quota))
    assert (len(asked(ledger).cards), asked(ledger).more_cards) == (MOST_CARDS, MOST_CARDS)
    see(ledger, waiting("w").naming(f"{H200}-199"))
    assert f"{H200}-199" in [card.name for card in asked(ledger).cards]


def test_f2_a_name_may_be_any_text() -> None:
    """Also where it is none of an API server's."""
    held = a_pod("n" * 5_000).with_uid("z").in_queue("queue").asking_for(1)
    held = held.put("2026" * 1_000, "metadata", "creationTimestamp")
    ledger = a_cluster(held.stamped("queue", {"x" * 5_000: 1}), waiting("w" * 5_000))
    found = asked(ledger)
    assert [len(card.name) for card in found.cards] == [len(H200), LONGEST_NAME]
    assert (len(found.holders[0].name), found.holders[0].since) == (83, "")
    assert len(found.waiters[0].name) == 83
