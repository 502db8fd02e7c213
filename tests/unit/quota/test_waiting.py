"""Who waits, in which lane, and who has been told why."""

from builders import a_pod
from cardquota.quota.bucket import Bucket
from cardquota.quota.candidate import Lane
from cardquota.quota.pod_record import PodRecord
from cardquota.quota.vocabulary import Reason
from cardquota.quota.waiting import WaitingLine


def record(name: str, priority: int = 0, created: str = "2026-01-01T00:00:00Z") -> PodRecord:
    found = PodRecord(a_pod(name).gated().with_priority(priority).created(created).facts())
    found.bucket = Bucket.GATED_DENY
    return found


def test_e6_a_lane_stands_by_priority_then_creation_then_name() -> None:
    lane = Lane()
    late = "2026-01-02T00:00:00Z"
    for pod in (record("b"), record("a"), record("late", created=late), record("high", 5, late)):
        lane.join(pod.turn)
    assert [turn[-1] for turn in lane.turns] == ["uid-high", "uid-a", "uid-b", "uid-late"]


def test_a_line_keeps_lanes_apart_and_drops_empty_ones() -> None:
    line, first, second = WaitingLine(), record("a"), record("b")
    line.join(first, "one")
    line.join(second, "two")
    assert (len(line), set(line.uids()), set(line.lanes)) == (2, {"uid-a", "uid-b"}, {"one", "two"})
    line.leave(first)
    line.leave(first)
    assert (len(line), set(line.lanes), first.lane) == (1, {"two"}, None)


def test_section_9_a_pod_is_told_once_per_reason() -> None:
    lane, first, second = Lane(), record("a"), record("b")
    lane.join(first.turn)
    assert lane.to_tell(Reason.INSUFFICIENT_CARD) == ["uid-a"]
    assert lane.to_tell(Reason.INSUFFICIENT_CARD) == []
    lane.join(second.turn)
    assert lane.to_tell(Reason.INSUFFICIENT_CARD) == ["uid-b"]
    assert lane.to_tell(Reason.QUEUE_NOT_OPEN) == ["uid-a", "uid-b"]


def test_section_9_one_that_left_is_told_nothing() -> None:
    lane, first = Lane(), record("a")
    lane.join(first.turn)
    lane.leave(first.turn)
    assert lane.to_tell(None) == []


def test_a_line_that_nobody_looks_at_remembers_no_more_than_who_waits() -> None:
    """On a replica that does not lead."""
    line, pods = WaitingLine(), [record(f"p{number}") for number in range(3)]
    for _ in range(500):
        for pod in pods:
            line.join(pod, pod.facts.name)
        for pod in pods:
            line.leave(pod)
    assert len(line) == 0
    assert len(line._order) <= 64 + 2 * 3
    line.join(pods[0], "p0")
    first = line.next_awake()
    assert first is not None
    assert first.turn == pods[0].turn
