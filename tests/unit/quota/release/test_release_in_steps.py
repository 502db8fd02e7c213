"""A pass over very many who wait is cut in steps, and those who wait are told bit by bit."""

from itertools import islice
from typing import Any

import pytest

from builders import H200, H800, a_group, a_queue, see
from cardquota.quota import Reason, Stamp
from cardquota.quota.accounts import Account
from cardquota.quota.ledger import Ledger
from cardquota.quota.pending import Candidate
from cardquota.quota.release import (
    Opening,
    Refusal,
    ReleaseJudge,
    Wait,
    next_refusals,
    release_cycle,
)

from ..releasing import GANG, QUEUE, a_cluster, member, names, release, runs, waiting


def red(ledger: Ledger) -> Account:
    account = ledger.account("red")
    assert account is not None
    return account


def told(ledger: Ledger) -> list[Refusal]:
    found: list[Refusal] = []
    while (pieces := next_refusals(ledger, red(ledger))) is not None:
        found += pieces
    return found


def all_of(refusals: list[Refusal]) -> list[str]:
    return [name for piece in names(refusals) for name in piece]


def charge(ledger: Ledger, found: Opening | None) -> list[str]:
    if found is None:
        return []
    if found.gang is not None:
        ledger.decisions.reserve(found.gang.key, "red", "t", found.asked)
    for record, cards in found.pods:
        ledger.decisions.assume(record.facts.uid, Stamp("red", cards, "t"))
    return [record.facts.name for record, _ in found.pods]


def left_after_every_step(ledger: Ledger, *, most: int = 5_000) -> list[str]:
    """What opens if each pass is left after its first step, and the next one begins anew."""
    opened: list[str] = []
    for _ in range(most):
        steps = list(islice(release_cycle(ledger, red(ledger)), 1))
        if not steps:
            return opened
        opened += charge(ledger, steps[0])
    raise AssertionError("it never comes to an end")


def unlike(number: int, card: str = H200, first: str = "p") -> list[Any]:
    return [waiting(f"{first}{n:03}", 1, card).with_cpu(f"{n + 1}m") for n in range(number)]


@pytest.mark.parametrize("fifo", [False, True])
def test_e6_it_may_be_left_after_any_step(fifo: bool) -> None:
    def world() -> Ledger:
        queue = QUEUE.fifo() if fifo else QUEUE
        big = waiting("a-big", 9, H800).created("2025-01-01T00:00:00Z")
        gangs = [a_group(f"g{n}").in_queue("red").of(2) for n in range(80)]
        pairs = [waiting(f"g{n}-{x}").in_group(f"g{n}") for n in range(80) for x in "ab"]
        return a_cluster(queue, *gangs, *unlike(200), *pairs, *unlike(20, H800, "h"), big)

    whole = [name for names_ in release(world())[0] for name in names_]
    assert left_after_every_step(world()) == whole
    assert len(whole) == (5 if fifo else 6)


LONG_AGO = "2025-01-01T00:00:00Z"


def judged(monkeypatch: pytest.MonkeyPatch) -> list[Candidate]:
    found: list[Candidate] = []
    plain = ReleaseJudge.judge

    def noted(self: ReleaseJudge, one: Candidate) -> Opening | Wait:
        found.append(one)
        return plain(self, one)

    monkeypatch.setattr(ReleaseJudge, "judge", noted)
    return found


def extras(number: int) -> list[Any]:
    return [member(f"m{n:03}").with_cpu(f"{n + 1}m") for n in range(number)]


def test_e2_of_a_gang_that_has_begun_one_that_goes_has_no_other_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gang = [GANG, runs("r1", 1), runs("r2", 1)]
    ledger = a_cluster(QUEUE.with_quota({H200: 52}), *gang, *extras(100))
    found = judged(monkeypatch)
    assert len(release(ledger)[0]) == 50
    assert len(found) == 100
    see(ledger, extras(1)[0].stamped("red", {H200: 1}).on_node("h200-a").at_revision(5))
    see(ledger, member("m060").with_cpu("61m").with_priority(1).at_revision(5))
    found.clear()
    assert release(ledger)[0] == []
    assert len(found) == 1


def with_many_cards(number: int, each: int) -> Ledger:
    """Each with one that has no room, and behind it so many with another choice. And one that goes
    after all of them.
    """
    cards = [f"NVIDIA-A{n:02}" for n in range(number)]
    others = [f"NVIDIA-B{n:02}" for n in range(each)]
    queue = QUEUE.with_quota({H800: 1, **dict.fromkeys([*cards, *others], 2)}).fifo()
    ledger = a_cluster(queue)
    for card in cards:
        see(ledger, waiting(f"held-{card}", 2, card).stamped("red", {card: 2}))
        see(ledger, waiting(card, 2, card))
        see(ledger, *(waiting(f"{card}-{other}", 1, f"{card}|{other}") for other in others))
    see(ledger, waiting("z-held", 1, H800).stamped("red", {H800: 1}), waiting("z", 1, H800))
    return ledger


def test_e6_fifo_who_is_behind_many_cards_is_reached_though_each_cycle_is_left() -> None:
    """Each finds anew who holds up others, however many do: beside that it has to do something."""
    ledger = with_many_cards(12, 6)
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-z-held")
    assert left_after_every_step(ledger, most=12 * 6 + 2) == ["z"]
    ledger.pod_gone("uid-held-NVIDIA-A03")
    freed = ["NVIDIA-A03", *(f"NVIDIA-A03-NVIDIA-B0{n}" for n in range(6))]
    assert left_after_every_step(ledger, most=2 * 12 * 6) == freed


def test_cards_that_become_known_while_some_are_still_being_activated() -> None:
    ledger = a_cluster(*(waiting(f"p{n:03}", 1, f"NVIDIA-A{n}") for n in range(200)))
    release(ledger)
    see(ledger, a_queue("one").with_quota({"NVIDIA-A1": 1}))
    assert next(iter(release_cycle(ledger, red(ledger)))) is None
    see(ledger, a_queue("two").with_quota({"NVIDIA-A2": 1}))
    assert ledger.dirty.pending.take() >= {"red"}
    found = release(ledger)[1]
    assert set(all_of(found)) == {"p001", "p002"}
    assert {refusal.verdict.reason for refusal in found} == {Reason.CARD_NOT_IN_QUOTA}


# --- who is told ----------------------------------------------------------------------------


def test_section_9_a_class_is_told_in_pieces_and_each_of_it_once() -> None:
    ledger = a_cluster(*(waiting(f"p{n:03}", 9) for n in range(100)))
    assert [step for step in release_cycle(ledger, red(ledger)) if step] == []
    found = told(ledger)
    assert [len(refusal.pods) for refusal in found] == [32, 32, 32, 4]
    assert all_of(found) == [f"p{n:03}" for n in range(100)]
    assert {refusal.verdict.text for refusal in found} == {found[0].verdict.text}
    assert list(release_cycle(ledger, red(ledger))) == []
    assert told(ledger) == []


def test_what_all_are_told_is_not_kept_where_too_many_have_to_hear_it() -> None:
    """They are asked again: none of thousands of texts is remembered."""
    ledger = a_cluster(*unlike(100), waiting("held", 3).stamped("red", {H200: 3}))
    list(release_cycle(ledger, red(ledger)))
    pending_notices = red(ledger).pending.pending_notices
    assert len(pending_notices) == 100
    assert pending_notices.kept == 32
    found = told(ledger)
    assert sorted(all_of(found)) == [f"p{n:03}" for n in range(100)]
    assert {refusal.verdict.reason for refusal in found} == {Reason.INSUFFICIENT_CARD}


def test_who_has_to_be_asked_again_is_asked_one_in_each_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many of them fit by now, and so have nothing to hear."""
    ledger = a_cluster(*unlike(200), waiting("held", 3).stamped("red", {H200: 3}))
    list(release_cycle(ledger, red(ledger)))
    see(ledger, waiting("held", 3).stamped("red", {H200: 0}).at_revision(2))
    found, calls = judged(monkeypatch), 0
    while (pieces := next_refusals(ledger, red(ledger))) is not None:
        calls += 1
        assert len(found) <= calls
        assert len(pieces) <= 1
    assert calls >= len(found) == 200 - 32


def test_section_9_a_gang_of_which_a_class_is_gone_is_told_nothing_before_it_is_tried_again() -> (
    None
):
    """Its words were not kept, so it would have to be asked for them."""
    held = waiting("held", 3).stamped("red", {H200: 3})
    gang = [a_group("gang").in_queue("red").of(2), member("z-a", 1), member("z-b", 2)]
    ledger = a_cluster(held, *unlike(40), *gang)
    list(release_cycle(ledger, red(ledger)))
    ledger.pod_gone("uid-z-a")
    assert sorted(all_of(told(ledger))) == [f"p{n:03}" for n in range(40)]
    list(release_cycle(ledger, red(ledger)))
    (refusal,) = told(ledger)
    assert (names([refusal]), refusal.verdict.reason) == ([["z-b"]], Reason.GANG_INCOMPLETE)


def test_those_behind_one_in_fifo_share_what_they_are_told() -> None:
    held = waiting("held", 3).stamped("red", {H200: 3})
    ledger = a_cluster(QUEUE.fifo(), held, *unlike(50))
    list(release_cycle(ledger, red(ledger)))
    assert [len(refusal.pods) for refusal in told(ledger)] == [1, 32, 17]


@pytest.mark.parametrize("inadmissible", [False, True])
def test_a_pass_ends_before_a_gang_that_is_not_to_be_judged(
    inadmissible: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who comes before it is opened; nobody behind it is."""
    judged: list[str] = []
    judge = ReleaseJudge.judge

    def noted(self: ReleaseJudge, candidate: Candidate) -> Opening | Wait:
        if candidate.gang is not None:
            judged.append(candidate.gang.key)
        return judge(self, candidate)

    gang = GANG.created("2026-01-01T00:00:00Z")
    ledger = a_cluster(
        waiting("first").created(LONG_AGO),
        gang,
        member("m1"),
        member("m2"),
        waiting("last").created("2026-06-01T00:00:00Z"),
    )
    if inadmissible:
        see(ledger, waiting("large", 3).stamped("red", {H200: 3}).on_node("h200-a"))
        assert release(ledger)[0] == []
        ledger.pod_gone("uid-large")
    monkeypatch.setattr(ReleaseJudge, "judge", noted)
    opened = [
        name
        for step in release_cycle(ledger, red(ledger), before="team/gang")
        for name in charge(ledger, step)
    ]
    assert (opened, judged) == (["first"], [])
    assert release(ledger)[0] == [["m1", "m2"]]
