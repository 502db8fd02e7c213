"""E8: one timer for each reservation, by the group and by what is reserved."""

from collections.abc import Callable

from builders import H200, a_group, a_ledger, a_queue, see
from cardquota.control.release import ReservationTimeouts
from cardquota.quota.ledger import Ledger

KEY = "team/gang"
GANG = a_group().in_queue("red").of(2)


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


def stage() -> tuple[Ledger, ReservationTimeouts, Timers, list[str]]:
    timers, expired = Timers(), list[str]()
    ledger = a_ledger(a_queue("red").with_quota({H200: 8}))
    return ledger, ReservationTimeouts(300.0, expired.append, later=timers.later), timers, expired


def look(timeouts: ReservationTimeouts, ledger: Ledger) -> None:
    timeouts.look(KEY, ledger.groups.get(KEY))


def test_a_reservation_gets_its_time_once() -> None:
    ledger, timeouts, timers, expired = stage()
    look(timeouts, ledger)
    see(ledger, GANG)
    look(timeouts, ledger)
    assert timers.seconds == []
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    look(timeouts, ledger)
    see(ledger, GANG.reserving("red", {H200: 2}).in_phase("Inqueue").at_revision(3))
    look(timeouts, ledger)
    assert timers.seconds == [300.0]
    assert not timeouts.over(KEY)
    timers.calls[0]()
    assert timeouts.over(KEY)
    assert expired == [KEY]


def test_another_reservation_gets_a_time_of_its_own() -> None:
    ledger, timeouts, timers, _ = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    look(timeouts, ledger)
    timers.calls[0]()
    see(ledger, GANG.reserving("red", {H200: 2}, term="term-2").at_revision(3))
    look(timeouts, ledger)
    assert not timeouts.over(KEY)
    assert (len(timers.seconds), timers.cancelled) == (2, 1)


def test_of_which_nothing_started_it_is_over_at_once_and_nobody_is_told_twice() -> None:
    ledger, timeouts, timers, expired = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    timeouts.give_up(KEY, ledger.groups[KEY])
    assert timeouts.over(KEY)
    timers.calls[0]()
    assert expired == []


def test_it_is_not_over_while_gates_are_being_opened() -> None:
    ledger, timeouts, timers, expired = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    look(timeouts, ledger)
    one, two = timeouts.begin(KEY), timeouts.begin(KEY)
    timers.calls[0]()
    timeouts.end(KEY, one)
    assert (timeouts.over(KEY), expired) == (False, [])
    timeouts.end(KEY, two)
    assert (timeouts.over(KEY), expired) == (True, [KEY])
    timeouts.end(KEY, timeouts.begin(KEY))
    assert expired == [KEY]


def test_it_is_over_though_more_gates_are_opened_all_the_time() -> None:
    """Only those are awaited that had begun by then."""
    ledger, timeouts, timers, expired = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    look(timeouts, ledger)
    before = timeouts.begin(KEY)
    timers.calls[0]()
    after = timeouts.begin(KEY)
    assert (timeouts.over(KEY), timeouts.opening(KEY)) == (False, True)
    timeouts.end(KEY, before)
    assert (timeouts.over(KEY), timeouts.opening(KEY), expired) == (True, False, [KEY])
    timeouts.begin(KEY)
    timeouts.end(KEY, after)
    assert (timeouts.over(KEY), expired) == (True, [KEY])


def test_what_begins_after_the_group_has_moved_does_not_keep_its_former_reservation() -> None:
    ledger, timeouts, _, _ = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    look(timeouts, ledger)
    before = timeouts.begin(KEY)
    assert not timeouts.opening(KEY)
    moved = GANG.in_queue("blue").reserving("red", {H200: 2})
    see(ledger, moved.at_revision(3))
    look(timeouts, ledger)
    timeouts.begin(KEY)
    see(ledger, moved.at_revision(4))
    look(timeouts, ledger)
    assert timeouts.opening(KEY)
    timeouts.end(KEY, before)
    assert not timeouts.opening(KEY)


def test_a_group_that_comes_and_goes_does_not_prolong_what_is_over() -> None:
    ledger, timeouts, timers, expired = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    look(timeouts, ledger)
    before = timeouts.begin(KEY)
    timers.calls[0]()
    for revision, queue in enumerate(("blue", "red", "blue"), start=3):
        timeouts.begin(KEY)
        group = GANG.in_queue(queue).reserving("red", {H200: 2})
        see(ledger, group.at_revision(revision))
        look(timeouts, ledger)
        assert not timeouts.over(KEY)
    timeouts.end(KEY, before)
    assert (timeouts.over(KEY), expired) == (True, [KEY])


def test_what_ended_while_gates_were_being_opened_expires_no_more() -> None:
    ledger, timeouts, timers, expired = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    look(timeouts, ledger)
    begun = timeouts.begin(KEY)
    timers.calls[0]()
    ledger.group_gone(KEY)
    look(timeouts, ledger)
    timeouts.end(KEY, begun)
    assert (timeouts.over(KEY), expired) == (False, [])


def test_its_time_counts_from_the_end_of_the_start() -> None:
    """However long that takes; extra members that are released later change nothing."""
    ledger, timeouts, timers, expired = stage()
    see(ledger, GANG)
    start = timeouts.begin(KEY, start=True)
    ledger.decisions.reserve(KEY, "red", "term-1", ((H200, 2),))
    look(timeouts, ledger)
    see(ledger, GANG.reserving("red", {H200: 2}, term="term-1").at_revision(3))
    look(timeouts, ledger)
    timeouts.end(KEY, timeouts.begin(KEY))
    assert timers.seconds == []
    timeouts.end(KEY, start, start=True)
    assert timers.seconds == [300.0]
    timeouts.end(KEY, timeouts.begin(KEY))
    assert (timers.seconds, timers.cancelled) == ([300.0], 0)
    timers.calls[0]()
    assert (timeouts.over(KEY), expired) == (True, [KEY])


def test_of_two_starts_under_one_name_the_last_counts() -> None:
    ledger, timeouts, timers, _ = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    one, two = timeouts.begin(KEY, start=True), timeouts.begin(KEY, start=True)
    look(timeouts, ledger)
    timeouts.end(KEY, one, start=True)
    assert timers.seconds == []
    timeouts.end(KEY, two, start=True)
    assert timers.seconds == [300.0]


def test_it_begins_when_it_is_charged_and_not_when_it_is_seen() -> None:
    ledger, timeouts, timers, _ = stage()
    see(ledger, GANG)
    timeouts.give_up(KEY, ledger.groups[KEY])
    assert not timeouts.over(KEY)
    ledger.decisions.reserve(KEY, "red", "term-1", ((H200, 2),))
    look(timeouts, ledger)
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(3))
    look(timeouts, ledger)
    assert len(timers.seconds) == 1


def test_at_the_end_of_the_term_all_are_forgotten() -> None:
    ledger, timeouts, timers, _ = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    look(timeouts, ledger)
    timeouts.stop()
    assert (len(timeouts), timers.cancelled) == (0, 1)


def test_after_that_nothing_expires_though_gates_were_being_opened() -> None:
    ledger, timeouts, timers, expired = stage()
    see(ledger, GANG.reserving("red", {H200: 2}).at_revision(2))
    look(timeouts, ledger)
    begun = timeouts.begin(KEY)
    timers.calls[0]()
    timeouts.stop()
    timeouts.end(KEY, begun)
    look(timeouts, ledger)
    assert (expired, len(timeouts)) == ([], 0)
