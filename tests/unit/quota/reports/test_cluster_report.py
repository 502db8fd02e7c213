"""Section 6: the totals of each card over the whole cluster."""

from builders import CARDS, H200, a_group, a_ledger, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import QueueUse, UseTotals
from cardquota.quota.reports.cluster_report import ClusterCard, cluster_report
from cardquota.quota.reports.drift import drift

ONLINE, OFFLINE = QueueUse.ONLINE, QueueUse.OFFLINE


def totals(ledger: Ledger) -> dict[str, ClusterCard]:
    return to_its_end(cluster_report(ledger))


def bound(name: str, queue: str | None, cards: int) -> PodBody:
    return a_pod(name).in_queue(queue).naming(H200).asking_for(cards).on_node("h200-a")


def test_q3_what_quotas_exceed_the_cluster_by_is_oversold() -> None:
    quotas = (a_queue("red").with_quota({H200: 6}), a_queue("blue").with_quota({H200: 5}))
    assert totals(a_ledger(*CARDS, *quotas))[H200].oversold == 3
    ledger = a_ledger(*CARDS, *quotas)
    ledger.node_gone("h200-a")
    assert totals(ledger)[H200].oversold == 11


def test_use_is_told_apart_by_the_policy_of_the_queue() -> None:
    """On-line is Deny, off-line is Gate."""
    ledger = a_ledger(
        *CARDS,
        a_queue("serving").with_quota({H200: 3}).with_policy("Deny"),
        a_queue("training").with_quota({H200: 4}).with_policy("Gate"),
        a_queue("both").with_quota({H200: 1}),
        bound("a", "serving", 2).owned_by("Job"),
        bound("b", "training", 1),
        bound("c", None, 3),
    )
    card = totals(ledger)[H200]
    assert card.parts == {
        ONLINE: UseTotals(allocated=2, guarantee=3),
        OFFLINE: UseTotals(allocated=1, guarantee=4),
        QueueUse.BY_CONTROLLER: UseTotals(allocated=0, guarantee=1),
        QueueUse.NO_QUEUE: UseTotals(allocated=3, guarantee=0),
    }
    assert (card.allocated, card.guarantee) == (6, 8)


def test_where_the_queue_leaves_it_to_the_pods_use_is_told_by_pod() -> None:
    """A Job's pods and a gang wait, all others are refused: as they would be when over quota."""
    ledger = a_ledger(
        *CARDS,
        a_queue("both").with_quota({H200: 7}),
        a_queue("gone"),
        a_group("gang").of(2).in_queue("both"),
        a_group("loose").of(1).in_queue("both"),
        bound("a", "both", 1),
        bound("b", "both", 1).owned_by("Job"),
        bound("c", "both", 2).in_group("gang"),
        bound("d", "both", 3).in_group("loose"),
        bound("e", "gone", 1).owned_by("Job", "batch.volcano.sh/v1alpha1"),
    )
    assert totals(ledger)[H200].parts == {
        ONLINE: UseTotals(allocated=4),
        OFFLINE: UseTotals(allocated=4),
        QueueUse.BY_CONTROLLER: UseTotals(guarantee=7),
    }
    for revision, (members, online) in enumerate(((1, 6), (2, 4)), 10):
        group = a_group("gang").of(members).in_queue("both").at_revision(revision)
        ledger.group_seen(group.facts())
        assert totals(ledger)[H200].part(ONLINE).allocated == online
        assert drift(ledger) == {}
    ledger.group_gone("team/gang")
    assert totals(ledger)[H200].part(ONLINE).allocated == 6


def test_pods_that_run_are_told_apart_when_their_group_becomes_a_gang() -> None:
    """Those whose gate we opened too: their charge stays as it was."""
    pod = bound("a", "both", 2).in_group("gang").stamped("both", {H200: 2})
    ledger = a_ledger(*CARDS, a_queue("both").with_quota({H200: 7}), pod)
    group = a_group("gang").in_queue("both")
    for revision, (members, use) in enumerate(((1, ONLINE), (3, OFFLINE), (1, ONLINE)), 10):
        ledger.group_seen(group.of(members).at_revision(revision).facts())
        parts = totals(ledger)[H200].parts
        assert parts == {
            QueueUse.BY_CONTROLLER: UseTotals(guarantee=7),
            use: UseTotals(allocated=2),
        }
        assert drift(ledger) == {}


def test_q3_what_there_is_goes_to_on_line_quotas_first() -> None:
    queues = (
        a_queue("serving").with_quota({H200: 5}).with_policy("Deny"),
        a_queue("both").with_quota({H200: 2}),
        a_queue("training").with_quota({H200: 4}).with_policy("Gate"),
    )
    card = totals(a_ledger(*CARDS, *queues))[H200]
    assert card.oversold_by_use() == {ONLINE: 0, QueueUse.BY_CONTROLLER: 0, OFFLINE: 3}
    card = totals(a_ledger(*queues))[H200]
    assert card.oversold_by_use() == {ONLINE: 5, QueueUse.BY_CONTROLLER: 2, OFFLINE: 4}
    assert sum(card.oversold_by_use().values()) == card.oversold


def test_cpu_and_memory_are_no_cards() -> None:
    pod = a_pod().in_queue("red").with_cpu("1").with_memory("1Gi").on_node("a")
    assert totals(a_ledger(a_queue("red").limited_to(cpu="2"), pod)) == {}


def test_p8_names_that_pods_made_up_are_no_cards_of_the_cluster_until_one_runs_on_them() -> None:
    waiting = a_pod("waits").in_queue("queue").naming("MADE-UP").asking_for(1).gated()
    runs = a_pod("runs").in_queue("queue").naming("MADE-UP-2").asking_for(2).on_node("not-seen")
    found = totals(a_ledger(a_queue("queue").with_quota({H200: 3}), waiting, runs))
    assert set(found) == {H200, "MADE-UP-2"}
    assert found["MADE-UP-2"].allocated == 2
