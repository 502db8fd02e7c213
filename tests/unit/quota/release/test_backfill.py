"""E6: what frees is set aside for who has waited too long; others pass that take nothing of it."""

from collections.abc import Iterator
from datetime import datetime
from itertools import count

import pytest

from builders import H200, H800, a_group, a_pod, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota import Reason, Stamp
from cardquota.quota.ledger import Ledger
from cardquota.quota.pending import Asked, Candidate, long_waits
from cardquota.quota.release import Opening, ReleasePass, Starvation, set_aside

from ..counting import counted_calls
from ..releasing import a_cluster, later, names, release, waiting

RED = a_queue("red").with_quota({H200: 4, H800: 4})
LATER = datetime.fromisoformat("2026-02-01T00:00:00Z").timestamp()
LONG = Starvation(LATER + 60, 3600)
"""Pods of January have waited too long, those of February have not."""
EITHER = f"{H200}|{H800}"
OTHER_WAY = f"{H800}|{H200}"


def holds(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return waiting(name, cards, card).stamped("red", {card: cards}).on_node("n")


def gang_of(*members: PodBody, name: str = "gang") -> list[PodBody]:
    return [member.in_group(name) for member in members]


def big(size: int = 4, card: str = H200) -> list[PodBody]:
    return gang_of(*(waiting(f"m{number}", 1, card) for number in range(size)))


BIG = (a_group("gang").in_queue("red").of(4), *big())


def as_written(ledger: Ledger, group: GroupBody) -> GroupBody:
    """With what is reserved for it, as its watch brings it."""
    reserved = ledger.groups["team/gang"].reservation
    assert reserved is not None
    return group.reserving("red", dict(reserved.amounts), "t", reserved.request).at_revision(99)


def ends(ledger: Ledger, *pods: str) -> None:
    for name in pods:
        ledger.pod_gone(f"uid-{name}")


def opened(ledger: Ledger, starvation: Starvation | None = LONG) -> list[list[str]]:
    return release(ledger, "red", starvation)[0]


def running(number: int) -> list[PodBody]:
    return [holds(f"r{one}") for one in range(number)]


def a_stream(ledger: Ledger, rounds: int, starvation: Starvation | None) -> int | None:
    """One pod ends in each round, and another small one comes. In which round the gang starts."""
    names_ = count()
    runs = [f"r{one}" for one in range(4)]
    for round_ in range(rounds):
        see(ledger, later(waiting(f"small-{next(names_)}")))
        ends(ledger, runs.pop(0))
        for found in opened(ledger, starvation):
            if "m0" in found:
                return round_
            runs += found
    return None


def test_a_gang_that_has_waited_too_long_starts_when_as_many_cards_have_freed_as_it_needs() -> None:
    assert a_stream(a_cluster(RED, *BIG, *running(4)), 40, LONG) == 3


def test_without_the_setting_small_pods_starve_it() -> None:
    assert a_stream(a_cluster(RED, *BIG, *running(4)), 40, None) is None


def test_a_gang_that_has_not_waited_long_enough_is_passed() -> None:
    early = Starvation(LATER + 60, 3600 * 24 * 365)
    assert a_stream(a_cluster(RED, *BIG, *running(4)), 40, early) is None


def test_a_large_pod_is_not_starved_either() -> None:
    ledger = a_cluster(RED, *running(2), waiting("large", 4), later(waiting("small")))
    assert opened(ledger) == []
    ends(ledger, "r0", "r1")
    assert opened(ledger) == [["large"]]


def test_what_the_gang_does_not_need_is_free_to_those_behind_it() -> None:
    queue = a_queue("red").with_quota({H200: 6, H800: 6})
    gang = gang_of(*(waiting(f"a{n}") for n in range(3)), waiting("b", 4, H800))
    ledger = a_cluster(
        queue,
        a_group("gang").in_queue("red").of(4),
        *gang,
        holds("held", 4, H800),
        later(waiting("takes-three", 3)),
        later(waiting("would-delay", 1)),
        later(waiting("would-delay-too", 1, H800)),
    )
    # Of H200 the gang needs three of six; of H800 four, and two are free.
    assert opened(ledger) == [["takes-three"]]


def test_who_comes_before_the_gang_does_not_wait_for_it() -> None:
    first = later(waiting("first")).with_priority(9)
    ledger = a_cluster(RED, *BIG, *running(3), first)
    assert opened(ledger) == [["first"]]


def test_who_can_never_fit_holds_nothing() -> None:
    ledger = a_cluster(RED, *BIG, *running(2), later(waiting("small")))
    assert opened(ledger) == []
    see(ledger, RED.with_quota({H200: 3, H800: 4}))
    assert opened(ledger) == [["small"]]


@pytest.mark.parametrize("going", ["deleted", "started", "moved"])
def test_those_behind_go_when_nothing_is_set_aside_any_more(going: str) -> None:
    ledger = a_cluster(RED, *BIG, *running(3), later(waiting("small")))
    assert opened(ledger) == []
    if going == "deleted":
        ends(ledger, *(f"m{n}" for n in range(4)))
    elif going == "moved":
        see(ledger, a_group("gang").in_queue("blue").of(4))
    else:
        ends(ledger, "r0", "r1", "r2")
        assert opened(ledger) == [["m0", "m1", "m2", "m3"]]
        ends(ledger, "m0", "m1", "m2", "m3")
        ledger.group_gone("team/gang")
    assert opened(ledger) == [["small"]]


def test_several_that_have_waited_too_long_set_aside_each_in_turn() -> None:
    ledger = a_cluster(
        RED,
        waiting("a-first", 4),
        holds("one"),
        waiting("b-second", 4, H800),
        holds("two", 1, H800),
        later(waiting("small")),
        later(waiting("small-too", 1, H800)),
    )
    assert opened(ledger) == []
    ends(ledger, "two")
    assert opened(ledger) == [["b-second"]]


def test_a_group_that_waits_to_be_enqueued_is_not_starved() -> None:
    group = a_group("gang").in_queue("red").of(4).asking({H200: 4})
    assert opened(a_cluster(RED, group, *running(2), later(waiting("small"))), None) == [["small"]]
    ledger = a_cluster(RED, group, *running(2), later(waiting("small")))
    assert opened(ledger) == []
    ends(ledger, "r0", "r1")
    assert opened(ledger) == [["team/gang"]]


def test_what_is_reserved_for_a_member_is_not_set_aside_twice() -> None:
    """A started gang lost a member; another card of it is needed for the larger one that came."""
    group = a_group("gang").in_queue("red").of(2).reserving("red", {H200: 2}, "t")
    kept = holds("kept").in_group("gang")
    ledger = a_cluster(
        RED,
        group,
        kept,
        waiting("large", 3).in_group("gang"),
        holds("r0"),
        later(waiting("small")),
    )
    # Held are two, reserved is one more; the last is part of the two that are needed beside it.
    assert opened(ledger) == []
    ends(ledger, "r0")
    assert opened(ledger) == [["large"]]


@pytest.mark.parametrize(("wanted", "got"), [(H200, []), (f"{H200}|XPU-9", [["small"]])])
def test_i1_what_is_reserved_for_one_who_waits_is_free_to_nobody(
    wanted: str, got: list[list[str]]
) -> None:
    """Though its pods ask for something else now: it is replaced when they start, not before."""
    red = a_queue("red").with_quota({H200: 3, H800: 2, "XPU-9": 1}).with_policy("Gate")
    group = a_group("gang").in_queue("red").of(2).asking({H200: 3})
    ledger = a_cluster(red, holds("one", 1, H800), group)
    assert opened(ledger) == [["team/gang"]]
    see(ledger, as_written(ledger, group))
    see(ledger, *gang_of(waiting("m0", 2, H800), waiting("m1", 1, EITHER)))
    see(ledger, later(waiting("small", 1, wanted)))
    assert opened(ledger) == got
    account = ledger.account("red")
    assert account is not None
    assert {card: account.row(card).charged for card in (H200, H800)} == {H200: 3, H800: 1}


def test_what_is_reserved_for_one_who_waits_is_not_set_aside_twice() -> None:
    red = a_queue("red").with_quota({H200: 3, H800: 3}).with_policy("Gate")
    group = a_group("gang").in_queue("red").of(2).asking({EITHER: 2, H800: 1})
    ledger = a_cluster(red, holds("one", 1, H800), group)
    assert opened(ledger) == [["team/gang"]]
    see(ledger, as_written(ledger, group))
    see(ledger, *gang_of(waiting("m0", 3, H800), waiting("m1", 1, EITHER)))
    see(ledger, *(later(waiting(f"small-{n}", 1)) for n in range(4)))
    assert opened(ledger) == [["small-0"]]


@pytest.mark.parametrize("card", [H200, EITHER])
def test_those_behind_are_tried_again_when_he_asks_for_something_else(card: str) -> None:
    """A member that asked for much is replaced by one that asks for little."""
    red = a_queue("red").with_quota({H200: 4}).with_policy("Gate")
    group = a_group("gang").in_queue("red").of(2)
    much = gang_of(waiting("m0", 3, card), waiting("m1", 1, H200))
    small = later(waiting("small", 1, H200))
    ledger = a_cluster(red, group, *much, holds("r0", 2), small)
    assert opened(ledger) == []
    ends(ledger, "m0")
    assert opened(ledger) == [["small"]]
    see(ledger, later(waiting("small-too", 1, H200)), *gang_of(waiting("m2", 1, card)))
    assert opened(ledger) == []
    ends(ledger, "small")
    assert opened(ledger) == [["m1", "m2"]]


def test_what_those_asked_for_that_are_gone_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_waits, "LAST_KEPT", 3)
    ledger = a_cluster(RED, holds("r0"))
    account = ledger.account("red")
    assert account is not None
    for n in range(12):
        see(ledger, waiting(f"old-{n}", 4).with_cpu(str(n)), later(waiting(f"x-{n}", 4, H800)))
        opened(ledger)
        ends(ledger, f"old-{n}", f"x-{n}")
    kept = account.pending.inadmissible.long_waits._asked_last  # noqa: SLF001 - only memory shows it
    assert len(kept) <= 3


def test_who_has_lost_its_place_sets_nothing_aside() -> None:
    ledger = a_cluster(RED, *BIG, *running(2), later(waiting("small")))
    ledger.decisions.lose_place("team/gang")
    assert opened(ledger) == [["small"]]


def test_in_a_fifo_queue_the_order_holds_whatever_the_wait() -> None:
    ledger = a_cluster(RED.fifo(), *BIG, *running(2), later(waiting("small")))
    assert opened(ledger, None) == []
    see(ledger, RED)
    assert opened(ledger) == []
    see(ledger, RED.fifo())
    assert opened(ledger) == []
    ends(ledger, "m0", "m1", "m2", "m3")
    assert opened(ledger) == [["small"]]


def test_those_behind_are_told_behind_whom_they_wait() -> None:
    ledger = a_cluster(RED, *BIG, *running(3), later(waiting("small")))
    foreign = later(a_pod("foreign").in_queue("red").naming(H200).asking_for(1).gated())
    see(ledger, foreign.in_namespace("elsewhere"))
    _, refusals = release(ledger, "red", LONG)
    told = {one.pods[0].facts.name: one.verdict for one in refusals if len(one.pods) == 1}
    assert told["small"].reason is Reason.BEHIND
    assert told["small"].text == (
        "Queue <red> keeps what is free for group <team/gang>, which comes before this pod "
        f"and has waited <44641> min for <{H200}> <4>; this pod would take some of that; wait, or "
        "ask the queue's owner for a higher quota"
    )
    assert "for a group, which" in told["foreign"].text


def test_they_are_told_anew_when_it_has_started_and_taken_everything() -> None:
    ledger = a_cluster(RED, *BIG, *running(3), later(waiting("small")))
    release(ledger, "red", LONG)
    ends(ledger, "r0", "r1", "r2")
    found, refusals = release(ledger, "red", LONG)
    assert found == [["m0", "m1", "m2", "m3"]]
    assert [(names([one]), one.verdict.reason) for one in refusals] == [
        ([["small"]], Reason.INSUFFICIENT_CARD)
    ]


def test_no_more_than_so_many_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_aside, "MOST_SET_ASIDE", 1)
    ledger = a_cluster(
        RED,
        waiting("a-first", 4),
        holds("one"),
        waiting("b-second", 4, H800),
        holds("two", 1, H800),
        later(waiting("small-too", 1, H800)),
    )
    assert opened(ledger) == [["small-too"]]


def test_cpu_is_set_aside_like_cards() -> None:
    """A pod without a card waits for cpu; who asks for none goes past it."""
    large = a_pod("large").in_queue("red").with_cpu("4").gated()
    held = holds("held").with_cpu("2")
    behind = later(waiting("small").with_cpu("1")), later(waiting("small-too"))
    ledger = a_cluster(RED.limited_to(cpu="4"), large, held, *behind)
    assert opened(ledger) == [["small-too"]]
    ends(ledger, "held")
    assert opened(ledger) == [["large"]]


def test_who_waits_for_a_card_that_nobody_knows_any_more_holds_nothing() -> None:
    other = a_queue("other").with_quota({"XPU-9": 1})
    large = waiting("large", 4, f"{H200}|XPU-9")
    ledger = a_cluster(other, RED, large, holds("r0"), later(waiting("small")))
    assert opened(ledger) == []
    see(ledger, other.with_quota({}))
    ends(ledger, "r0")
    see(ledger, holds("r1"))
    assert opened(ledger) == [["small"]]


def test_who_has_waited_too_long_is_judged_anew_when_other_cards_are_known() -> None:
    ledger = a_cluster(RED, *BIG, *running(3), later(waiting("small")))
    assert opened(ledger) == []
    see(ledger, a_queue("other").with_quota({"XPU-9": 1}))
    assert opened(ledger) == []
    see(ledger, later(waiting("smaller")))
    assert opened(ledger) == []


def test_a_group_behind_is_told_too() -> None:
    young = a_group("young").in_queue("red").of(1).asking({H200: 1})
    young = young.created("2026-02-01T00:00:00Z")
    foreign = young.in_namespace("elsewhere")
    ledger = a_cluster(RED, *BIG, *running(3), young, foreign)
    _, refusals = release(ledger, "red", LONG)
    told = {one.gang.key: one.verdict.text for one in refusals if one.gang and not one.pods}
    assert "is free for group <team/gang>" in told["team/young"]
    assert "is free for a group" in told["elsewhere/young"]


def test_where_he_asks_for_a_card_that_nobody_knows_any_more_those_behind_are_looked_at() -> None:
    """Nothing of the queue itself has changed."""
    other = a_queue("other").with_quota({"XPU-9": 1})
    large = waiting("large", 4, f"{H200}|XPU-9")
    ledger = a_cluster(other, RED, large, holds("r0"), later(waiting("small")))
    assert opened(ledger) == []
    ledger.dirty.take_pending()
    see(ledger, other.with_quota({}))
    assert "red" in ledger.dirty.take_pending()
    assert opened(ledger) == [["small"]]


def test_i5_what_each_needs_is_found_in_a_step_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """And once: a pass that is left after it goes on with the next."""
    old = [waiting(f"old-{n}", 4, H200).with_cpu(str(n)).with_priority(-n) for n in range(5)]
    ledger = a_cluster(RED, holds("r0"), *old, later(waiting("small").with_priority(-9)))
    account = ledger.account("red")
    assert account is not None
    found: list[str] = []
    plain = set_aside.SetAside._asked  # noqa: SLF001 - what a step costs is in no result

    def noted(self: set_aside.SetAside, candidate: Candidate) -> Asked:
        found.append(candidate.sort_key.name)
        return plain(self, candidate)

    monkeypatch.setattr(set_aside.SetAside, "_asked", noted)
    for _ in range(60):
        before = len(found)
        next(iter(ReleasePass(ledger, account, starvation=LONG)), None)
        assert len(found) <= before + 1
    assert sorted(found) == [f"old-{n}" for n in range(5)]


@pytest.mark.parametrize("at_a_time", [1, 2, 7])
def test_i5_only_so_many_are_found_to_have_waited_too_long_in_a_step(
    monkeypatch: pytest.MonkeyPatch, at_a_time: int
) -> None:
    """A pass that is left after each step comes to the same end."""
    monkeypatch.setattr(long_waits, "GROWN_AT_A_TIME", at_a_time)
    old = [waiting(f"old-{n}", 4).with_cpu(str(n)).with_priority(-n) for n in range(5)]
    too = waiting("too", 1, H800).with_priority(-9)
    ledger = a_cluster(RED, holds("r0"), *old)
    account = ledger.account("red")
    assert account is not None
    assert opened(ledger, None) == []
    see(ledger, later(waiting("small").with_priority(-9)), later(too))
    found: list[str] = []
    for _ in range(60):
        step = next(iter(ReleasePass(ledger, account, starvation=LONG)), None)
        if charge(ledger, step):
            assert step is not None
            found += [record.facts.name for record, _ in step.pods]
    assert found == ["too"]
    assert account.pending.inadmissible.long_waits.grow_old(LONG.cutoff)


def test_nobody_passes_before_all_are_found_that_have_waited_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The oldest is last in order, so who comes next is not behind him."""
    monkeypatch.setattr(long_waits, "GROWN_AT_A_TIME", 1)
    oldest = waiting("oldest", 4, H800).with_priority(-99).created("2025-12-01T00:00:00Z")
    ledger = a_cluster(RED, holds("r0"), holds("r1", 1, H800), oldest, waiting("old", 4))
    assert opened(ledger, None) == []
    see(ledger, later(waiting("small")))
    assert opened(ledger) == []


def test_i5_what_is_kept_is_set_aside_without_asking_each_time_who_is_next() -> None:
    """To lay all of it once for each of those who wait would cost by their square."""

    def laid(number: int) -> int:
        old = [waiting(f"old-{n}", 4).with_cpu(str(n)).with_priority(-n) for n in range(number)]
        ledger = a_cluster(RED, holds("r0"), *old)
        assert opened(ledger) == []
        see(ledger, later(waiting("small").with_priority(-99)))
        with counted_calls() as calls:
            assert opened(ledger) == []
        return calls["laid"]

    assert laid(30) == laid(3)


def test_no_more_kinds_of_choices_are_set_aside_than_may_be_laid_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    red = a_queue("red").with_quota({H200: 4, H800: 4, "XPU-9": 4}).with_policy("Gate")
    held = holds("one"), holds("two", 1, H800), holds("three", 1, "XPU-9")
    waits = waiting("a-first", 4, EITHER), waiting("b-second", 4, "XPU-9")
    world = red, *held, *waits, later(waiting("small", 1, "XPU-9"))
    assert opened(a_cluster(*world)) == []
    monkeypatch.setattr(set_aside, "MOST_CLAIMS", 1)
    assert opened(a_cluster(*world)) == [["small"]]


def test_one_that_gets_another_place_while_others_are_tried_is_set_aside_once() -> None:
    """A gang that has begun: the more it holds, the later come its other members."""
    group = a_group("gang").in_queue("red").of(4).reserving("red", {H200: 1}, "t")
    large = waiting("large", 3).in_group("gang")
    small = [later(waiting(f"small-{n}", 1, EITHER).with_cpu(str(n))) for n in range(3)]
    ledger = a_cluster(RED, group, holds("kept").in_group("gang"), holds("r0"), large, *small)
    one_pass, steps = a_pass_with_a_holder(ledger)
    see(ledger, holds("more", 2, H800).in_group("gang"))
    for found in steps:
        assert found is None or found.pods[0][1] == ((H800, 1),)
        charge(ledger, found)
    assert len(one_pass._set_aside.holders) == 1  # noqa: SLF001 - laid twice shows only in time


def test_who_comes_before_him_while_others_are_tried_does_not_wait_for_him() -> None:
    ledger = a_cluster(RED, *BIG, *running(3), later(waiting("small")))
    _, steps = a_pass_with_a_holder(ledger)
    see(ledger, later(waiting("urgent").with_priority(9)))
    found = [one for one in steps if charge(ledger, one)]
    assert [record.facts.name for one in found if one for record, _ in one.pods] == ["urgent"]


def test_one_who_is_gone_while_others_are_tried_holds_nothing() -> None:
    ledger = a_cluster(RED, *BIG, *running(3), later(waiting("small")))
    _, steps = a_pass_with_a_holder(ledger)
    ends(ledger, "m0", "m1", "m2", "m3")
    ledger.group_gone("team/gang")
    found = [one for one in steps if charge(ledger, one)]
    assert [record.facts.name for one in found if one for record, _ in one.pods] == ["small"]


def a_pass_with_a_holder(ledger: Ledger) -> tuple[ReleasePass, Iterator[Opening | None]]:
    """A pass that has set something aside, and what is left of it."""
    account = ledger.account("red")
    assert account is not None
    one_pass = ReleasePass(ledger, account, starvation=LONG)
    steps = iter(one_pass)
    while not one_pass._set_aside.holders:  # noqa: SLF001 - in the middle of a pass nothing tells
        assert next(steps) is None
    return one_pass, steps


def charge(ledger: Ledger, found: Opening | None) -> bool:
    for record, cards in found.pods if found is not None else ():
        ledger.decisions.assume(record.facts.uid, Stamp("red", cards, "t"))
    return found is not None
