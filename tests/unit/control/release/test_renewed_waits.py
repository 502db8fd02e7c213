"""Who is told again: the head of each queue after a while, and all by a new leader (I4)."""

from typing import Any

import pytest

from builders import H200, Body, a_group, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.control.release import AT_ONCE, PER_SECOND

from .test_wait_reports import ToldWaits

HALF_AN_HOUR = 1_800.0
HOLDER = a_pod("holder").in_queue("queue").naming(H200).asking_for(3).stamped("queue", {H200: 3})
FOUR = a_queue().with_quota({H200: 4})
OLD = "2020-01-01T00:00:00Z"
GROUP = a_group("gang").in_queue("queue").of(2).asking({H200: 3})
"""It waits to be enqueued, and has no pods that could be told."""


def waiting(name: str, cards: int = 3) -> PodBody:
    return a_pod(name).in_queue("queue").naming(H200).asking_for(cards).gated()


class RenewedWaits(ToldWaits):
    """The same, whose time goes on to whenever it asked to be called."""

    def __init__(self, *things: Body, **options: Any) -> None:
        super().__init__(*things, **{"renew_after": HALF_AN_HOUR, **options})

    def run(self, seconds: float = 0.0) -> list[str]:
        """Let the time pass. Returns the texts of what was told meanwhile."""
        end, before = self.now + seconds, len(self.events.events)
        while True:
            if self.go_on():
                continue
            if not self.asked_back or self.now + self.asked_back[-1] > end:
                break
            self.now += self.asked_back.pop()
        self.now = end
        return [text for _, _, text in self.events.events[before:]]

    def change(self, *things: Body) -> None:
        """What is seen; those who may be concerned are looked at."""
        see(self.ledger, *things)
        self.look()

    def of(self, name: str) -> list[str]:
        """What was told of it."""
        return [text for about, _, text in self.events.events if about == name]


def test_i4_the_head_is_told_again_after_half_an_hour_with_the_numbers_of_then() -> None:
    line = RenewedWaits(FOUR, HOLDER, waiting("a").created(OLD), waiting("b"))
    line.look()
    assert len(line.run()) == 2
    line.change(HOLDER.with_uid("other").asking_for(1).stamped("queue", {H200: 1}))
    assert line.run(HALF_AN_HOUR - 1) == []
    line.run(HALF_AN_HOUR / 10)
    first, second = line.of("a")
    assert "total would be <6>" in first
    assert "total would be <7>" in second
    line.run(HALF_AN_HOUR + HALF_AN_HOUR / 10)
    assert line.of("a")[1:] == [second, second]
    assert len(line.of("b")) == 1


def test_whoever_comes_to_the_head_of_the_line_is_told_again() -> None:
    line = RenewedWaits(FOUR, HOLDER, waiting("a").created(OLD), waiting("b"))
    line.look()
    line.run(HALF_AN_HOUR)
    line.ledger.pod_gone("uid-a")
    line.look()
    line.run(HALF_AN_HOUR / 5)
    assert len(line.of("b")) == 2


@pytest.mark.parametrize("kind", ["asking", "of pods", "no gang"])
def test_a_group_at_the_head_is_told_again_with_its_place(kind: str) -> None:
    group = a_group("gang").in_queue("queue").of(1 if kind == "no gang" else 2).created(OLD)
    group = group.asking({H200: 3}) if kind == "asking" else group
    members = [waiting(name, 2).in_group("gang").created(OLD) for name in "ab"]
    members = members[: {"asking": 0, "of pods": 2, "no gang": 1}[kind]]
    line = RenewedWaits(FOUR, HOLDER, group, *members)
    line.look()
    line.run(1.2 * HALF_AN_HOUR)
    first, second = line.of("gang")
    assert second == first
    assert second.endswith("; number <1> of <1> that wait in Queue <queue>; held by holder 3")


def test_i5_thousands_who_get_another_reason_are_told_at_a_steady_rate_as_it_is_then() -> None:
    line = RenewedWaits(FOUR, HOLDER, *(waiting(f"p{n:03}") for n in range(2 * AT_ONCE)))
    line.look()
    assert AT_ONCE <= len(line.run()) <= AT_ONCE + 32
    line.run(AT_ONCE / PER_SECOND + 1)
    assert len(line.names) == 2 * AT_ONCE
    for revision in range(2, 9):
        line.change((FOUR if revision % 2 else FOUR.closed()).at_revision(revision))
        line.run(1)
    assert len(line.names) <= 2 * AT_ONCE + 8 * PER_SECOND + 32
    line.run(60)
    last = {name: text for name, _, text in line.events.events}
    assert len(last) == 2 * AT_ONCE
    assert all("is Closed" in text for text in last.values())


def test_a_term_tells_again_what_an_earlier_one_of_ours_has_told() -> None:
    """Others may have led since: nobody knows what stands in those events."""
    gang = a_group("of-pods").in_queue("queue").of(2)
    members = [waiting(name, 2).in_group("of-pods") for name in "ab"]
    line = RenewedWaits(FOUR, HOLDER, GROUP, gang, *members, waiting("c"))
    line.look()
    line.run()
    line.reports.stop()
    see(line.ledger, FOUR.with_quota({H200: 3}).at_revision(2))
    line.begin_term()
    see(line.ledger, waiting("d"))
    line.look()
    texts = line.run(5)
    assert sorted(line.names[-6:]) == ["a", "b", "c", "d", "gang", "of-pods"]
    assert len(texts) == 6
    assert all("capability is <3>" in text for text in texts)


def test_a_group_that_asks_for_something_else_is_told_anew() -> None:
    line = RenewedWaits(FOUR, HOLDER, GROUP)
    line.look()
    line.run()
    line.change(GROUP.asking({H200: 2}).at_revision(2))
    (text,) = line.run(1)
    assert "requested <2>" in text
    line.look()
    assert line.run(60) == []
