"""E6: who has waited too long for room closes its cards to those behind it; all others go on."""

from datetime import datetime
from itertools import count

import pytest

from builders import H200, H800, Body, a_group, a_pod, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Starvation, release_cycle

from ..releasing import a_cluster, later, names, release, waiting

RED = a_queue("red").with_quota({H200: 4, H800: 4})
LATER = datetime.fromisoformat("2026-02-01T00:00:00Z").timestamp()
LONG = Starvation(LATER + 60, 3600)
"""Pods of January have waited too long, those of February have not."""
EITHER = f"{H200}|{H800}"


def holds(name: str, cards: int = 1, card: str = H200) -> PodBody:
    return waiting(name, cards, card).stamped("red", {card: cards}).on_node("n")


def gang_of(*members: PodBody, name: str = "gang") -> list[PodBody]:
    return [member.in_group(name) for member in members]


BIG = (a_group("gang").in_queue("red").of(4), *gang_of(*(waiting(f"m{n}") for n in range(4))))
"""A gang of January that needs four cards."""


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


# --- until when others pass -----------------------------------------------------------------------


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


def test_a_group_that_waits_to_be_enqueued_is_not_starved() -> None:
    group = a_group("gang").in_queue("red").of(4).asking({H200: 4})
    assert opened(a_cluster(RED, group, *running(2), later(waiting("small"))), None) == [["small"]]
    ledger = a_cluster(RED, group, *running(2), later(waiting("small")))
    assert opened(ledger) == []
    ends(ledger, "r0", "r1")
    assert opened(ledger) == [["team/gang"]]


def test_in_a_fifo_queue_the_order_holds_whatever_the_wait() -> None:
    ledger = a_cluster(RED.fifo(), *BIG, *running(2), later(waiting("small")))
    assert opened(ledger, None) == []
    see(ledger, RED)
    assert opened(ledger) == []
    see(ledger, RED.fifo())
    assert opened(ledger) == []
    ends(ledger, "m0", "m1", "m2", "m3")
    assert opened(ledger) == [["small"]]


def test_the_pod_that_replaces_one_of_a_gang_goes_first_and_is_not_passed() -> None:
    """Whenever it was created: the rest of its gang holds its cards for nothing meanwhile."""
    early = Starvation(LATER + 60, 3600 * 24 * 365)
    gang = a_group("gang").in_queue("red").of(2)
    ledger = a_cluster(RED, gang, *gang_of(holds("m0", 2), holds("m1")), holds("r0"))
    ends(ledger, "m1")
    see(ledger, waiting("old"), *gang_of(later(waiting("m2", 2))))
    assert opened(ledger, early) == []
    ends(ledger, "r0")
    assert opened(ledger, early) == [["m2"]]


# --- what is closed -------------------------------------------------------------------------------


def test_whatever_it_asks_for_is_closed_and_nothing_else() -> None:
    queue = a_queue("red").with_quota({H200: 6, H800: 6, "XPU-9": 1})
    gang = gang_of(*(waiting(f"a{n}") for n in range(3)), waiting("b", 4, H800))
    ledger = a_cluster(
        queue,
        a_group("gang").in_queue("red").of(4),
        *gang,
        holds("held", 4, H800),
        later(waiting("same")),
        later(waiting("other-same", 1, H800)),
        later(waiting("choice", 1, f"{H200}|XPU-9")),
        later(waiting("other", 1, "XPU-9")),
    )
    assert opened(ledger) == [["other"]]


def test_who_may_use_either_of_two_cards_closes_both() -> None:
    small = later(waiting("small")), later(waiting("smaller", 1, H800))
    large = waiting("large", 4, EITHER)
    ledger = a_cluster(RED, large, holds("one", 1), holds("two", 1, H800), *small)
    assert opened(ledger) == []
    ends(ledger, "two")
    assert opened(ledger) == [["large"], ["small"]]


@pytest.mark.parametrize("fifo", [True, False])
def test_one_that_is_behind_closes_nothing_itself(*, fifo: bool) -> None:
    """It was not judged: its other card is free for those behind it."""
    queue = RED.fifo() if fifo else RED
    both = a_group("both").in_queue("red").of(2).created("2026-01-02T00:00:00Z")
    members = gang_of(waiting("b0"), waiting("b1", 1, H800), name="both")
    old = [pod.created("2026-01-02T00:00:00Z") for pod in members]
    ledger = a_cluster(queue, *BIG, *running(1), both, *old, later(waiting("other", 1, H800)))
    assert opened(ledger) == [["other"]]


def test_several_close_their_cards() -> None:
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


@pytest.mark.parametrize("fifo", [True, False])
def test_cpu_is_closed_if_it_is_lacking(*, fifo: bool) -> None:
    large = a_pod("large").in_queue("red").with_cpu("4").gated()
    held = holds("held").with_cpu("2")
    behind = later(waiting("small").with_cpu("1")), later(waiting("without-cpu"))
    queue = (RED.fifo() if fifo else RED).limited_to(cpu="4")
    ledger = a_cluster(queue, large, held, *behind)
    assert opened(ledger) == [["without-cpu"]]
    ends(ledger, "held")
    assert opened(ledger) == [["large"]]


def test_cpu_that_is_not_lacking_is_open() -> None:
    large, other = waiting("large", 4).with_cpu("1"), waiting("other", 1, H800).with_cpu("1")
    ledger = a_cluster(RED.limited_to(cpu="4"), large, holds("held"), later(other))
    assert opened(ledger) == [["other"]]


# --- to whom --------------------------------------------------------------------------------------


def test_who_comes_before_does_not_wait() -> None:
    first = later(waiting("first")).with_priority(9)
    ledger = a_cluster(RED, *BIG, *running(3), first)
    assert opened(ledger) == [["first"]]


@pytest.mark.parametrize("fifo", [True, False])
def test_a_gang_for_which_something_is_reserved_goes_on(*, fifo: bool) -> None:
    """Else it would hold it for nothing."""
    queue = RED.fifo() if fifo else RED
    group = a_group("gang").in_queue("red").of(2).asking({H200: 2})
    ledger = a_cluster(queue, group, *running(1))
    assert opened(ledger) == [["team/gang"]]
    see(ledger, as_written(ledger, group))
    see(ledger, waiting("large", 3).with_priority(9), *gang_of(waiting("m0"), waiting("m1", 2)))
    assert opened(ledger) == [["m0", "m1"]]


def test_one_for_which_something_is_reserved_is_tried_when_there_is_room() -> None:
    """Its members ask for one more than that; and one before them has closed the card."""
    group = a_group("gang").in_queue("red").of(2).asking({H200: 2})
    ledger = a_cluster(RED, group, *running(2))
    assert opened(ledger) == [["team/gang"]]
    see(ledger, as_written(ledger, group))
    see(ledger, waiting("large", 4).with_priority(9), *gang_of(waiting("m0"), waiting("m1", 2)))
    assert opened(ledger) == []
    ends(ledger, "r0")
    assert opened(ledger) == [["m0", "m1"]]


# --- who closes nothing ---------------------------------------------------------------------------


def test_who_can_never_fit() -> None:
    ledger = a_cluster(RED, *BIG, *running(2), later(waiting("small")))
    assert opened(ledger) == []
    see(ledger, RED.with_quota({H200: 3, H800: 4}))
    assert opened(ledger) == [["small"]]


@pytest.mark.parametrize("fifo", [True, False])
def test_who_has_lost_its_place(*, fifo: bool) -> None:
    small = later(waiting("small")).with_priority(-1)
    ledger = a_cluster(RED.fifo() if fifo else RED, *BIG, *running(2), small)
    ledger.decisions.lose_place("team/gang")
    assert opened(ledger) == [["small"]]


@pytest.mark.parametrize("fifo", [True, False])
def test_who_waits_for_a_card_that_nobody_knows_any_more(*, fifo: bool) -> None:
    """Nothing of the queue itself has changed."""
    other = a_queue("other").with_quota({"XPU-9": 1})
    large = waiting("large", 4, f"{H200}|XPU-9")
    queue = RED.fifo() if fifo else RED
    ledger = a_cluster(other, queue, large, holds("r0"), later(waiting("small")))
    assert opened(ledger) == []
    ledger.dirty.take_pending()
    see(ledger, other.with_quota({}))
    assert "red" in ledger.dirty.take_pending()
    assert opened(ledger) == [["small"]]


def test_who_has_waited_too_long_is_judged_anew_when_other_cards_are_known() -> None:
    ledger = a_cluster(RED, *BIG, *running(3), later(waiting("small")))
    assert opened(ledger) == []
    see(ledger, a_queue("other").with_quota({"XPU-9": 1}))
    assert opened(ledger) == []
    see(ledger, later(waiting("smaller")))
    assert opened(ledger) == []


@pytest.mark.parametrize("going", ["deleted", "started", "moved"])
def test_those_behind_go_when_it_waits_no_more(going: str) -> None:
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


def test_those_behind_go_when_another_member_of_the_gang_asks_for_less() -> None:
    group = a_group("gang").in_queue("red").of(2)
    much = gang_of(waiting("m0", 3), waiting("m1"))
    ledger = a_cluster(RED, group, *much, holds("r0", 2), later(waiting("small")))
    assert opened(ledger) == []
    ends(ledger, "m0")
    assert opened(ledger) == [["small"]]
    see(ledger, *gang_of(waiting("m2")), later(waiting("small-too")))
    assert opened(ledger) == []
    ends(ledger, "small")
    assert opened(ledger) == [["m1", "m2"]]


# --- what is told, and what it costs --------------------------------------------------------------


def test_those_behind_are_told_behind_whom_they_wait() -> None:
    ledger = a_cluster(RED, *BIG, *running(3), later(waiting("small")))
    see(ledger, later(waiting("foreign").in_namespace("elsewhere")))
    _, refusals = release(ledger, "red", LONG)
    told = {one.pods[0].facts.name: one.verdict for one in refusals if len(one.pods) == 1}
    assert told["small"].reason is Reason.BEHIND
    assert told["small"].text == (
        f"Queue <red> keeps <{H200}> for group <team/gang>, which comes before this pod and has "
        "waited <44641> min; wait, or ask the queue's owner for a higher quota"
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


def test_a_group_behind_is_told_too() -> None:
    young = a_group("young").in_queue("red").of(1).asking({H200: 1})
    young = young.created("2026-02-01T00:00:00Z")
    ledger = a_cluster(RED, *BIG, *running(3), young, young.in_namespace("elsewhere"))
    _, refusals = release(ledger, "red", LONG)
    told = {one.gang.key: one.verdict.text for one in refusals if one.gang and not one.pods}
    assert f"keeps <{H200}> for group <team/gang>" in told["team/young"]
    assert f"keeps <{H200}> for a group" in told["elsewhere/young"]


def test_what_is_closed_is_in_no_total() -> None:
    ledger = a_cluster(RED, *BIG, *running(3), later(waiting("small", 1, EITHER)))
    account = ledger.account("red")
    assert account is not None
    before = {name: (row.charged, row.reserved) for name, row in account.rows.items()}
    assert not any(release_cycle(ledger, account, starvation=LONG))
    assert {name: (row.charged, row.reserved) for name, row in account.rows.items()} == before


@pytest.mark.parametrize("fifo", [True, False])
def test_i5_those_behind_are_not_looked_at_again(*, fifo: bool) -> None:
    """However many they are, and whatever else they ask for."""
    queue = RED.fifo() if fifo else RED
    pods = [later(waiting(f"p{n}", 1, EITHER).with_cpu(f"{n + 1}m")) for n in range(99)]
    ledger = a_cluster(queue, *BIG, *running(1), *pods)
    assert opened(ledger) == []
    account = ledger.account("red")
    assert account is not None
    assert list(release_cycle(ledger, account, starvation=LONG)) == []


# --- cpu ------------------------------------------------------------------------------------------


def fifo_with_cpu(cores: int) -> Body:
    return RED.limited_to(cpu=str(cores)).fifo()


def test_cpu_that_the_head_lacks_no_more_is_open() -> None:
    """It still lacks its card, so it is not judged for itself."""
    head = waiting("head", 1).with_cpu("2")
    behind = later(waiting("behind", 1, H800)).with_cpu("1")
    holder = waiting("holder", 0).with_cpu("2").stamped("red", {}).on_node("n")
    ledger = a_cluster(fifo_with_cpu(3), holds("r", 4), holder, head, behind)
    assert opened(ledger) == []
    ends(ledger, "holder")
    assert opened(ledger) == [["behind"]]


def test_cpu_that_the_head_lacks_by_what_is_released_behind_it_is_closed() -> None:
    head = waiting("head", 1).with_cpu("2")
    first, second = (later(waiting(name, 1, H800)).with_cpu("1") for name in ("b0", "b1"))
    ledger = a_cluster(fifo_with_cpu(2), holds("r", 4), head, first, second)
    assert opened(ledger) == [["b0"]]
