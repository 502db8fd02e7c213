"""L3: who may have room made, and since when; L4: what a pod or a group says of itself."""

from dataclasses import replace

import pytest

from builders import H200, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.reclaim import plans, preempt_waiters, reclaim_waiters
from cardquota.quota.reclaim.progress import waiting_one

from ..releasing import release
from .reclaiming import bound, cluster, longest_of, told, unschedulable, waiters

CASE = {
    "nodes": {"n1": "8"},
    "queues": {"a": "8", "b": "8", "c": "8"},
    "bound": {"x": "a 8 n1"},
}


def reclaiming(ledger: Ledger, since: dict[str, float], now: float) -> list[str]:
    found = to_its_end(reclaim_waiters(ledger, since, now, 60.0))
    return [one.name for one in found]


def waiting(name: str = "w", queue: str = "b", cards: int = 1) -> PodBody:
    return a_pod(name).in_queue(queue).naming(H200).asking_for(cards)


def released(name: str = "w", queue: str = "b", cards: int = 1) -> PodBody:
    return unschedulable(waiting(name, queue, cards).stamped(queue, {H200: cards}))


def test_l3_room_is_made_once_a_pod_was_without_a_node_for_so_long() -> None:
    ledger = cluster(CASE)
    see(ledger, released())
    assert reclaiming(ledger, {"uid-w": 100.0}, 159.9) == []
    assert reclaiming(ledger, {"uid-w": 100.0}, 160.0) == ["w"]
    assert reclaiming(ledger, {}, 160.0) == []


@pytest.mark.parametrize(
    "pod",
    [
        waiting().gated(),
        waiting(),
        released().put([], "status", "conditions"),
        released()
        .put(
            "SchedulerError",
            "status",
            "conditions",
        )
        .put(
            [{"type": "PodScheduled", "status": "False", "reason": "SchedulerError"}],
            "status",
            "conditions",
        ),
        released().on_node("n1"),
        released().terminating(),
        unschedulable(waiting()),
    ],
    ids=["gated", "no stamp", "not tried", "an error", "bound", "being deleted", "past admission"],
)
def test_l3_only_who_was_released_and_finds_no_node(pod: PodBody) -> None:
    ledger = cluster(CASE)
    see(ledger, released())
    assert [*ledger.unplaced] == ["uid-w"]
    see(ledger, pod.at_revision(2))
    assert reclaiming(ledger, {"uid-w": 0.0}, 100.0) == []


def test_l3_a_pod_is_without_a_node_as_long_as_a_scheduler_says_so() -> None:
    ledger = cluster(CASE)
    see(ledger, released())
    see(ledger, released().put([], "status", "conditions").at_revision(2))
    assert not ledger.unplaced
    see(ledger, released().at_revision(3))
    assert [*ledger.unplaced] == ["uid-w"]
    ledger.pod_gone("uid-w")
    assert not ledger.unplaced


def test_l3_a_gang_waits_as_a_whole_with_the_lowest_priority_of_its_pods() -> None:
    ledger = cluster(CASE)
    gang = a_group("h").in_queue("b").of(2)
    one = released("w1").in_group("h").with_priority(9)
    other = waiting("w2").in_group("h").stamped("b", {H200: 1}).with_priority(3)
    see(ledger, gang, one, other)
    found = to_its_end(reclaim_waiters(ledger, {"uid-w1": 0.0}, 100.0, 60.0))
    assert [(b.key, b.gang, b.amount, b.priority, b.uids) for b in found] == [
        ("team/h", True, 2, 3, ("uid-w1", "uid-w2"))
    ]


def test_l3_the_queue_that_has_least_of_its_share_comes_first() -> None:
    ledger = cluster({**CASE, "bound": {"x": "a 6 n1", "y": "b 1 n1"}})
    see(ledger, released("w1", "b"), released("w2", "c"), released("w3", "c").with_priority(5))
    since = dict.fromkeys(ledger.unplaced, 0.0)
    assert reclaiming(ledger, since, 100.0) == ["w3", "w2", "w1"]
    see(ledger, a_queue("b").with_quota({H200: 8}).with_priority(1).at_revision(2))
    assert reclaiming(ledger, since, 100.0) == ["w1", "w3", "w2"]


def test_l3_who_waits_at_the_gate_waits_from_its_creation() -> None:
    ledger = cluster({"nodes": {"n1": "8"}, "queues": {"a": "2"}, "bound": {"x": "a 2 n1"}})
    see(ledger, waiting("w", "a").gated().created("2026-01-01T00:00:30Z").with_priority(5))
    release(ledger, "a")
    for cutoff, found in (("2026-01-01T00:00:29Z", []), ("2026-01-01T00:00:30Z", ["w"])):
        assert [b.name for b in to_its_end(preempt_waiters(ledger, cutoff))] == found


def test_l3_of_those_alike_at_the_gate_the_first_that_may() -> None:
    ledger = cluster({"nodes": {"n1": "8"}, "queues": {"a": "2"}, "bound": {"x": "a 2 n1"}})
    high = waiting("w1", "a").gated().with_priority(9).with_spec(preemptionPolicy="Never")
    see(ledger, high, waiting("w2", "a").gated().with_priority(5))
    assert [b.name for b in waiters(ledger)] == ["w2"]


def test_l3_where_nothing_is_enforced_nobody_waits_for_us() -> None:
    ledger = a_ledger(a_namespace("team"), audit=True)
    see(ledger, a_node("n1").with_cards(H200, 1), a_queue("b").with_quota({H200: 1}), released())
    assert reclaiming(ledger, {"uid-w": 0.0}, 100.0) == []


def test_l4_who_ends_for_another_gets_nothing() -> None:
    case = {
        "nodes": {"n1": "6"},
        "queues": {"a": "4"},
        "bound": {"x": "a 1 n1 times=3"},
        "unplaced": {"u": "a 1 zone=none"},
        "gated": {"w": "a 1 priority=5"},
    }
    ledger = cluster(case)
    found = waiters(ledger)
    assert [one.name for one in found] == ["u", "w"]
    assert told(to_its_end(plans(ledger, found[::-1]))) == {"w": ["u"]}


@pytest.mark.parametrize("text", ["false", "true", "False", ""])
def test_l4_a_pod_may_not_end_if_annotation_or_label_say_false(text: str) -> None:
    ends = text != "false"
    assert waiting().facts().preemptable
    assert waiting().annotated(v.PREEMPTABLE, text).facts().preemptable is ends
    assert waiting().labelled(v.PREEMPTABLE, text).facts().preemptable is ends
    assert a_group().annotated(v.PREEMPTABLE, text).facts().preemptable is ends
    assert a_group().labelled(v.PREEMPTABLE, text).facts().preemptable is ends


def test_l3_a_pod_keeps_its_tolerations_until_it_has_a_node() -> None:
    pod = released().with_spec(tolerations=[{"operator": "Exists", "key": "team"}])
    assert len(pod.facts().tolerations) == 1
    assert not pod.on_node("n1").facts().tolerations


def test_l3_a_gang_waits_for_its_minimum_and_its_other_members_for_themselves() -> None:
    case = {
        "nodes": {"n1": 8},
        "queues": {"b": 8},
        "groups": {"h": "b 2"},
        "bound": {"h1": "b 1 n1 group=h"},
        "unplaced": dict.fromkeys(("w1", "w2", "w3"), "b 1 group=h"),
    }
    ledger = cluster(case)
    one = waiting_one(ledger, "team/h", H200)
    assert one is not None
    assert one.amount == 1
    see(ledger, bound("w1", "b 1 n1 group=h"))
    assert waiting_one(ledger, "team/h", H200) is None
    assert waiting_one(ledger, "uid-w2", H200) is not None


def test_l3_a_huge_gang_that_waits_is_looked_at_once() -> None:
    """Each of its pods would sort it again: seconds in a step, of 5,000 pods."""
    ledger = cluster({"nodes": {"n1": "8"}, "queues": {"b": "10000"}, "groups": {"g": "b 10"}})
    see(ledger, released("w0").in_group("g"))
    first = ledger.pods["uid-w0"].facts
    for n in range(1, 5_000):
        ledger.pod_seen(replace(first, uid=f"w{n}", name=f"w{n}"))
    steps = reclaim_waiters(ledger, dict.fromkeys(ledger.unplaced, 0.0), 60.0, 60.0)
    assert longest_of(steps) < 0.3
