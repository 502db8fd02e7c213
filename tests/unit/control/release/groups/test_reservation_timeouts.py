"""E8: one timer for each reservation, by the group and by what is reserved."""

from collections.abc import Callable

import pytest

from builders import H200, a_group, a_ledger, a_queue, see
from builders.group import GroupBody
from cardquota.control.release import ReservationTimeouts

KEY = "team/gang"
GANG = a_group().in_queue("red").of(2)
RESERVED = GANG.reserving("red", {H200: 2}).at_revision(2)


class Timers:
    """Time stands still until somebody says that it is over."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []
        self.seconds: list[float] = []
        self.cancelled = 0

    def later(self, seconds: float, call: Callable[[], None]) -> "Timers":
        self.seconds.append(seconds)
        self.calls.append(call)
        return self

    def cancel(self) -> None:
        self.cancelled += 1


class TimedGroup(ReservationTimeouts):
    """The times of a group, and what they said is over."""

    def __init__(self) -> None:
        self.timers, self.expired = Timers(), list[str]()
        self.ledger = a_ledger(a_queue("red").with_quota({H200: 8}))
        super().__init__(300.0, self.expired.append, later=self.timers.later)

    def see(self, group: GroupBody) -> None:
        see(self.ledger, group)
        self.look_at_it()

    def look_at_it(self) -> None:
        self.look(KEY, self.ledger.groups.get(KEY))


@pytest.fixture
def stage() -> TimedGroup:
    return TimedGroup()


@pytest.fixture
def reserved(stage: TimedGroup) -> TimedGroup:
    """It has seen the reservation."""
    stage.see(RESERVED)
    return stage


def test_a_reservation_gets_its_time_once(stage: TimedGroup) -> None:
    stage.look_at_it()
    stage.see(GANG)
    assert stage.timers.seconds == []
    stage.see(RESERVED)
    stage.see(GANG.reserving("red", {H200: 2}).in_phase("Inqueue").at_revision(3))
    assert stage.timers.seconds == [300.0]
    assert not stage.over(KEY)
    stage.timers.calls[0]()
    assert stage.over(KEY)
    assert stage.expired == [KEY]


def test_another_reservation_gets_a_time_of_its_own(reserved: TimedGroup) -> None:
    reserved.timers.calls[0]()
    reserved.see(GANG.reserving("red", {H200: 2}, term="term-2").at_revision(3))
    assert not reserved.over(KEY)
    assert (len(reserved.timers.seconds), reserved.timers.cancelled) == (2, 1)


def test_of_which_nothing_started_it_is_over_at_once_and_nobody_is_told_twice(
    stage: TimedGroup,
) -> None:
    see(stage.ledger, RESERVED)
    stage.give_up(KEY, stage.ledger.groups[KEY])
    assert stage.over(KEY)
    stage.timers.calls[0]()
    assert stage.expired == []


def test_it_is_not_over_while_gates_are_being_opened(reserved: TimedGroup) -> None:
    one, two = reserved.begin(KEY), reserved.begin(KEY)
    reserved.timers.calls[0]()
    reserved.end(KEY, one)
    assert (reserved.over(KEY), reserved.expired) == (False, [])
    reserved.end(KEY, two)
    assert (reserved.over(KEY), reserved.expired) == (True, [KEY])
    reserved.end(KEY, reserved.begin(KEY))
    assert reserved.expired == [KEY]


def test_it_is_over_though_more_gates_are_opened_all_the_time(reserved: TimedGroup) -> None:
    before = reserved.begin(KEY)
    reserved.timers.calls[0]()
    after = reserved.begin(KEY)
    assert (reserved.over(KEY), reserved.opening(KEY)) == (False, True)
    reserved.end(KEY, before)
    assert (reserved.over(KEY), reserved.opening(KEY), reserved.expired) == (True, False, [KEY])
    reserved.begin(KEY)
    reserved.end(KEY, after)
    assert (reserved.over(KEY), reserved.expired) == (True, [KEY])


def test_what_begins_after_the_group_moved_keeps_no_former_reservation(
    reserved: TimedGroup,
) -> None:
    before = reserved.begin(KEY)
    assert not reserved.opening(KEY)
    moved = GANG.in_queue("blue").reserving("red", {H200: 2})
    reserved.see(moved.at_revision(3))
    reserved.begin(KEY)
    reserved.see(moved.at_revision(4))
    assert reserved.opening(KEY)
    reserved.end(KEY, before)
    assert not reserved.opening(KEY)


def test_a_group_that_comes_and_goes_does_not_prolong_what_is_over(reserved: TimedGroup) -> None:
    before = reserved.begin(KEY)
    reserved.timers.calls[0]()
    for revision, queue in enumerate(("blue", "red", "blue"), start=3):
        reserved.begin(KEY)
        group = GANG.in_queue(queue).reserving("red", {H200: 2})
        reserved.see(group.at_revision(revision))
        assert not reserved.over(KEY)
    reserved.end(KEY, before)
    assert (reserved.over(KEY), reserved.expired) == (True, [KEY])


def test_what_ended_while_gates_were_being_opened_expires_no_more(reserved: TimedGroup) -> None:
    begun = reserved.begin(KEY)
    reserved.timers.calls[0]()
    reserved.ledger.group_gone(KEY)
    reserved.look_at_it()
    reserved.end(KEY, begun)
    assert (reserved.over(KEY), reserved.expired) == (False, [])


def test_its_time_counts_from_the_end_of_the_start(stage: TimedGroup) -> None:
    see(stage.ledger, GANG)
    start = stage.begin(KEY, start=True)
    stage.ledger.decisions.reserve(KEY, "red", "term-1", ((H200, 2),))
    stage.look_at_it()
    stage.see(GANG.reserving("red", {H200: 2}, term="term-1").at_revision(3))
    stage.end(KEY, stage.begin(KEY))
    assert stage.timers.seconds == []
    stage.end(KEY, start, start=True)
    assert stage.timers.seconds == [300.0]
    stage.end(KEY, stage.begin(KEY))
    assert (stage.timers.seconds, stage.timers.cancelled) == ([300.0], 0)
    stage.timers.calls[0]()
    assert (stage.over(KEY), stage.expired) == (True, [KEY])


def test_of_two_starts_under_one_name_the_last_counts(stage: TimedGroup) -> None:
    see(stage.ledger, RESERVED)
    one, two = stage.begin(KEY, start=True), stage.begin(KEY, start=True)
    stage.look_at_it()
    stage.end(KEY, one, start=True)
    assert stage.timers.seconds == []
    stage.end(KEY, two, start=True)
    assert stage.timers.seconds == [300.0]


def test_it_begins_when_it_is_charged_and_not_when_it_is_seen(stage: TimedGroup) -> None:
    see(stage.ledger, GANG)
    stage.give_up(KEY, stage.ledger.groups[KEY])
    assert not stage.over(KEY)
    stage.ledger.decisions.reserve(KEY, "red", "term-1", ((H200, 2),))
    stage.look_at_it()
    stage.see(GANG.reserving("red", {H200: 2}).at_revision(3))
    assert len(stage.timers.seconds) == 1


def test_after_the_term_all_are_forgotten_though_gates_were_being_opened(
    reserved: TimedGroup,
) -> None:
    begun = reserved.begin(KEY)
    reserved.timers.calls[0]()
    reserved.stop()
    assert reserved.timers.cancelled == 1
    reserved.end(KEY, begun)
    reserved.look_at_it()
    assert (reserved.expired, len(reserved)) == ([], 0)
