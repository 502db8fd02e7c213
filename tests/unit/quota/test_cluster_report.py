"""Section 6: the totals of each card over the whole cluster."""

from builders import CARDS, H200, H800, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota.cluster_report import Part, Use, cluster_report


def bound(name: str, queue: str | None, cards: int) -> PodBody:
    return a_pod(name).in_queue(queue).naming(H200).asking_for(cards).on_node("h200-a")


def test_total_and_total_guarantee_are_over_all_queues() -> None:
    ledger = a_ledger(
        *CARDS,
        a_queue("red").with_quota({H200: 3, H800: 2}),
        a_queue("blue").with_quota({H200: 4}),
        bound("a", "red", 2),
        bound("b", "blue", 1),
    )
    card = cluster_report(ledger)[H200]
    assert (card.allocatable, card.guarantee, card.allocated, card.oversold) == (8, 7, 3, 0)
    assert cluster_report(ledger)[H800].guarantee == 2


def test_q3_what_quotas_exceed_the_cluster_by_is_oversold() -> None:
    quotas = (a_queue("red").with_quota({H200: 6}), a_queue("blue").with_quota({H200: 5}))
    assert cluster_report(a_ledger(*CARDS, *quotas))[H200].oversold == 3
    ledger = a_ledger(*CARDS, *quotas)
    ledger.node_gone("h200-a")
    assert cluster_report(ledger)[H200].oversold == 11


def test_use_is_told_apart_by_the_policy_of_the_queue() -> None:
    """On-line is Deny, off-line is Gate."""
    ledger = a_ledger(
        *CARDS,
        a_queue("serving").with_quota({H200: 3}).with_policy("Deny"),
        a_queue("training").with_quota({H200: 4}).with_policy("Gate"),
        a_queue("both").with_quota({H200: 1}),
        bound("a", "serving", 2),
        bound("b", "training", 1),
        bound("c", None, 3),
        bound("d", "gone", 1),
    )
    card = cluster_report(ledger)[H200]
    assert card.parts == {
        Use.ONLINE: Part(allocated=2, guarantee=3),
        Use.OFFLINE: Part(allocated=1, guarantee=4),
        Use.BY_CONTROLLER: Part(allocated=1, guarantee=1),
        Use.NO_QUEUE: Part(allocated=3, guarantee=0),
    }
    assert (card.allocated, card.guarantee) == (7, 8)


def test_a_change_of_policy_moves_all_that_the_queue_has() -> None:
    queue = a_queue("red").with_quota({H200: 3}).with_policy("Deny")
    ledger = a_ledger(*CARDS, queue, bound("a", "red", 2))
    ledger.queue_seen(queue.with_policy("Gate").at_revision(2).facts())
    assert cluster_report(ledger)[H200].parts == {Use.OFFLINE: Part(allocated=2, guarantee=3)}


def test_cpu_and_memory_are_no_cards() -> None:
    pod = a_pod().in_queue("red").with_cpu("1").with_memory("1Gi").on_node("a")
    assert cluster_report(a_ledger(a_queue("red").limited_to(cpu="2"), pod)) == {}
