"""Who waits is told why: in slices, as events can be taken, once, with a bound (section 9, P8)."""

import math
from typing import Any

import pytest

from builders import H200, H800, Body, a_group, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.control.release import GroupConditions, WaitReports
from cardquota.loop import TimeSlice
from cardquota.quota import Reason
from cardquota.quota.release import release_cycle

from ..fakes import TERM, Told, a_world, account
from .groups.test_reservation_timeouts import Timers

FULL = a_queue().with_quota({H200: 0})


def waiting(name: str, queue: str = "queue") -> PodBody:
    return a_pod(name).in_queue(queue).naming(H200).asking_for(1).gated()


class ToldWaits:
    """Queues that were looked at, and the time."""

    def __init__(self, *things: Body, **options: Any) -> None:
        """`options`: when events are renewed."""
        self.ledger = a_world(*things)
        self.now = 0.0
        self.events = Told()
        self.events.clock = lambda: self.now
        self.events.renew_after = options.get("renew_after", math.inf)
        self.asked_back: list[float] = []
        self._options = options
        self.begin_term()

    def begin_term(self) -> None:
        """Those who waited before are known to the ledger, and to nobody else."""
        self.asked_back.clear()
        self.conditions = GroupConditions(self.ledger, term=TERM, later=Timers().later)
        self.reports = WaitReports(
            self.ledger,
            self.events,
            self.conditions,
            clock=lambda: self.now,
            later=lambda seconds: self._later(seconds),
            **self._options,
        )

    def _later(self, seconds: float) -> "ToldWaits":
        self.asked_back.append(seconds)
        return self

    def cancel(self) -> None: ...

    def look(self, *queues: str) -> None:
        for queue in queues or ("queue",):
            list(release_cycle(self.ledger, account(self.ledger, queue)))
            self.reports.look(queue)

    def go_on(self) -> bool:
        return self.reports.go_on(TimeSlice(clock=lambda: self.now))

    def tell(self) -> None:
        self.look()
        self.go_on()

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.events.events]


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every event takes its time."""
    record = Told.record

    def slowly(self: Told, *args: object, **kwargs: object) -> None:
        record(self, *args, **kwargs)  # type: ignore[arg-type]
        self.line.now += 0.001  # type: ignore[attr-defined]

    monkeypatch.setattr(Told, "record", slowly)


@pytest.mark.usefixtures("spent")
def test_it_gives_way_after_a_slice_and_goes_on_where_it_was() -> None:
    line = ToldWaits(FULL, *(waiting(f"p{n:03}") for n in range(200)))
    line.events.line = line  # type: ignore[attr-defined]
    line.look()
    slices = 0
    while line.go_on():
        slices += 1
        assert len(line.names) <= slices * (20 + 32)
    assert slices >= 3
    assert line.names == [f"p{n:03}" for n in range(200)]


def test_queues_take_turns() -> None:
    """One with thousands of pods does not keep others waiting for a word."""
    other = a_queue("other").with_quota({H200: 0})
    line = ToldWaits(FULL, other, *(waiting(f"p{n:03}") for n in range(100)), waiting("b", "other"))
    line.look("queue", "other")
    line.go_on()
    assert line.names.index("b") == 32
    assert len(line.names) == 101


def test_nothing_is_told_while_no_event_can_be_taken_and_all_of_it_then() -> None:
    line = ToldWaits(FULL, waiting("a"))
    line.look()
    line.events.room = False
    assert not line.go_on()
    assert (line.names, line.asked_back) == ([], [0.5])
    line.events.room = True
    line.go_on()
    assert line.names == ["a"]


def test_once_per_reason_however_many_others_were_told_since() -> None:
    line = ToldWaits(FULL, waiting("a"))
    line.tell()
    line.events.forget("uid-a")
    see(line.ledger, waiting("a").with_priority(1).at_revision(2))
    line.tell()
    assert line.names == ["a"]
    see(line.ledger, waiting("a").in_queue("nowhere").at_revision(3))
    line.look("nowhere")
    line.go_on()
    reasons = [reason for _, reason, _ in line.events.events]
    assert reasons[1:] == [Reason.QUEUE_NOT_FOUND]


def test_who_waits_for_a_group_is_told_if_it_does_not_come_for_a_while() -> None:
    line = ToldWaits(a_queue().with_quota({H200: 0}), waiting("a").in_group("g"))
    see(line.ledger, waiting("b").in_group("h"))
    line.look()
    assert not line.go_on()
    assert (line.names, line.asked_back) == ([], [10.0])
    see(line.ledger, a_group("h").in_queue("queue"))
    line.look()
    line.now = 10.0
    line.go_on()
    assert sorted(line.names) == ["a", "b", "h"]
    reasons = {name: reason for name, reason, _ in line.events.events}
    assert reasons["a"] == Reason.GROUP_NOT_FOUND
    assert reasons["b"] != Reason.GROUP_NOT_FOUND


@pytest.mark.usefixtures("spent")
def test_thousands_whose_time_has_come_at_once_hold_nobody_up() -> None:
    line = ToldWaits(FULL, *(waiting(f"p{n:03}").in_group("g") for n in range(200)))
    line.events.line = line  # type: ignore[attr-defined]
    line.tell()
    line.now = 10.0
    slices = 1
    while len(line.names) < 200:
        before = len(line.names)
        line.go_on()
        assert len(line.names) - before <= 20 + 16
        slices += 1
    assert slices > 5


@pytest.mark.usefixtures("spent")
def test_those_whose_time_has_come_are_called_for_though_nothing_else_moves() -> None:
    line = ToldWaits(FULL, *(waiting(f"p{n:03}").in_group("g") for n in range(100)))
    line.events.line = line  # type: ignore[attr-defined]
    line.tell()
    while line.asked_back:
        line.now += line.asked_back.pop()
        line.asked_back.clear()
        assert not line.go_on()
    assert len(line.names) == 100


def test_i4_members_of_a_gang_that_cannot_be_released_for_a_while_are_told() -> None:
    gang = a_group("g").in_queue("queue").of(2)
    going = waiting("b").in_group("g").terminating()
    line = ToldWaits(a_queue().with_quota({H200: 9}), gang, waiting("a").in_group("g"), going)
    line.look()
    assert not line.go_on()
    assert (line.names, line.asked_back) == ([], [10.0])
    line.now = 10.0
    line.go_on()
    assert line.names == ["a", "g"]
    assert {reason for _, reason, _ in line.events.events} == {Reason.GANG_INCOMPLETE}


def test_i4_a_gang_whose_member_goes_soon_is_told_nothing() -> None:
    gang = a_group("g").in_queue("queue").of(2)
    going = waiting("b").in_group("g").terminating()
    line = ToldWaits(a_queue().with_quota({H200: 0}), gang, waiting("a").in_group("g"), going)
    line.tell()
    line.ledger.pod_gone("uid-b")
    see(line.ledger, waiting("c").in_group("g"))
    line.now = 10.0
    line.go_on()
    assert line.names == []


def test_who_is_gone_or_released_meanwhile_is_told_nothing() -> None:
    line = ToldWaits(FULL, *(waiting(name).in_group("g") for name in "ab"))
    line.tell()
    line.ledger.pod_gone("uid-a")
    see(line.ledger, waiting("b").in_group("g").ungated().at_revision(2))
    line.now = 10.0
    line.go_on()
    assert line.names == []


def test_a_term_that_is_over_tells_nothing_more() -> None:
    line = ToldWaits(FULL, waiting("a"))
    line.look()
    line.reports.stop()
    assert not line.go_on()
    assert line.names == []


def test_who_waits_is_told_who_holds_the_card_and_not_again_if_others_do() -> None:
    """Section 9."""
    held = a_pod("chat").in_queue("queue").stamped("queue", {H200: 1}).on_node("h200-a")
    line = ToldWaits(a_queue().with_quota({H200: 1}), held, waiting("a"))
    line.tell()
    see(line.ledger, held.put("other", "metadata", "name").at_revision(2))
    line.tell()
    ((_, reason, text),) = line.events.events
    assert reason == Reason.INSUFFICIENT_CARD
    assert "but capability is <1>; wait until some of it is free" in text
    assert text.endswith("; held by chat 1")


def topics(cards: str) -> list[str]:
    pod = a_pod().in_queue("queue").naming(cards).asking_for(1).gated()
    line = ToldWaits(a_queue().with_quota({H200: 0, H800: 0}), pod)
    line.tell()
    told = line.ledger.pods[pod.uid].notified
    return [told[1]] if told else []


def test_a_topic_is_what_is_asked() -> None:
    assert topics(H200) == [f"queue {H200}"]
    assert topics(f"{H200}|{H800}") == [f"queue {H200} {H800}"]


def test_a_long_one_is_told_apart_by_its_digest() -> None:
    long = [f"NVIDIA-{letter * 56}" for letter in "ABCD"]
    one, other = topics("|".join(long)), topics("|".join(reversed(long)))
    assert [len(topic) for topic in (*one, *other)] in ([32, 32], [5, 5])
