"""E6: who goes first within a queue."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import CARDS, H200, H800, a_group, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.pending.pending_queue import AT_A_TIME

from ..counting import counted_calls
from ..releasing import (
    FIVE,
    GANG,
    a_cluster,
    later,
    member,
    names,
    release,
    runs,
    two_gangs_alike,
    waiting,
)

QUOTA = {H200: 40, H800: 25}


def test_e6_the_replacement_of_a_member_goes_before_gangs_that_have_not_begun() -> None:
    """It is younger and of lower priority; its gang holds the rest for nothing."""
    high = waiting("high").with_priority(9)
    ledger = a_cluster(FIVE, GANG, runs("a", 1), later(member("new")), high, *two_gangs_alike())
    assert release(ledger)[0] == [["new"], ["high"], ["g1-a", "g1-b"]]


def test_e6_so_does_what_is_left_of_a_minimum_that_is_reserved() -> None:
    """As a leader finds it that takes over while a gang starts."""
    reserved = GANG.reserving("red", {H200: 2}, "t")
    ledger = a_cluster(reserved, waiting("first"), *(later(member(name)) for name in "ab"))
    assert release(ledger)[0] == [["a", "b"], ["first"]]


def test_e6_members_beyond_the_minimum_go_after_all_others() -> None:
    """Others could be reserved over them (E1)."""
    extra = member("extra").with_priority(9)
    ledger = a_cluster(FIVE, GANG, runs("a", 1), runs("b", 1), extra, waiting("z"))
    assert release(ledger)[0] == [["z"], ["extra"]]


def test_e6_a_group_of_one_goes_as_pods_without_a_group_do() -> None:
    ledger = a_cluster(GANG.of(1), runs("a", 1), member("b"), waiting("z"))
    assert release(ledger)[0] == [["b"], ["z"]]


def test_e8_a_gang_that_has_lost_its_place_does_not_go_first_again() -> None:
    ledger = a_cluster(GANG, runs("a", 1), member("new"), waiting("z"))
    ledger.decisions.lose_place("team/gang")
    assert release(ledger)[0] == [["z"], ["new"]]


def test_e6_of_extra_members_of_equal_priority_those_of_the_smaller_gang_go_first() -> None:
    """4 of 40 cards are less than 3 of 25: the largest part counts."""
    ledger = a_ledger(
        *CARDS,
        a_queue("red").with_quota(QUOTA),
        *(a_group(name).in_queue("red").of(2) for name in ("large", "small")),
        of_gang("large", "a", H800, 1).stamped("red", {H800: 1}),
        of_gang("large", "b", H800, 2).stamped("red", {H800: 2}),
        *(of_gang("small", name, H200, 2).stamped("red", {H200: 2}) for name in "cd"),
        of_gang("large", "e").gated(),
        *(later(of_gang("small", name).gated()) for name in "fgh"),
    )
    # With `f` both have 12 %, and `e` is the oldest.
    assert release(ledger)[0] == [["f"], ["e"], ["g"], ["h"]]


def of_gang(gang: str, name: str, card: str = H200, number: int = 1) -> PodBody:
    return a_pod(name).in_queue("red").in_group(gang).naming(card).asking_for(number)


def test_a_fifo_queue_is_held_up_in_the_same_order() -> None:
    """The replacement has no room: it holds up who is older, and not who wants another card."""
    ledger = a_cluster(
        FIVE.with_quota({H200: 5, H800: 1}).fifo(),
        *(GANG, runs("a", 2), later(member("new", 4)), waiting("old"), waiting("other", 1, H800)),
    )
    opened, refusals = release(ledger)
    assert (opened, names(refusals)) == ([["other"]], [["new"], ["old"]])
    see(ledger, later(member("new", 3)))
    assert release(ledger)[0] == [["new"]]


def test_a_fifo_queue_is_not_held_up_by_members_beyond_a_minimum() -> None:
    ledger = a_cluster(
        FIVE.fifo(), GANG, runs("a", 1), runs("b", 1), member("extra", 4), later(waiting("z"))
    )
    opened, refusals = release(ledger)
    assert (opened, names(refusals)) == ([["z"]], [["extra"]])


def test_i5_when_a_gang_gets_another_place_its_members_are_not_judged_again() -> None:
    """3,000 unlike members wait for room; one that has some changes what the gang holds."""
    many = 3_000
    ledger = a_ledger(
        *CARDS,
        a_queue("red").with_quota({H200: 4, H800: 4}),
        GANG,
        *(runs("a", 1), runs("b", 1), waiting("full", 2).stamped("red", {H200: 2})),
        *(member(f"m{number}", 2).with_cpu(f"{number}m") for number in range(many)),
    )
    release(ledger)
    see(ledger, member("goes", 3, H800))
    with counted_calls() as calls:
        assert release(ledger)[0] == [["goes"]]
    assert calls["_try_inadmissible"] + calls["_try_active"] < 10
    assert calls["move"] == many
    assert calls["refresh"] > many // AT_A_TIME


# --- the order of a pass is that of a plain sort -------------------------------------------------


@dataclass(slots=True)
class WaitingPod:
    """One pod, as E6 looks at it."""

    name: str
    group: str
    priority: int
    created: int
    card: str
    number: int
    holds: bool

    def body(self) -> PodBody:
        pod = a_pod(self.name).in_queue("red").naming(self.card).asking_for(self.number)
        pod = pod.with_priority(self.priority).created(f"2026-01-01T00:00:0{self.created}Z")
        pod = pod.in_group(self.group) if self.group else pod
        return pod.stamped("red", {self.card: self.number}) if self.holds else pod.gated()


def in_order(pods: list[WaitingPod], minimum: dict[str, int]) -> list[list[str]]:
    """Who goes together, one after the other, where there is room for all: sorted anew for each."""
    found: list[list[str]] = []
    while True:
        ways = [way for pod in pods if not pod.holds and (way := a_way(pod, pods, minimum))]
        if not ways:
            return found
        first = min(ways, key=lambda way: way[0])[1]
        for pod in first:
            pod.holds = True
        found.append([pod.name for pod in first])


def a_way(
    pod: WaitingPod, pods: list[WaitingPod], minimum: dict[str, int]
) -> tuple[tuple[int, int, int, int, str], list[WaitingPod]] | None:
    """Its place by E6, and who goes with it; None while its gang is not complete."""
    least = minimum.get(pod.group, 1)
    own = (-pod.priority, pod.created, pod.name)
    if least == 1:
        return (1, own[0], 0, *own[1:]), [pod]
    members = [one for one in pods if one.group == pod.group]
    held = {
        card: sum(one.number for one in members if one.holds and one.card == card) for card in QUOTA
    }
    share = max(100 * held[card] // most for card, most in QUOTA.items())
    lacking = least - sum(one.holds for one in members)
    if lacking <= 0:
        return (2, own[0], share, *own[1:]), [pod]
    waits = sorted(
        (one for one in members if not one.holds), key=lambda x: (-x.priority, x.created, x.name)
    )
    if len(waits) < lacking:
        return None
    readiness = 0 if lacking < least else 1
    return (readiness, own[0], share, *own[1:]), waits[:lacking]


@st.composite
def plain_queues(draw: st.DrawFn) -> tuple[list[WaitingPod], dict[str, int]]:
    minimum = {name: draw(st.integers(1, 3)) for name in ("g1", "g2", "g3")}
    pods = [
        WaitingPod(
            f"p{number}",
            draw(st.sampled_from(("", *minimum))),
            draw(st.sampled_from((0, 0, 0, 5))),
            draw(st.integers(1, 3)),
            draw(st.sampled_from((H200, H800))),
            draw(st.integers(1, 2)),
            draw(st.booleans()),
        )
        for number in range(draw(st.integers(1, 12)))
    ]
    return pods, minimum


@pytest.mark.parametrize("fifo", [False, True])
@given(found=plain_queues())
@settings(max_examples=150, deadline=None)
def test_e6_the_order_of_a_pass_is_that_of_a_plain_sort(
    fifo: bool, found: tuple[list[WaitingPod], dict[str, int]]
) -> None:
    pods, minimum = found
    queue = a_queue("red").with_quota(QUOTA)
    ledger: Ledger = a_ledger(
        *CARDS,
        queue.fifo() if fifo else queue,
        *(a_group(name).in_queue("red").of(least) for name, least in minimum.items()),
        *(pod.body() for pod in pods),
    )
    assert release(ledger)[0] == in_order([replace(pod) for pod in pods], minimum)
