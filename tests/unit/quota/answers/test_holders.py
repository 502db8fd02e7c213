"""F1: who holds a queue's cards."""

from builders import H200, H800, a_group, a_pod, a_queue, see
from cardquota.quota import to_its_end
from cardquota.quota.answers import MOST_AMOUNTS, card_amounts, choice_amounts, holders_in
from cardquota.quota.answers.queue_answer import AT_A_TIME

from .asked_cluster import a_cluster, asked, holding, of_deployment, waiting


def test_f1_the_pods_of_a_workload_are_one_holder() -> None:
    ledger = a_cluster(
        holding("a", 1, since="2026-01-01T03:00:00Z").owned_by("Job", name="train"),
        holding("b", 1, since="2026-01-01T02:00:00Z").owned_by("Job", name="train"),
        holding("c", 1).owned_by("StatefulSet", name="db"),
    )
    first, second = asked(ledger).holders
    assert (first.kind, first.namespace, first.name, first.pods) == ("Job", "team", "train", 2)
    assert [(one.name, one.amount) for one in first.cards] == [(H200, 2)]
    assert first.since == "2026-01-01T02:00:00Z"
    assert (second.kind, second.name, second.pods) == ("StatefulSet", "db", 1)


def test_f1_pods_that_wait_hold_nothing_and_those_released_do() -> None:
    on_its_way = a_pod("b").with_uid("b").in_queue("queue").naming(H200).asking_for(1)
    on_its_way = on_its_way.put("2026-01-02T09:00:00Z", "metadata", "creationTimestamp")
    ledger = a_cluster(waiting("a"), on_its_way.stamped("queue", {H200: 1}))
    (only,) = asked(ledger).holders
    assert (only.kind, only.name, only.since) == ("Pod", "b", "2026-01-02T09:00:00Z")


def test_f1_the_pods_of_all_replica_sets_of_a_deployment_are_one_holder() -> None:
    """Also of former ones, which are not known; events name it by its pods alone, too."""
    ledger = a_cluster(
        of_deployment("chat", "7d9f8", holding("a")),
        of_deployment("chat", "5c6b7", holding("b")),
        holding("c").owned_by("ReplicaSet", name="alone"),
    )
    held = [(one.kind, one.name, one.pods) for one in asked(ledger).holders]
    assert held == [("Deployment", "chat", 2), ("ReplicaSet", "alone", 1)]


def test_f1_what_a_group_has_reserved_and_not_used_is_held_by_it() -> None:
    ledger = a_cluster(
        a_group("gang").in_queue("queue").of(3).reserving("queue", {H200: 3, "cpu": 1}),
        a_group("idle").in_queue("queue").of(3),
        holding("a", 1).in_group("gang"),
        quota=9,
    )
    see(ledger, a_queue("other").with_quota({H800: 1}))
    found = asked(ledger)
    held = [(one.kind, one.name, one.pods, one.cards[0].amount) for one in found.holders]
    assert held == [("PodGroup", "gang", 0, 2), ("Pod", "a", 1, 1)]
    assert found.holders[0].since == ""
    assert sum(n for *_, n in held) == found.cards[0].allocated + found.cards[0].inqueue
    assert asked(ledger, "other").holders == ()


def test_f1_groups_of_other_queues_are_not_looked_at() -> None:
    others = [
        a_group(f"g{n}").in_queue("other").of(2).reserving("other", {H200: 1})
        for n in range(2 * AT_A_TIME)
    ]
    own = a_group("gang").in_queue("queue").of(2).reserving("queue", {H200: 1})
    ledger = a_cluster(*others, own)
    steps = sum(1 for _ in holders_in(ledger, "queue", 5))
    assert steps == sum(1 for _ in holders_in(a_cluster(own), "queue", 5))
    ledger.group_gone(own.key)
    assert asked(ledger).holders == ()


def test_f1_those_with_the_most_cards_come_first_then_by_name() -> None:
    ledger = a_cluster(holding("b"), holding("a"), holding("c", 2), quota=9)
    assert [one.name for one in asked(ledger).holders] == ["c", "a", "b"]


def test_f1_a_group_that_goes_while_others_are_looked_at_holds_nothing() -> None:
    groups = [
        a_group(f"g{n}").in_queue("queue").of(2).reserving("queue", {H200: 1})
        for n in range(AT_A_TIME + 1)
    ]
    ledger = a_cluster(*groups)
    steps = holders_in(ledger, "queue", 1)
    next(steps)
    ledger.group_gone(groups[-1].key)
    assert to_its_end(steps)[1] == len(groups) - 2


def test_f1_amounts_are_the_largest_first_and_not_too_many() -> None:
    assert [
        (a.name, a.amount) for a in card_amounts([("b", 1), ("cpu", 9), ("a", 1), ("c", 0)])
    ] == [
        ("a", 1),
        ("b", 1),
    ]
    assert len(card_amounts((f"c{n}", 1) for n in range(99))) == MOST_AMOUNTS
    both = choice_amounts([(("a", "b"), 2), (("a", "b"), 3), ((), 1), (("c",), 0)])
    assert [(one.name, one.amount) for one in both] == [("a|b", 5)]
