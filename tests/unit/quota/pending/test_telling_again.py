"""Pods that were told why they wait are told once more, each by itself (section 9)."""

import pytest

from builders import CARDS, H200, a_group, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.accounts import Account
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Refusal, next_refusals, release_cycle

FULL = a_queue("red").with_quota({H200: 0})


def waiting(name: str) -> PodBody:
    return a_pod(name).in_queue("red").naming(H200).asking_for(1).gated()


def account_of(ledger: Ledger) -> Account:
    found = ledger.account("red")
    assert found is not None
    return found


def told(ledger: Ledger) -> list[Refusal]:
    """All that are to be told now."""
    found: list[Refusal] = []
    while (some := next_refusals(ledger, account_of(ledger))) is not None:
        found += some
    return found


def look(ledger: Ledger) -> list[Refusal]:
    list(release_cycle(ledger, account_of(ledger)))
    return told(ledger)


def names(refusals: list[Refusal]) -> list[str]:
    return [record.facts.name for refusal in refusals for record in refusal.pods]


def again(ledger: Ledger, *pods: str) -> None:
    for name in pods:
        account_of(ledger).pending.tell_again(ledger.pods[f"uid-{name}"])


def test_only_those_of_a_class_who_are_to_be_told_again() -> None:
    ledger = a_ledger(*CARDS, FULL, *(waiting(name) for name in "abcd"))
    assert names(look(ledger)) == ["a", "b", "c", "d"]
    again(ledger, "b", "d")
    assert names(told(ledger)) == ["b", "d"]
    assert told(ledger) == []


def test_in_the_words_of_now() -> None:
    ledger = a_ledger(*CARDS, FULL, waiting("a"))
    look(ledger)
    see(ledger, FULL.with_quota({H200: 1}).at_revision(2))
    see(ledger, a_pod("other").in_queue("red").naming(H200).asking_for(1).stamped("red", {H200: 1}))
    look(ledger)
    again(ledger, "a")
    (refusal,) = told(ledger)
    assert "total would be <2>, but capability is <1>" in refusal.verdict.text


def test_one_that_is_tried_anyway_is_told_then() -> None:
    ledger = a_ledger(*CARDS, FULL, waiting("a"), waiting("b"))
    look(ledger)
    see(ledger, waiting("c"))
    again(ledger, "a")
    assert told(ledger) == []
    assert sorted(names(look(ledger))) == ["a", "c"]


def test_one_that_was_not_reached_yet_is_told_once() -> None:
    ledger = a_ledger(*CARDS, FULL, *(waiting(f"p{n:02}") for n in range(40)))
    list(release_cycle(ledger, account_of(ledger)))
    first = next_refusals(ledger, account_of(ledger)) or []
    assert len(names(first)) == 32
    again(ledger, "p00", "p39")
    assert sorted(names(told(ledger))) == ["p00", *(f"p{n:02}" for n in range(32, 40))]


def test_one_that_waits_behind_another_is_told_so_again() -> None:
    """Who may go is found by a pass alone."""
    queue = FULL.with_quota({H200: 1}).fifo()
    big, small = waiting("big").created("2020-01-01T00:00:00Z"), waiting("a").with_cpu("1")
    other = a_pod("other").in_queue("red").naming(H200).asking_for(1).stamped("red", {H200: 1})
    ledger = a_ledger(*CARDS, queue, other, big, small)
    look(ledger)
    again(ledger, "a")
    reasons = [refusal.verdict.reason for refusal in (*told(ledger), *look(ledger))]
    assert reasons == [Reason.BEHIND]


@pytest.mark.parametrize("gone", [True, False])
def test_one_that_does_not_wait_is_told_nothing(*, gone: bool) -> None:
    ledger = a_ledger(*CARDS, FULL, waiting("a"))
    look(ledger)
    record = ledger.pods["uid-a"]
    ledger.pod_gone("uid-a") if gone else see(ledger, waiting("a").ungated().at_revision(2))
    account_of(ledger).pending.tell_again(record)
    assert told(ledger) == []


def test_a_group_that_waits_to_be_enqueued_is_told_again_when_its_queue_changes() -> None:
    group = a_group("g").in_queue("red").of(2).asking({H200: 3})
    ledger = a_ledger(*CARDS, FULL, group)
    (first,) = look(ledger)
    see(ledger, FULL.with_quota({H200: 2}).at_revision(2))
    (second,) = look(ledger)
    assert "capability is <0>" in first.verdict.text
    assert "capability is <2>" in second.verdict.text
    assert look(ledger) == []


def all_again(ledger: Ledger) -> None:
    for _ in account_of(ledger).pending.tell_all_again():
        pass


def test_all_who_wait_when_a_term_begins_are_told_again() -> None:
    group = a_group("g").in_queue("red").of(2).asking({H200: 3})
    small = waiting("small").with_cpu("1")
    ledger = a_ledger(*CARDS, FULL, group, small, *(waiting(f"p{n:02}") for n in range(40)))
    look(ledger)
    all_again(ledger)
    found = told(ledger)
    assert sorted(names(found)) == [*(f"p{n:02}" for n in range(40)), "small"]
    assert [one.gang.key for one in found if one.gang is not None] == ["team/g"]
    assert told(ledger) == []


def test_who_is_tried_first_and_who_comes_then_is_told_once() -> None:
    ledger = a_ledger(*CARDS, FULL, waiting("a"), waiting("b"))
    look(ledger)
    see(ledger, waiting("c"))
    all_again(ledger)
    see(ledger, waiting("d"))
    assert names(look(ledger)) == ["a", "b", "c", "d"]


def test_who_goes_between_two_steps_is_told_nothing() -> None:
    group = a_group("g").in_queue("red").of(2).asking({H200: 3})
    ledger = a_ledger(*CARDS, FULL, group, waiting("a"), waiting("b").with_cpu("1"))
    look(ledger)
    steps = account_of(ledger).pending.tell_all_again()
    next(steps)
    ledger.pod_gone("uid-b")
    ledger.group_gone("team/g")
    for _ in steps:
        pass
    assert names(told(ledger)) == ["a"]


def test_a_group_that_waits_is_told_again() -> None:
    """One to be enqueued, and one that starts whole, by its first pod; others have no place."""
    asks = a_group("asks").in_queue("red").of(2).asking({H200: 3})
    whole = a_group("whole").in_queue("red").of(2)
    members = [waiting(name).in_group("whole") for name in "ab"]
    ledger = a_ledger(*CARDS, FULL, asks, whole, *members, a_group("other").in_queue("red").of(2))
    look(ledger)
    pending, groups = account_of(ledger).pending, ledger.groups
    assert pending.tell_group_again(groups["team/asks"])
    assert pending.tell_group_again(groups["team/whole"])
    assert not pending.tell_group_again(groups["team/other"])
    found = told(ledger)
    assert [one.gang.key for one in found if one.gang is not None] == ["team/asks", "team/whole"]
    assert names(found) == ["a"]
