"""Who waits, in which lane, and who has been told why."""

from builders import a_pod
from cardquota.quota.pending.candidate import PodClass
from cardquota.quota.pending.pending_queue import PendingQueue
from cardquota.quota.pods.charge_state import ChargeState
from cardquota.quota.pods.pod_record import PodRecord
from cardquota.quota.vocabulary import Reason


def record(name: str, priority: int = 0, created: str = "2026-01-01T00:00:00Z") -> PodRecord:
    found = PodRecord(a_pod(name).gated().with_priority(priority).created(created).facts())
    found.charge_state = ChargeState.GATED_DENY
    return found


def test_e6_a_lane_stands_by_priority_then_creation_then_name() -> None:
    lane = PodClass()
    late = "2026-01-02T00:00:00Z"
    for pod in (record("b"), record("a"), record("late", created=late), record("high", 5, late)):
        lane.join(pod.turn)
    assert [turn[-1] for turn in lane.turns] == ["uid-high", "uid-a", "uid-b", "uid-late"]


def test_a_line_keeps_lanes_apart_and_drops_empty_ones() -> None:
    line, first, second = PendingQueue(), record("a"), record("b")
    line.join(first, "one")
    line.join(second, "two")
    assert (len(line), set(line.uids()), set(line.lanes)) == (2, {"uid-a", "uid-b"}, {"one", "two"})
    line.leave(first)
    line.leave(first)
    assert (len(line), set(line.lanes), first.lane) == (1, {"two"}, None)


def told(lane: PodClass, reason: Reason, most: int = 100) -> list[str]:
    lane.to_hear(reason)
    return lane.take_untold(most)


def test_section_9_a_pod_is_told_once_per_reason() -> None:
    lane, first, second = PodClass(), record("a"), record("b")
    lane.join(first.turn)
    assert told(lane, Reason.INSUFFICIENT_CARD) == ["uid-a"]
    assert told(lane, Reason.INSUFFICIENT_CARD) == []
    lane.join(second.turn)
    assert lane.untold
    assert told(lane, Reason.INSUFFICIENT_CARD) == ["uid-b"]
    assert told(lane, Reason.QUEUE_NOT_OPEN) == ["uid-a", "uid-b"]


def test_section_9_one_that_left_is_told_nothing() -> None:
    lane, first = PodClass(), record("a")
    lane.join(first.turn)
    lane.leave(first.turn)
    assert told(lane, Reason.INSUFFICIENT_CARD) == []


def test_a_long_lane_is_told_bit_by_bit_while_pods_come_and_go() -> None:
    lane, pods = PodClass(), [record(name) for name in "bcdef"]
    for pod in pods:
        lane.join(pod.turn)
    assert told(lane, Reason.INSUFFICIENT_CARD, 2) == ["uid-b", "uid-c"]
    lane.leave(pods[2].turn)
    for name in "ag":
        lane.join(record(name).turn)
    assert lane.take_untold(2) == ["uid-a", "uid-e"]
    assert lane.take_untold(9) == ["uid-f", "uid-g"]
    assert not lane.untold


def test_where_nobody_decides_nobody_is_put_in_order() -> None:
    line, pods = PendingQueue(), [record(f"p{number}") for number in range(3)]
    for _ in range(500):
        for pod in pods:
            line.join(pod, pod.facts.name)
        for pod in pods:
            line.leave(pod)
    assert (len(line), len(line._order), len(line._unordered)) == (0, 0, 0)


def test_where_passes_never_end_no_more_is_remembered_than_who_waits() -> None:
    line, first, pods = PendingQueue(), record("first"), [record(f"p{n}") for n in range(3)]
    line.join(first, "first")
    for _ in range(500):
        for pod in pods:
            line.join(pod, pod.facts.name)
        assert not line.refresh(0)
        candidate = line.next_active()
        assert candidate is not None
        assert candidate.turn == first.turn
        for pod in pods:
            line.leave(pod)
    assert len(line._order) <= 64 + 2 * 4


def test_nobody_is_tried_before_all_who_were_woken_are_in_order() -> None:
    """E6: one of those that are left may come first."""
    line = PendingQueue()
    for number in range(300):
        line.join(record(f"p{number:03}"), number)
    calls = 1
    while line.refresh(0):
        calls += 1
    assert calls == 5
    first = line.next_active()
    assert first is not None
    assert first.turn[-1] == "uid-p000"
