"""E6: the place of what waits, among all that waits in its queue."""

import pytest

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger
from cardquota.quota.pending import pending_queue as module
from cardquota.quota.release import release_cycle

FULL = a_queue("red").with_quota({H200: 4})
HOLDER = a_pod("holder").in_queue("red").naming(H200).asking_for(4).stamped("red", {H200: 4})


def a_world(*things: Body) -> Ledger:
    return a_ledger(*CARDS, a_namespace("team"), *things)


def gang(name: str, minute: int, cards: int = 1) -> tuple[GroupBody, PodBody, PodBody]:
    """Two pods that start together."""
    when = f"2026-05-01T12:{minute:02}:00Z"
    group = a_group(name).in_queue("red").of(2).created(when)
    one, two = (
        a_pod(f"{name}-{n}").in_queue("red").in_group(name).naming(H200).asking_for(cards)
        for n in (1, 2)
    )
    return group, one.created(when).gated(), two.created(when).gated()


def place(ledger: Ledger, name: str, *, decide: bool = True) -> tuple[int, int]:
    account = ledger.account("red")
    assert account is not None
    if decide:
        assert not any(release_cycle(ledger, account))
    candidate = account.pending.candidate_of(ledger.groups[f"team/{name}"])
    assert candidate is not None
    return account.pending.place_of(candidate)


def test_it_is_found_in_the_order_of_release() -> None:
    """Whether candidates ask for the same or not; equal pods without a group count once."""
    pods = (a_pod(f"p{n}").in_queue("red").naming(H200).asking_for(1).gated() for n in range(9))
    late = [pod.created("2026-05-01T13:00:00Z") for pod in pods]
    world = a_world(FULL, HOLDER, *gang("b", 2), *gang("a", 1), *gang("c", 3, 2), *late)
    assert [place(world, name) for name in "abc"] == [
        (1, 4),
        (2, 4),
        (3, 4),
    ]


def test_those_that_wait_for_something_else_count_too() -> None:
    """A gang of which a member is missing has its place in the order."""
    incomplete = gang("a", 1)[:2]
    world = a_world(FULL, HOLDER, *incomplete, *gang("b", 2))
    assert [place(world, name) for name in "ab"] == [(1, 2), (2, 2)]


def test_one_that_is_still_to_be_tried_has_a_place() -> None:
    world = a_world(FULL, HOLDER, *gang("a", 1))
    account = world.account("red")
    assert account is not None
    account.pending.refresh(world.epoch, account.limit)
    assert place(world, "a", decide=False) == (1, 1)


def test_a_group_that_is_to_be_enqueued_has_a_place() -> None:
    asks = a_group("first").in_queue("red").of(2).asking({H200: 4})
    world = a_world(FULL, HOLDER, asks.created("2026-05-01T11:00:00Z"), *gang("a", 1))
    assert [place(world, name) for name in ("first", "a")] == [
        (1, 2),
        (2, 2),
    ]


def test_a_gang_whose_members_go_one_by_one_has_none() -> None:
    group, *pods = gang("a", 1)
    runs = [pod.ungated().stamped("red", {H200: 1}).on_node("h200-1") for pod in pods]
    more = a_pod("a-3").in_queue("red").in_group("a").naming(H200).asking_for(4).gated()
    world = a_world(FULL, group, *runs, more)
    account = world.account("red")
    assert account is not None
    assert not any(release_cycle(world, account))
    assert account.pending.candidate_of(world.groups["team/a"]) is None


def test_too_many_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COUNTED", 1)
    world = a_world(FULL, HOLDER, *gang("a", 1), *gang("b", 2, 2))
    assert place(world, "b") == (0, 1)
