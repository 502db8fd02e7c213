"""Who waits for long always has an event that says why, with what holds now (section 9)."""

from typing import Any

import pytest

from builders import H200, Body, a_group, a_namespace, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.cluster.events import MESSAGE_BYTES
from cardquota.control.release import AT_A_TIME, AT_ONCE
from cardquota.control.release.groups import GroupConditions
from cardquota.loop import TimeSlice
from cardquota.quota import Reason

from ..fakes import TERM
from .groups.test_reservation_timeouts import Timers
from .test_wait_reports import ToldWaits

HALF_AN_HOUR = 1_800.0
HOLDER = a_pod("holder").in_queue("queue").naming(H200).asking_for(3).stamped("queue", {H200: 3})
FOUR = a_queue().with_quota({H200: 4})


def waiting(name: str, cards: int = 3) -> PodBody:
    return a_pod(name).in_queue("queue").naming(H200).asking_for(cards).gated()


class RenewedWaits(ToldWaits):
    """The same, whose time goes on to whenever it asked to be called."""

    def __init__(self, *things: Body, **options: Any) -> None:
        super().__init__(*things, **{"renew_after": HALF_AN_HOUR, **options})
        self.times: list[tuple[float, str]] = []
        """When each event was recorded, and of whom."""

    def run(self, seconds: float = 0.0) -> list[str]:
        """Let the time pass. Returns the texts of what was told meanwhile."""
        end, before = self.now + seconds, len(self.events.events)
        while True:
            known = len(self.events.events)
            more = self.reports.go_on(TimeSlice(clock=lambda: self.now))
            self.times += [(self.now, name) for name, _, _ in self.events.events[known:]]
            if more:
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


def test_an_event_is_written_again_before_it_is_gone_with_the_numbers_of_then() -> None:
    line = RenewedWaits(FOUR, HOLDER, waiting("a"))
    line.look()
    (first,) = line.run()
    assert "total would be <6>" in first
    other = HOLDER.with_uid("other").asking_for(1).stamped("queue", {H200: 1})
    line.change(other)
    assert line.run(HALF_AN_HOUR - 1) == []
    (second,) = line.run(1)
    assert "total would be <7>" in second
    (third,) = line.run(HALF_AN_HOUR)
    assert third == second


def test_the_advice_stays_in_the_event_whoever_holds_how_many_cards() -> None:
    cards = [f"NVIDIA-{'L' * 30}{n}" for n in range(5)]
    nodes = [a_node(card.lower()).with_cards(card, 8) for card in cards]
    there = [
        a_pod(f"{'w' * 50}-{n}-{m}").in_queue("queue").naming(card).stamped("queue", {card: 1})
        for n, card in enumerate(cards)
        for m in range(4)
    ]
    asks = waiting("a").naming("|".join(cards))
    line = RenewedWaits(a_queue().with_quota(dict.fromkeys(cards, 4)), *nodes, *there, asks)
    line.look()
    (text,) = line.run()
    assert text.endswith(
        "; wait until some of it is free, or ask the queue's owner for a higher quota"
    )
    assert len(text) <= MESSAGE_BYTES


def test_what_is_in_use_goes_up_and_down_and_nothing_is_told() -> None:
    line = RenewedWaits(FOUR, HOLDER, *(waiting(f"p{n}") for n in range(40)))
    line.look()
    assert len(line.run()) == 40
    other = HOLDER.with_uid("other").asking_for(1).stamped("queue", {H200: 1})
    for _ in range(10):
        line.change(other)
        assert line.run(1) == []
        line.ledger.pod_gone("other")
        line.look()
        assert line.run(1) == []


def test_a_lowered_quota_changes_the_advice() -> None:
    line = RenewedWaits(FOUR, HOLDER, waiting("a"))
    line.look()
    (first,) = line.run()
    assert "capability is <4>; wait until some of it is free" in first
    line.change(FOUR.with_quota({H200: 2}).at_revision(2))
    (second,) = line.run(1)
    assert "capability is <2>; ask for at most 2, or ask the queue's owner" in second
    line.change(FOUR.with_quota({H200: 5}).at_revision(3))
    (third,) = line.run(1)
    assert "capability is <5>; wait until some of it is free" in third


def test_a_quota_changed_twice_before_a_turn_comes_is_told_once_as_it_is() -> None:
    """No stale text: it is worked out when the pod has its turn."""
    line = RenewedWaits(FOUR, HOLDER, *(waiting(f"p{n:02}") for n in range(40)))
    line.look()
    line.run()
    line.change(FOUR.with_quota({H200: 2}).at_revision(2))
    assert len(line.run(0.5)) == AT_A_TIME
    line.change(FOUR.with_quota({H200: 1}).at_revision(3))
    rest = line.run(5)
    assert len(rest) == 40  # those with turns before were told of the 2
    assert all("ask for at most 1" in text for text in rest)


def test_first_events_wait_for_no_renewal() -> None:
    line = RenewedWaits(FOUR, HOLDER, *(waiting(f"p{n:03}") for n in range(200)))
    line.look()
    line.run()
    line.change(FOUR.with_quota({H200: 2}).at_revision(2))
    line.run(0.5)
    line.change(*(waiting(f"new{n}", 2) for n in range(50)))
    line.run()
    told = line.names[200 + AT_A_TIME :]
    assert sorted(told[:50]) == sorted(f"new{n}" for n in range(50))


def test_nobody_is_told_again_while_many_first_events_are_to_be_written() -> None:
    line = RenewedWaits(FOUR, HOLDER, waiting("a"))
    line.look()
    line.run()
    line.events.sound = 33
    assert line.run(HALF_AN_HOUR + 60) == []
    line.events.sound = 32
    assert len(line.run(1)) == 1


@pytest.mark.slow
def test_20_000_that_wait_are_told_again_before_the_hour_20_in_a_second() -> None:
    """And nothing is written when the quota is lowered but their turns."""
    pods = (waiting(f"p{n:05}").in_namespace(("team", "more")[n % 2]) for n in range(20_000))
    line = RenewedWaits(FOUR, HOLDER, a_namespace("team"), a_namespace("more"), *pods)
    line.look()
    assert len(line.run()) == 20_000
    begun, line.times = dict.fromkeys(line.names, 0.0), []
    line.run(HALF_AN_HOUR)
    line.change(FOUR.with_quota({H200: 2}).at_revision(2))
    line.run(1_801)
    seconds: dict[int, int] = {}
    for at, name in line.times:
        assert at - begun[name] < 3_600
        begun[name] = at
        seconds[int(at)] = seconds.get(int(at), 0) + 1
    assert max(seconds.values()) <= 20 + AT_A_TIME
    assert min(begun.values()) >= HALF_AN_HOUR
    assert len(line.times) >= 20_000
    assert all("ask for at most 2" in text for _, _, text in line.events.events[-20_000:])


def test_a_new_leader_tells_at_once_whom_no_earlier_one_can_have_told() -> None:
    old = [waiting(f"old{n:02}").created("2026-05-01T10:00:00Z") for n in range(60)]
    new = waiting("new").created("2026-05-01T10:00:01Z")
    line = RenewedWaits(FOUR, HOLDER, *old, new, told_before="2026-05-01T10:00:00Z")
    line.look()
    line.run()
    assert line.names[0] == "new"
    assert len(line.names) == 1 + AT_A_TIME
    line.run(10)
    assert sorted(line.names) == sorted(pod.name for pod in (*old, new))
    assert line.reports.is_known("uid-old59")


def test_what_was_told_in_an_earlier_term_of_ours_is_told_again_in_turn() -> None:
    """Nobody knows how old those events are."""
    line = RenewedWaits(FOUR, HOLDER, *(waiting(f"p{n:02}") for n in range(40)))
    line.look()
    line.run()
    line.reports.stop()
    line.begin_term()
    assert len(line.run()) == AT_A_TIME
    assert len(line.run(5)) == 40 - AT_A_TIME
    assert line.run(60) == []
    assert len(line.run(HALF_AN_HOUR)) == 40


def test_in_a_later_term_of_ours_nobody_is_told_at_once_of_what_he_knows() -> None:
    line = RenewedWaits(FOUR, HOLDER, waiting("a"))
    line.look()
    line.run()
    line.reports.stop()
    line.begin_term()
    see(line.ledger, waiting("b"))
    line.look()
    assert len(line.run()) == 2
    assert line.names == ["a", "b", "a"]


def test_a_term_begins_in_slices() -> None:
    """Each pod is of a class of its own."""
    pods = [waiting(f"p{n:03}").with_cpu(f"{n + 1}m") for n in range(300)]
    line = RenewedWaits(FOUR, HOLDER, *pods)
    line.look()
    line.run()
    line.begin_term()
    slices = 0

    def passing() -> float:
        line.now += 0.0001
        return line.now

    while line.reports.go_on(TimeSlice(clock=passing)):
        slices += 1
        assert slices < 1_000
    assert slices > 2
    assert len(line.run(30)) >= 300 - AT_A_TIME


def test_thousands_who_get_another_reason_are_told_by_turns() -> None:
    """Somebody closes the queue, and opens it: some are told at once, the others as it is then."""
    line = RenewedWaits(FOUR, HOLDER, *(waiting(f"p{n:03}") for n in range(2 * AT_ONCE)))
    line.look()
    line.run()
    line.change(FOUR.closed().at_revision(2))
    assert len(line.run()) <= AT_ONCE + AT_A_TIME
    line.run(5)
    for revision in range(3, 9):
        line.change((FOUR if revision % 2 else FOUR.closed()).at_revision(revision))
        line.run(1)
    told_again = len(line.times) - 2 * AT_ONCE
    assert told_again <= AT_ONCE + AT_A_TIME + (5 + 6) * 2 * 20
    line.run(60)
    last = {name: text for name, _, text in line.events.events}
    assert len(last) == 2 * AT_ONCE
    assert all("is Closed" in text for text in last.values())


def test_groups_too() -> None:
    group = GROUP.created("2026-01-01T00:00:00Z")
    names = [f"g{n:03}" for n in range(300)]
    groups = [group.put(name, "metadata", "name").with_uid(name) for name in names]
    line = WaitingGroups(FOUR, HOLDER, *groups)
    line.look()
    assert len(line.run()) == 300
    line.change(FOUR.closed().at_revision(2))
    assert len(line.run()) <= AT_ONCE + AT_A_TIME
    line.run(20)
    reasons = {name: reason for name, reason, _ in line.events.events}
    assert set(reasons.values()) == {Reason.QUEUE_NOT_OPEN}


def test_who_waits_no_more_is_told_nothing() -> None:
    line = RenewedWaits(FOUR, HOLDER, waiting("a"), waiting("b"), waiting("c"))
    line.look()
    line.run()
    line.ledger.pod_gone("uid-a")
    line.change(waiting("b").ungated().at_revision(2))
    line.run(HALF_AN_HOUR)
    assert line.names[3:] == ["c"]
    line.reports.stop()
    assert line.run(3_600) == []


def test_members_of_a_gang_are_told_again_and_one_judgement_is_for_all() -> None:
    gang = a_group("gang").in_queue("queue").of(2)
    members = [waiting(name, 2).in_group("gang") for name in "ab"]
    line = RenewedWaits(FOUR, HOLDER, gang, *members)
    line.look()
    line.run()
    assert sorted(line.names) == ["a", "b", "gang"]
    line.change(FOUR.with_quota({H200: 3}).at_revision(2))
    texts = line.run(1)
    assert len(texts) == 2
    assert all("capability is <3>; ask for at most 3" in text for text in texts)


def test_who_waits_for_a_group_that_does_not_come_is_told_so_again() -> None:
    line = RenewedWaits(FOUR, waiting("a").in_group("g"))
    line.look()
    assert line.run(9) == []
    (first,) = line.run(1)
    assert line.run(HALF_AN_HOUR - 1) == []
    assert line.run(20) == [first]


class WaitingGroups(RenewedWaits):
    """With the conditions of groups, which are told what the events say."""

    def begin_term(self) -> None:
        self.turns = Timers()
        self.conditions = GroupConditions(
            self.ledger, term=TERM, per_second=2.0, later=self.turns.later
        )
        self._options["conditions"] = self.conditions
        super().begin_term()

    def sentence(self, name: str = "gang") -> str:
        """What its condition would say."""
        wait = self.conditions.wait_of(self.ledger.groups[f"team/{name}"])
        return wait.text if wait is not None else ""


GROUP = a_group("gang").in_queue("queue").of(2).asking({H200: 3})
"""It waits to be enqueued, and has no pods that could be told."""


def test_a_group_without_pods_is_told_other_advice_too() -> None:
    line = WaitingGroups(FOUR, HOLDER, GROUP)
    line.look()
    (first,) = line.run()
    assert "capability is <4>; wait until some of it is free" in first
    assert first.endswith("; number <1> of <1> that wait in Queue <queue>; held by holder 3")
    assert line.run(60) == []
    line.change(FOUR.with_quota({H200: 2}).at_revision(2))
    (second,) = line.run(1)
    assert "capability is <2>; ask for at most 2" in second
    assert second == line.sentence()


def test_and_its_event_is_renewed_with_the_place_of_then() -> None:
    before = GROUP.created("2020-01-01T00:00:00Z")
    others = [a_group(f"other{n}").in_queue("queue").of(2).asking({H200: 3}) for n in range(3)]
    line = WaitingGroups(FOUR, HOLDER, before, *others)
    line.look()
    assert len(line.run()) == 4
    line.ledger.group_gone("team/gang")
    line.look()
    told = line.run(HALF_AN_HOUR)
    assert len(told) == 3
    assert {text.partition("; number ")[2][:3] for text in told} == {"<1>", "<2>", "<3>"}


def test_the_condition_of_a_gang_says_what_its_members_are_told() -> None:
    gang = a_group("gang").in_queue("queue").of(2)
    members = [waiting(name, 2).in_group("gang") for name in "ab"]
    line = WaitingGroups(FOUR, HOLDER, gang, *members)
    line.look()
    assert len(line.run()) == 3
    line.change(FOUR.with_quota({H200: 3}).at_revision(2))
    assert len(line.run(1)) == 3
    assert "capability is <3>; ask for at most 3" in line.sentence()


@pytest.mark.parametrize(("first", "then"), [(2, 3), (3, 2)])
def test_another_minimum_may_change_the_advice(first: int, then: int) -> None:
    """Nothing of the pods or the queue has changed."""
    gang = a_group("gang").in_queue("queue").of(first)
    members = [waiting(name, 2).in_group("gang") for name in "abc"]
    line = WaitingGroups(FOUR, HOLDER, gang, *members)
    line.look()
    assert len(line.run()) == 4
    line.change(gang.of(then).at_revision(2))
    texts = line.run(5)
    assert len(texts) == 4
    words = "ask for at most 4" if then == 3 else "wait until some of it is free"
    assert all(words in text for text in texts)
    assert line.run(60) == []


def test_what_no_longer_stops_it_is_told_too() -> None:
    """The sentence names only what is short now."""
    queue = FOUR.limited_to(cpu="4")
    line = RenewedWaits(queue, HOLDER.with_cpu("3"), waiting("a").with_cpu("2"))
    line.look()
    (first,) = line.run()
    assert "<cpu> quota" in first
    line.change(FOUR.limited_to(cpu="40").at_revision(2))
    (second,) = line.run(1)
    assert "<cpu>" not in second


def test_what_the_queue_does_not_limit_any_more_is_told_too() -> None:
    queue = FOUR.limited_to(cpu="4")
    line = RenewedWaits(queue, HOLDER.with_cpu("3"), waiting("a").with_cpu("2"))
    line.look()
    line.run()
    line.change(FOUR.at_revision(2))
    (text,) = line.run(1)
    assert "<cpu>" not in text


def test_a_new_leader_tells_groups_in_turn_too() -> None:
    groups = [a_group(f"g{n:02}").in_queue("queue").of(2).asking({H200: 3}) for n in range(40)]
    line = WaitingGroups(FOUR, HOLDER, *groups, told_before="2030-01-01T00:00:00Z")
    line.look()
    assert len(line.run()) == AT_A_TIME
    assert len(line.run(5)) == 40 - AT_A_TIME


def test_groups_that_an_earlier_term_of_ours_has_told_are_told_again_with_what_holds() -> None:
    gang = a_group("of-pods").in_queue("queue").of(2)
    members = [waiting(name, 2).in_group("of-pods") for name in "ab"]
    line = WaitingGroups(FOUR, HOLDER, GROUP, gang, *members)
    line.look()
    known = len(line.run())
    assert sorted(line.names) == ["a", "b", "gang", "of-pods"]
    line.reports.stop()
    see(line.ledger, FOUR.with_quota({H200: 3}).at_revision(2))
    line.begin_term()
    line.look()
    line.run(5)
    assert sorted(line.names[known:]) == ["a", "b", "gang", "of-pods"]
    assert all("capability is <3>" in text for _, _, text in line.events.events[known:])
    assert line.sentence()
    assert line.sentence("of-pods")


FIRST = waiting("first", 2).created("2020-01-01T00:00:00Z")
SECOND = waiting("second", 2).created("2020-01-02T00:00:00Z")
THIRD = waiting("third", 2).created("2020-01-03T00:00:00Z")


def texts_of(line: RenewedWaits, name: str) -> list[str]:
    """What was told of it."""
    return [text for about, _, text in line.events.events if about == name]


@pytest.mark.parametrize("kind", ["asking", "of pods", "no gang"])
def test_who_is_behind_another_is_told_who_it_is_now(kind: str) -> None:
    """In a fifo queue; who is first there is found by a pass alone."""
    group = a_group("gang").in_queue("queue").of(1 if kind == "no gang" else 2)
    group = group.created("2021-01-01T00:00:00Z")
    group = group.asking({H200: 1}) if kind == "asking" else group
    members = [waiting(n, 1).in_group("gang").created("2021-01-01T00:00:00Z") for n in "ab"]
    members = members[: {"asking": 0, "of pods": 2, "no gang": 1}[kind]]
    line = WaitingGroups(FOUR.fifo(), HOLDER, FIRST, SECOND, group, *members)
    line.look()
    line.run()
    (before,) = texts_of(line, "gang")
    assert "the first is <team/first>" in before
    line.ledger.pod_gone("uid-first")
    line.ledger.pod_gone("uid-second")
    line.change(THIRD)
    for _ in range(20):  # its queue has news all the time
        line.run(100)
        line.look()
    line.run()
    assert all("the first is <team/third>" in text for text in texts_of(line, "gang")[1:])
    assert len(texts_of(line, "gang")) == 2
    assert "the first is <team/third>" in line.sentence()


def test_a_group_whose_member_was_deleted_waits_for_what_another_one_asks() -> None:
    """It is no gang, so its sentence is that of one of its pods."""
    group = a_group("g").in_queue("queue").of(1)
    first = waiting("a", 4).in_group("g").created("2026-01-01T00:00:00Z")
    line = WaitingGroups(FOUR, HOLDER, group, first, waiting("b", 2).in_group("g"))
    line.look()
    line.run()
    assert "requested <4>" in texts_of(line, "g")[0]
    line.ledger.pod_gone("uid-a")
    line.look()
    line.run(HALF_AN_HOUR)
    assert "requested <2>" in texts_of(line, "g")[-1]
    assert "number <1> of <1>" in texts_of(line, "g")[-1]
    assert len(texts_of(line, "g")) == 2


def test_a_group_that_asks_for_something_else_is_told_anew() -> None:
    line = WaitingGroups(FOUR, HOLDER, GROUP)
    line.look()
    line.run()
    line.change(GROUP.asking({H200: 2}).at_revision(2))
    (text,) = line.run(1)
    assert "requested <2>" in text
    line.look()
    assert line.run(60) == []


def test_a_group_that_waits_no_more_is_told_nothing() -> None:
    line = WaitingGroups(FOUR, HOLDER, GROUP)
    line.look()
    line.run()
    line.conditions.forget("team/gang")
    assert line.run(HALF_AN_HOUR) == []
    assert not line.reports.is_known("team/gang")
