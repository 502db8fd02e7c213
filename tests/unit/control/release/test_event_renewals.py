"""Whose turn it is to be told again (section 9)."""

from collections.abc import Iterator

import pytest

from cardquota.control.release import AT_A_TIME, AT_ONCE, EventRenewals


class RenewalLine:
    """Who waits, and the time."""

    def __init__(self, after: float = 1_800.0, per_second: float = 20.0) -> None:
        self.now = 0.0
        self.gone: set[str] = set()
        self.looks = 0
        self.renewals = EventRenewals(
            after=after, per_second=per_second, clock=lambda: self.now, waits=self._waits
        )

    def _waits(self, key: str) -> bool:
        self.looks += 1
        return key not in self.gone

    def turns(self, until: float) -> Iterator[tuple[float, str]]:
        """Everybody is told when it is his turn, until that time."""
        while (wait := self.renewals.wait) is not None and self.now + wait <= until:
            self.now += wait
            for key in self.renewals.take():
                assert self.renewals.has_turn(key)
                self.renewals.written(key)
                yield self.now, key
        self.now = until


def names(number: int, letter: str = "p") -> list[str]:
    return [f"{letter}{n:05}" for n in range(number)]


def test_an_event_is_renewed_after_a_while_and_again_after_that() -> None:
    line = RenewalLine()
    line.renewals.written("a")
    assert list(line.turns(7_000)) == [(1_800, "a"), (3_600, "a"), (5_400, "a")]


def test_who_is_outdated_has_a_turn_at_once_if_nobody_else_has() -> None:
    line = RenewalLine()
    line.renewals.written("a")
    line.now = 5.0
    line.renewals.outdated("a")
    line.renewals.outdated("a")
    assert list(line.turns(1_900)) == [(5.0, "a"), (1_805.0, "a")]


def test_20_000_are_renewed_before_their_hour_is_over_and_20_in_a_second() -> None:
    line = RenewalLine()
    for key in names(20_000):
        line.renewals.written(key)
    last = dict.fromkeys(names(20_000), 0.0)
    seconds: dict[int, int] = {}
    for at, key in line.turns(4 * 3_600):
        assert at - last[key] < 3_600
        last[key] = at
        seconds[int(at)] = seconds.get(int(at), 0) + 1
    assert all(at > 4 * 3_600 - 3_600 for at in last.values())
    assert max(seconds.values()) <= 20 + AT_A_TIME
    assert max(sum(seconds.get(t + n, 0) for n in range(60)) for t in range(0, 14_000, 7)) <= 1_216


def test_a_change_of_the_quota_with_20_000_that_wait_is_told_20_in_a_second() -> None:
    line = RenewalLine()
    for key in names(20_000):
        line.renewals.written(key)
    line.now = 60.0
    for key in names(20_000):
        line.renewals.outdated(key)
    told = list(line.turns(1_100))
    assert len(told) == len({key for _, key in told}) == 20_000
    assert sum(at < 61 for at, _ in told) <= 20 + AT_A_TIME


def test_who_is_outdated_and_whose_time_has_come_share_the_turns() -> None:
    """Quotas that change all the time let nobody's event be lost."""
    line = RenewalLine()
    for key in names(32, "old"):
        line.renewals.written(key)
    line.now = 1_800.0
    for key in names(100, "new"):
        line.renewals.outdated(key)
    taken = line.renewals.take()
    assert sum(key.startswith("old") for key in taken) == AT_A_TIME / 2
    assert len(taken) == AT_A_TIME


def test_between_two_turns_there_is_a_pause() -> None:
    line = RenewalLine(per_second=2.0)
    for key in names(20):
        line.renewals.outdated(key)
    assert len(line.renewals.take()) == AT_A_TIME
    assert (line.renewals.take(), line.renewals.wait) == ([], 8.0)
    line.now = 8.0
    assert len(line.renewals.take()) == 4


def test_who_had_a_turn_and_was_not_told_gets_another_one() -> None:
    line = RenewalLine()
    line.renewals.outdated("a")
    assert line.renewals.take() == ["a"]
    line.renewals.outdated("a")  # it has its turn
    assert line.renewals.wait == 1_800.0
    line.now = 1_800.0
    assert line.renewals.take() == ["a"]


def test_without_an_end_of_events_only_the_outdated_have_turns() -> None:
    line = RenewalLine(after=float("inf"))
    line.renewals.written("a")
    assert line.renewals.wait is None
    line.renewals.outdated("a")
    assert list(line.turns(10)) == [(0.0, "a")]


def test_who_waits_no_more_takes_nobodys_turn() -> None:
    line = RenewalLine()
    for key in (*names(100, "gone"), "a"):
        line.renewals.outdated(key)
    line.gone.update(names(100, "gone"))
    assert line.renewals.take() == ["a"]
    assert len(line.renewals) == 1


def test_of_very_many_that_are_gone_a_few_are_looked_at_in_one_call() -> None:
    line = RenewalLine()
    for key in (*names(1_000, "gone"), "a"):
        line.renewals.outdated(key)
    line.gone.update(names(1_000, "gone"))
    line.looks = 0
    calls = 1
    while not (taken := line.renewals.take()):
        calls += 1
    assert taken == ["a"]
    assert line.looks <= 256 * calls


@pytest.mark.parametrize("live", [10, 3_000])
def test_nothing_is_left_of_those_who_are_gone(live: int) -> None:
    """Pods come, are told and go all the time; each that comes costs a few looks."""
    line = RenewalLine()
    for key in names(live, "live"):
        line.renewals.written(key)
    most, before = 0, line.looks
    for number in range(20_000):
        line.renewals.written(f"p{number}")
        line.gone.add(f"p{number}")
        most = max(most, len(line.renewals))
    assert most <= 3 * live + 2_048
    assert line.looks - before <= 8 * 20_000
    line.renewals.forget("live00000")
    assert "live00000" not in line.renewals
    assert "live00001" in line.renewals
    line.renewals.clear()
    assert len(line.renewals) == 0


def test_some_are_told_at_once_of_another_reason_and_the_others_as_fast_as_turns_come() -> None:
    line = RenewalLine()
    told = [line.renewals.at_once() for _ in range(AT_ONCE + 10)]
    assert told == [True] * AT_ONCE + [False] * 10
    line.now = 1.0
    assert [line.renewals.at_once() for _ in range(30)] == [True] * 20 + [False] * 10
    line.now = 1_000_000.0
    assert sum(line.renewals.at_once() for _ in range(1_000)) == AT_ONCE
