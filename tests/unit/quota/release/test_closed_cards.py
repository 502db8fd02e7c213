"""E6: who has waited too long for room closes its cards to those behind it; all others go on."""

from datetime import datetime
from itertools import count

import pytest

from builders import H200, H800, a_group, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota import Reason
from cardquota.quota.ledger import Ledger
from cardquota.quota.release import Starvation, release_cycle

from ..releasing import a_cluster, later, release, waiting

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


def test_a_group_that_waits_to_be_enqueued_is_not_starved() -> None:
    group = a_group("gang").in_queue("red").of(4).asking({H200: 4})
    assert opened(a_cluster(RED, group, *running(2), later(waiting("small"))), None) == [["small"]]
    ledger = a_cluster(RED, group, *running(2), later(waiting("small")))
    assert opened(ledger) == []
    ends(ledger, "r0", "r1")
    assert opened(ledger) == [["team/gang"]]


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


# --- to whom --------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("fifo", [True, False])
def test_who_has_lost_its_place(*, fifo: bool) -> None:
    small = later(waiting("small")).with_priority(-1)
    ledger = a_cluster(RED.fifo() if fifo else RED, *BIG, *running(2), small)
    ledger.decisions.lose_place("team/gang")
    assert opened(ledger) == [["small"]]


# --- who closes nothing ---------------------------------------------------------------------------


@pytest.mark.parametrize("fifo", [True, False])
def test_who_waits_for_a_card_that_nobody_knows_any_more(*, fifo: bool) -> None:
    """Nothing of the queue itself has changed."""
    other = a_queue("other").with_quota({"XPU-9": 1})
    large = waiting("large", 4, f"{H200}|XPU-9")
    queue = RED.fifo() if fifo else RED
    ledger = a_cluster(other, queue, large, holds("r0"), later(waiting("small")))
    assert opened(ledger) == []
    ledger.dirty.pending.take()
    see(ledger, other.with_quota({}))
    assert "red" in ledger.dirty.pending.take()
    assert opened(ledger) == [["small"]]


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


def test_a_group_behind_is_told_too() -> None:
    young = a_group("young").in_queue("red").of(1).asking({H200: 1})
    young = young.created("2026-02-01T00:00:00Z")
    ledger = a_cluster(RED, *BIG, *running(3), young, young.in_namespace("elsewhere"))
    _, refusals = release(ledger, "red", LONG)
    told = {one.gang.key: one.verdict.text for one in refusals if one.gang and not one.pods}
    assert f"keeps <{H200}> for group <team/gang>" in told["team/young"]
    assert f"keeps <{H200}> for a group" in told["elsewhere/young"]


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
