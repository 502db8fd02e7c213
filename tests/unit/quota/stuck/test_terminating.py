"""R7: pods that should be gone, and hold quota."""

import pytest

from builders import CARDS, H200, a_group, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.stuck.stuck_finding import StuckFinding
from cardquota.quota.stuck.terminating import AT_A_TIME, describe_late, late_to_end

from .stuck_things import NOON, deleted, holding


def found(ledger: Ledger, *, now: float = NOON, after: float = 300) -> list[StuckFinding]:
    return [
        describe_late(ledger, one, knows_nodes=True)
        for one in late_to_end(ledger, now, after)
        if one is not None
    ]


def a_queue_with(*pods: PodBody) -> Ledger:
    return a_ledger(*CARDS, a_queue().with_quota({H200: 9}), *pods)


def test_r7_a_pod_that_should_be_gone_is_named_with_all_that_it_holds() -> None:
    (one,) = found(a_queue_with(deleted(holding())))
    assert (one.kind, one.namespace, one.name, one.queue) == ("Pod", "team", "web", "queue")
    assert (dict(one.cards), one.age, one.node) == ({H200: 2}, 600, "h200-a")
    assert one.since == NOON - 600
    assert one.reason == "StillStopping"
    assert one.message == (
        "should have ended <10 min> ago, and still holds <NVIDIA-H200> <2> of Queue <queue>: its "
        "node <h200-a> is ready, and still says that it runs"
    )


def test_r7_the_time_beyond_its_grace_period_counts() -> None:
    ledger = a_queue_with(deleted(holding()))
    assert found(ledger, after=600) == []
    assert len(found(ledger, after=599)) == 1
    assert found(ledger, now=NOON - 86_400) == []


@pytest.mark.parametrize(
    "pod",
    [
        holding(),
        deleted(a_pod("waits").in_queue("queue").naming(H200).asking_for(2).gated()),
        deleted(a_pod("outside").asking_for(2).on_node("h200-a")),
        deleted(holding(), "some day"),
        deleted(holding(), "9999-12-31T23:59:59Z"),
        deleted(holding()).in_phase("Succeeded"),
    ],
    ids=["stays", "gated", "outside", "unreadable", "future", "finished"],
)
def test_r7_what_is_not_stuck(pod: PodBody) -> None:
    assert found(a_queue_with(pod)) == []


def test_r7_how_its_node_is() -> None:
    sick = a_node("sick").with_cards(H200, 8)
    sick = sick.put([{"type": "Ready", "status": "Unknown"}], "status", "conditions")
    cordoned = a_node("cordoned").with_cards(H200, 8).put(True, "spec", "unschedulable")
    ledger = a_queue_with()
    see(ledger, sick, cordoned)
    pods = {
        "NodeNotReady": holding("a", 1, node="sick"),
        "StillStopping": holding("b", 1, node="cordoned"),
        "NodeGone": holding("c", 1, node="nowhere"),
        "NeverBound": holding("d", 1).put(None, "spec", "nodeName"),
    }
    see(ledger, *map(deleted, pods.values()))
    assert [one.reason for one in found(ledger)] == list(pods)
    texts = [one.why for one in found(ledger)]
    assert texts[0] == "its node <sick> is not ready"
    assert texts[2:] == [
        "its node <nowhere> is gone",
        "it has no node, so a finalizer keeps it",
    ]
    dead, ready, gone, _ = (one.advice for one in found(ledger))
    for advice in (dead, gone):
        assert "`kubectl delete pod --force --grace-period=0`" in advice
    assert "node.kubernetes.io/out-of-service" in dead
    assert "out-of-service" not in gone  # there is no node to be tainted
    assert "a finalizer probably keeps this one" in gone
    assert "--force" not in ready


def test_r7_where_nodes_could_not_be_read() -> None:
    ledger = a_queue_with(deleted(holding()), deleted(holding("odd", node="odd")))
    late = [x for x in late_to_end(ledger, NOON, 0) if x is not None]
    known, odd = [describe_late(ledger, one, knows_nodes=False) for one in late]
    assert (known.reason, odd.reason) == ("StillStopping", "NodeNotKnown")
    assert "not all nodes could be read" in odd.sentence
    assert "--force" not in odd.sentence


def test_r7_without_cards_cpu_and_memory_are_named() -> None:
    pod = a_pod("cpu").in_queue("queue").with_cpu("1500m").on_node("h200-a")
    (one,) = found(a_queue_with(deleted(pod)))
    assert dict(one.cards) == {}
    assert "holds <cpu> <1.5>" in one.what


def test_r7_members_of_groups_count() -> None:
    ledger = a_queue_with()
    see(ledger, a_group("gang").in_queue("queue").of(2), deleted(holding().in_group("gang")))
    assert len(found(ledger)) == 1


def test_r7_who_is_gone_is_forgotten() -> None:
    ledger = a_queue_with(deleted(holding()))
    assert list(ledger.being_deleted) == ["web"]
    steps = late_to_end(ledger, NOON, 0)
    ledger.pod_gone("web")
    assert list(steps) == []
    assert list(ledger.being_deleted) == []


def test_r7_who_goes_between_two_steps_is_left_out() -> None:
    pods = [deleted(holding(f"w{number}", 0)) for number in range(AT_A_TIME + 1)]
    ledger = a_queue_with(*pods)
    steps = late_to_end(ledger, NOON, 0)
    first = [next(steps) for _ in range(AT_A_TIME + 1)]
    assert first[-1] is None
    ledger.pod_gone(f"w{AT_A_TIME}")
    assert list(steps) == [None]
