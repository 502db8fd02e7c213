"""T5: a new leader goes on counting from what the status of a queue says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import CARDS, H200, H800, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import vocabulary as v
from cardquota.quota.accounts.card_seconds import MOST_SECONDS, CardSeconds
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.moments import moment_text
from cardquota.quota.reports.queue_report import report
from cardquota.quota.steps import to_its_end

EPOCH = 1_800_000_000_000
"""The time of day at which these stories begin, milliseconds."""
LONGEST = 600_000


def at(seconds: float) -> str:
    """A time of day, so many seconds into the story."""
    return moment_text(EPOCH + int(seconds * 1000))


class OneTerm:
    """One term over a ledger, on clocks that a test sets."""

    def __init__(self, ledger: Ledger, began: float, renewed: float | None = None) -> None:
        self.ledger = ledger
        self.now = 77_000
        """Its own clock has nothing to do with the time of day."""
        self._steps = ledger.card_metering.begin(
            lambda: self.now,
            EPOCH + int(began * 1000),
            renewed=None if renewed is None else EPOCH + int(renewed * 1000),
            longest=LONGEST,
        )

    def begun(self) -> "OneTerm":
        to_its_end(self._steps)
        return self

    def a_step(self) -> None:
        next(self._steps)

    def passes(self, seconds: float) -> "OneTerm":
        self.now += int(seconds * 1000)
        return self

    def seconds(self, card: str = H200, queue: str = "queue") -> int | None:
        found = report(self.ledger, queue)
        assert found is not None
        return {row.name: row.seconds for row in found.cards}.get(card)


def running(name: str, cards: int, bound: float | None, card: str = H200) -> PodBody:
    pod = a_pod(name).in_queue("queue").with_cpu("4").stamped("queue", {card: cards})
    return pod.on_node("n", None if bound is None else at(bound))


def counted(seconds: object, allocated: object = 0, until: float = 0) -> QueueBody:
    queue = a_queue().with_quota({H200: 100, H800: 100})
    return queue.having_counted(H200, seconds, allocated, at(until))


def count_of(ledger: Ledger) -> CardSeconds | None:
    account = ledger.account("queue")
    assert account is not None
    return account.card_seconds


def complete(ledger: Ledger) -> bool:
    counting = count_of(ledger)
    return counting is not None and counting.complete


def test_who_does_not_lead_counts_nothing() -> None:
    ledger = a_ledger(counted(5), running("a", 2, 0))
    account = ledger.account("queue")
    assert account is not None
    assert account.card_seconds is None
    found = report(ledger, "queue", at(9))
    assert found is not None
    assert (found.seconds_until, found.cards[0].seconds) == ("", None)


def test_a_term_begins_and_ends() -> None:
    ledger = a_ledger(counted(5, 2), running("a", 2, 0))
    term = OneTerm(ledger, 10).begun().passes(1)
    assert term.seconds() == 5 + 2 * 11
    found = report(ledger, "queue", at(11))
    assert found is not None
    assert found.seconds_until == at(11)
    ledger.card_metering.end()
    assert term.seconds() is None
    see(ledger, a_queue("later").with_quota({H200: 1}))
    later = ledger.account("later")
    assert later is not None
    assert later.card_seconds is None


def test_what_volcano_takes_away_is_remembered_by_whoever_has_seen_it() -> None:
    """With our definition of Queues beside Volcano: it writes its own status over ours."""
    ours = counted(5, 2).put(3, "status", "observedGeneration")
    bare = a_queue().put({"state": "Open", "allocated": {"cpu": "1"}}, "status")
    wiped = bare.with_quota({H200: 100, H800: 100}).at_revision(900)
    ledger = a_ledger(ours, running("a", 2, 0))
    see(ledger, wiped)
    assert OneTerm(ledger, 10).begun().seconds() == 5 + 2 * 10
    unreadable = bare.annotated(v.QUOTA, "{").at_revision(901)
    ledger = a_ledger(ours, running("a", 2, 0))
    see(ledger, unreadable)
    account = ledger.account("queue")
    assert account is not None
    assert account.quota == {H200: 100, H800: 100}


def test_but_not_of_another_queue_of_that_name() -> None:
    ours = counted(5, 2).put(3, "status", "observedGeneration")
    another = a_queue().with_uid("another").with_quota({H200: 100}).at_revision(900)
    ledger = a_ledger(ours, running("a", 2, 0))
    see(ledger, another)
    account = ledger.account("queue")
    assert account is not None
    assert account.facts is not None
    assert (account.facts.recorded, account.facts.counted) == ({}, {})


PODS = st.lists(
    st.tuples(st.integers(1, 8), st.integers(-100, 150), st.integers(1, 200)), max_size=12
)
"""Cards, when bound, and for how long it runs, seconds; the last write is at 0."""


@given(PODS, st.integers(0, 60), st.integers(0, 60), st.integers(0, 40))
def test_it_is_what_is_held_and_what_was_held_when_the_last_leader_lived(
    pods: list[tuple[int, int, int]], lived: int, alone: int, goes_on: int
) -> None:
    """Against a plain sum over the pods; lost is only who came and went without being written."""
    begins = lived + alone
    before = sum(n * (min(0, bound + ran) - bound) for n, bound, ran in pods if bound < 0)
    written = sum(n for n, bound, ran in pods if bound <= 0 < bound + ran)
    expected = before
    there = []
    for number, (n, bound, ran) in enumerate(pods):
        if bound > begins:
            continue
        if bound + ran > begins:
            there.append(running(f"p{number}", n, bound))
            expected += n * (begins - max(bound, 0) + goes_on)
        elif bound <= 0 < bound + ran:
            expected += n * lived
    ledger = a_ledger(counted(before, written), *there)
    assert OneTerm(ledger, begins, lived).begun().passes(goes_on).seconds() == expected


def test_changes_count_from_when_they_come() -> None:
    ledger = a_ledger(counted(0), running("a", 1, 0))
    term = OneTerm(ledger, 0).begun().passes(10)
    see(ledger, running("b", 3, 10), running("c", 1, 10, H800))
    term.passes(10)
    ledger.pod_gone("uid-a")
    see(ledger, running("c", 1, 10, H800).in_phase("Succeeded").at_revision(9))
    term.passes(5)
    assert term.seconds() == 20 + 3 * 15
    assert term.seconds(H800) == 10


def test_a_queue_without_a_count_begins_with_none() -> None:
    """As after an upgrade, and where the definition of Queues drops our fields."""
    ledger = a_ledger(a_queue().with_quota({H200: 9}), running("a", 2, -500))
    assert OneTerm(ledger, 100, 99).begun().passes(3).seconds() == 6


def test_a_queue_that_comes_later_and_one_that_goes() -> None:
    ledger = a_ledger(running("a", 2, 0))
    term = OneTerm(ledger, 50).begun()
    see(ledger, a_queue().with_quota({H200: 9}))
    assert term.passes(4).seconds() == 8
    see(ledger, a_queue().with_quota({H200: 8}).at_revision(2))
    assert term.passes(1).seconds() == 10
    ledger.queue_gone("queue")
    account = ledger.account("queue")
    assert account is not None
    assert account.card_seconds is None
    see(ledger, a_queue().with_quota({H200: 9}).at_revision(3))
    assert term.passes(1).seconds() == 2


def test_another_queue_of_the_name_counts_anew() -> None:
    ledger = a_ledger(counted(500), running("a", 2, 0))
    term = OneTerm(ledger, 0).begun()
    other = a_queue().with_quota({H200: 9}).put("another", "metadata", "uid").at_revision(5)
    see(ledger, other)
    assert term.passes(1).seconds() == 2


def test_who_has_no_time_of_binding_counts_from_creation_or_the_last_write() -> None:
    """Somebody made it with its node, so it was bound when it was created."""
    born = running("a", 2, None).put(at(4), "metadata", "creationTimestamp")
    unborn = running("b", 1, None).put("?", "metadata", "creationTimestamp")
    assert OneTerm(a_ledger(counted(0, 1), born, unborn), 10).begun().seconds() == 2 * 6 + 10


def test_clocks_that_differ_take_nothing_away() -> None:
    """What is written, bound or renewed later than now, by another clock."""
    ahead = a_ledger(counted(100, 3, until=30), running("a", 2, 40), running("b", 1, 5))
    assert OneTerm(ahead, 10, 60).begun().passes(1).seconds() == 103
    renewed_before = a_ledger(counted(100, 2, until=5))
    assert OneTerm(renewed_before, 10, 3).begun().seconds() == 100
    renewed_after = a_ledger(counted(100, 2, until=5))
    assert OneTerm(renewed_after, 10, 1_000).begun().seconds() == 110


def test_what_is_gone_counts_no_longer_than_a_write_may_be_old() -> None:
    ledger = a_ledger(counted(0, 1, until=-1_000_000))
    assert OneTerm(ledger, 10, 9).begun().seconds() == LONGEST // 1000
    unknown = a_ledger(counted(0, 1, until=0))
    assert OneTerm(unknown, 10, None).begun().seconds() == 0


def test_who_was_bound_in_the_moment_of_the_last_write_counts_once() -> None:
    ledger = a_ledger(counted(0, 2), running("a", 2, 0))
    assert OneTerm(ledger, 10, 5).begun().seconds() == 2 * 10


def test_who_waits_or_is_let_through_holds_nothing_yet() -> None:
    waits = a_pod("a").in_queue("queue").naming(H200).asking_for(3).gated()
    let_through = a_pod("b").in_queue("queue").stamped("queue", {H200: 2})
    ledger = a_ledger(*CARDS, counted(0), waits, let_through)
    assert OneTerm(ledger, 10, 0).begun().passes(1).seconds() == 0


MONTHS = 90 * 86_400


def test_who_came_to_an_idle_queue_while_nobody_led_counts_from_the_last_renewal() -> None:
    """Its last write is months old, and the pod was bound before: it was another queue's then."""
    idle, moved = counted(7, 0, until=-MONTHS), running("a", 2, -2 * MONTHS)
    assert OneTerm(a_ledger(idle, moved), 10, 4).begun().passes(1).seconds() == 7 + 2 * 7
    assert OneTerm(a_ledger(idle, moved), 10, None).begun().passes(1).seconds() == 7 + 2
    assert OneTerm(a_ledger(idle, moved), 10, 1_000).begun().passes(1).seconds() == 7 + 2


def test_who_came_beside_those_that_were_there_counts_alone_from_the_last_renewal() -> None:
    there, moved = running("a", 2, -900), running("b", 3, -900)
    ledger = a_ledger(counted(0, 2, until=-800), there, moved)
    assert OneTerm(ledger, 10, 0).begun().seconds() == 2 * 810 + 3 * 10


def test_a_card_that_is_another_one_meanwhile_is_not_counted_twice() -> None:
    queue = counted(0).having_counted(H800, 0, 2, at(-100))
    term = OneTerm(a_ledger(queue, running("a", 2, -200)), 10, 0).begun()
    assert (term.seconds(H800), term.seconds(H200)) == (2 * 100, 2 * 10)


def test_card_memory_is_taken_over_in_full() -> None:
    """Sixty cards of 32 GiB are almost two million MiB."""
    card, held = "NVIDIA-A10/gpu-mem", 60 * 32_552
    queue = a_queue().with_quota({card: held}).having_counted(card, 0, held, at(0))
    assert OneTerm(a_ledger(queue), 10, 10).begun().seconds(card) == 10 * held


@pytest.mark.parametrize(
    ("seconds", "taken"),
    [
        *((-5, 0), (None, 0), ("many", 0), (1.5, 0), (True, 0), ([7], 0)),
        *((10**30, MOST_SECONDS), (7, 7)),
    ],
)
def test_a_count_that_somebody_has_changed_is_taken_within_bounds(
    seconds: object, taken: int
) -> None:
    ledger = a_ledger(counted(seconds, allocated="much"))
    assert OneTerm(ledger, 10, 9).begun().seconds() == taken


@pytest.mark.parametrize("until", ["", "yesterday", 7, "2026-01-01", "x" * 999, {"a": 1}])
def test_a_time_that_says_nothing_means_now(until: Any) -> None:
    queue = a_queue().with_quota({H200: 9}).having_counted(H200, 40, 2, until)
    term = OneTerm(a_ledger(queue, running("a", 2, 0)), 10, 9).begun()
    assert term.passes(1).seconds() == 42


def test_what_comes_and_goes_while_a_term_begins() -> None:
    queues = [a_queue(f"q{n}").with_quota({H200: 1}) for n in range(3)]
    ledger = a_ledger(*queues, counted(7, 3), running("a", 2, 0), running("b", 1, 0))
    term = OneTerm(ledger, 10)
    term.a_step()
    ledger.queue_gone("q2")
    see(ledger, a_queue("q3").with_quota({H200: 1}))
    while count_of(ledger) is None:
        term.a_step()
    assert not complete(ledger)
    ledger.pod_gone("uid-b")
    term.begun()
    assert complete(ledger)
    assert term.passes(1).seconds() == 7 + 2 * 11 + 10
    assert term.seconds(queue="q3") == 0


def test_cards_outside_the_quota_count_while_they_have_a_row() -> None:
    queue = counted(0, 1).having_counted("made-up", 0, 2)
    ledger = a_ledger(queue, running("a", 2, 0, "made-up"), running("b", 1, 0))
    term = OneTerm(ledger, 5).begun()
    assert term.seconds("made-up") == 10
    ledger.pod_gone("uid-a")
    assert term.seconds("made-up") is None
