"""E2: who counts as let through when a pod is created: whose gate would open now, no others."""

import pytest

from builders import (
    CARDS,
    H200,
    H800,
    Body,
    a_group,
    a_ledger,
    a_namespace,
    a_node,
    a_pod,
    a_queue,
    see,
)
from builders.pod import PodBody
from cardquota.quota import Outcome, Shortfall
from cardquota.quota.assignment import Claim, OnTheWay
from cardquota.quota.decisions import (
    MOST_CLASSES,
    MOST_KINDS,
    MOST_MEMBERS,
    judge_create,
    on_the_way,
)
from cardquota.quota.ledger import Ledger

from ..counting import counted_calls

EITHER = f"{H200}|{H800}"
QUEUE = a_queue("red").with_quota({H200: 4, H800: 4}).with_policy("Deny")
NEW = a_pod("new").in_queue("red").naming(H200).asking_for(1).facts()


def gated(name: str, cards: int = 1, names: str = H200) -> PodBody:
    return a_pod(name).in_queue("red").naming(names).asking_for(cards).gated()


def held(cards: int, card: str = H200) -> PodBody:
    pod = a_pod("held").in_queue("red").naming(card).asking_for(cards)
    return pod.stamped("red", {card: cards}).on_node("h200-a")


def a_cluster(*things: Body, queue: Body = QUEUE) -> Ledger:
    return a_ledger(*CARDS, queue, *things)


def amounts(ledger: Ledger) -> dict[str, int]:
    return dict(on_the_way(ledger, ledger.account("red")).amounts)


def test_those_who_fit_count() -> None:
    ledger = a_cluster(held(1), gated("a"), gated("b", 2).with_cpu("500m"))
    assert amounts(ledger) == {H200: 3, "cpu": 500}
    assert judge_create(ledger, NEW).shortfalls == (Shortfall(H200, 1, 5, 4),)


def test_who_asks_for_more_than_is_free_is_in_nobodys_way() -> None:
    ledger = a_cluster(held(3), gated("large", 2))
    assert amounts(ledger) == {}
    assert judge_create(ledger, NEW).fits


@pytest.mark.parametrize(
    "what",
    [
        gated("x").in_group("nowhere"),
        gated("x").naming("NVIDIA-H2000"),
        gated("x").naming("A||B"),
        gated("x", 5),
        gated("x").with_cpu("9"),
        gated("x").naming(None).on_nodes_labelled({"kubernetes.io/hostname": "bare"}),
        gated("x").terminating(),
        gated("x").in_group("own"),
        gated("x").in_group("of-two"),
    ],
    ids=[
        "its group does not exist",
        "its card is unknown",
        "its annotation cannot be read",
        "more than the whole quota",
        "more cpu than the limit",
        "its node has no card",
        "it is being deleted",
        "its group has another queue",
        "its gang is not complete",
    ],
)
def test_who_waits_for_something_else_than_quota_is_in_nobodys_way(what: PodBody) -> None:
    others = (
        a_node("bare"),
        a_group("own").in_queue("blue"),
        a_group("of-two").in_queue("red").of(2),
    )
    ledger = a_cluster(held(3), *others, what, queue=QUEUE.limited_to(cpu="8"))
    assert amounts(ledger) == {}
    assert judge_create(ledger, NEW).fits


def test_who_waits_for_its_group_counts_once_that_is_there() -> None:
    ledger = a_cluster(held(3), gated("x").in_group("late"))
    assert judge_create(ledger, NEW).fits
    see(ledger, a_group("late").in_queue("red").of(1))
    assert judge_create(ledger, NEW).shortfalls == (Shortfall(H200, 1, 5, 4),)


def test_a_closed_queue_lets_nobody_go() -> None:
    ledger = a_cluster(held(3), gated("a"), queue=QUEUE.closed())
    assert amounts(ledger) == {}


def test_whose_gate_could_not_be_opened_is_in_nobodys_way() -> None:
    """Somebody's webhook refuses it: it is tried again later, and takes its turn then."""
    ledger = a_cluster(held(3), gated("a"))
    ledger.decisions.hold_back("uid-a")
    assert judge_create(ledger, NEW).fits
    ledger.decisions.put_back("uid-a")
    assert not judge_create(ledger, NEW).fits


@pytest.mark.parametrize("mode", ["audit", "off"])
def test_i3_where_nothing_is_enforced_nobody_is_on_the_way(mode: str) -> None:
    lax = gated("a", 9).in_namespace("lax")
    ledger = a_cluster(a_namespace("lax").in_mode(mode), lax)
    assert amounts(ledger) == {}
    assert judge_create(ledger, NEW).fits


def test_t3_who_has_a_choice_counts_with_what_is_left() -> None:
    ledger = a_cluster(held(3), gated("a", 1, EITHER))
    assert judge_create(ledger, NEW).fits
    see(ledger, gated("b", 4, H800))
    assert judge_create(ledger, NEW).shortfalls == (Shortfall(H200, 1, 5, 4),)


def a_gang(*amounts: int) -> list[Body]:
    members = (gated(f"m{n}", cards).in_group("gang") for n, cards in enumerate(amounts))
    return [a_group("gang").in_queue("red").of(len(amounts)), *members]


def test_a_gang_counts_whole_or_not_at_all() -> None:
    assert amounts(a_cluster(*a_gang(1, 2))) == {H200: 3}
    assert amounts(a_cluster(held(2), *a_gang(1, 2))) == {}


def test_a_gang_that_has_begun_counts_one_by_one() -> None:
    begun = gated("m0").in_group("gang").stamped("red", {H200: 1}).on_node("h200-a")
    second = gated("m1").in_group("gang").stamped("red", {H200: 1}).on_node("h200-a")
    gang = a_group("gang").in_queue("red").of(2)
    ledger = a_cluster(gang, begun, second, gated("m2").in_group("gang"))
    assert amounts(ledger) == {H200: 1}


def test_very_large_gangs_are_not_looked_at() -> None:
    quota = QUEUE.with_quota({H200: 10_000})
    assert amounts(a_cluster(*a_gang(*([1] * (MOST_MEMBERS + 1))), queue=quota)) == {}
    assert amounts(a_cluster(*a_gang(*([1] * 100)), queue=quota)) == {H200: 100}


def test_of_gangs_of_many_kinds_some_are_looked_at() -> None:
    def gang(number: int, of: int) -> list[Body]:
        name = f"g{number}"
        pods = (gated(f"{name}-{n:03}").with_cpu(f"{n + 1}m").in_group(name) for n in range(of))
        return [a_group(name).in_queue("red").of(of), *pods]

    quota = QUEUE.with_quota({H200: 10_000})
    assert amounts(a_cluster(*gang(0, MOST_KINDS + 1), queue=quota)) == {}
    two = a_cluster(*gang(0, MOST_KINDS), *gang(1, 2), queue=quota)
    assert amounts(two)[H200] == MOST_KINDS


def test_whether_a_gang_could_go_is_asked_without_a_walk_over_nodes() -> None:
    """Whatever nodes its members pick: which card is free there is asked when it goes."""
    pool = {"example.com/pool": "x"}
    nodes = [
        a_node(f"n{n}").with_cards(card, 8).labelled("example.com/pool", "x")
        for n, card in enumerate([H200, H800] * 4)
    ]
    gang = a_group("gang").in_queue("red").of(2)
    members = (gated(n, 1, EITHER).in_group("gang").on_nodes_labelled(pool) for n in "ab")
    ledger = a_cluster(*nodes, gang, *members)
    with counted_calls() as calls:
        assert len(on_the_way(ledger, ledger.account("red")).claims) == 1
    assert calls["choice"] == 0


RESERVED = a_group("gang").in_queue("red").of(3).reserving("red", {H200: 2})
BEGUN = a_pod("begun").in_queue("red").in_group("gang").stamped("red", {})
"""A member that is let through, and asks for no card."""


def of_gang(name: str, cards: int = 1, names: str = H200) -> PodBody:
    return gated(name, cards, names).in_group("gang")


def test_e2_what_is_reserved_for_members_is_not_counted_a_second_time() -> None:
    ledger = a_cluster(RESERVED, BEGUN, of_gang("a"), of_gang("b"))
    assert {d: n for d, n in amounts(ledger).items() if n} == {}
    two = a_pod("new").in_queue("red").naming(H200).asking_for(2)
    assert judge_create(ledger, two.facts()).fits
    assert not judge_create(ledger, two.asking_for(3).facts()).fits


def test_e2_what_members_ask_for_beyond_their_reservation_counts() -> None:
    ledger = a_cluster(RESERVED, BEGUN, of_gang("a"), of_gang("b"), of_gang("c"))
    assert amounts(ledger)[H200] == 1
    assert judge_create(ledger, NEW).fits
    two = a_pod("two").in_queue("red").naming(H200).asking_for(2).facts()
    assert judge_create(ledger, two).shortfalls == (Shortfall(H200, 2, 5, 4),)


def test_e2_a_new_member_has_what_the_others_leave_of_the_reservation() -> None:
    ledger = a_cluster(held(2), RESERVED, BEGUN, of_gang("a"), of_gang("b"))
    third = of_gang("c").ungated()
    assert judge_create(ledger, third.facts()).shortfalls == (Shortfall(H200, 1, 5, 4),)
    ledger.pod_gone("uid-b")
    assert judge_create(ledger, third.facts()).fits


def test_t3_members_with_a_choice_use_what_is_reserved_for_them_first() -> None:
    group = RESERVED.reserving("red", {H200: 1, H800: 1})
    ledger = a_cluster(held(3), group, BEGUN, of_gang("a", 1, EITHER), of_gang("b", 1, EITHER))
    assert judge_create(ledger, a_pod("n").in_queue("red").naming(H800).asking_for(3).facts()).fits
    see(ledger, of_gang("c", 1, EITHER))
    assert not judge_create(
        ledger, a_pod("n").in_queue("red").naming(H800).asking_for(3).facts()
    ).fits


def test_t3_what_is_reserved_for_a_part_of_what_one_asks_is_never_too_little() -> None:
    """Who might be refused by it is admitted, and waits at the gate."""
    group = RESERVED.reserving("red", {H200: 1})
    ledger = a_cluster(group, BEGUN, of_gang("a", 2, EITHER), queue=QUEUE.with_quota({H200: 3}))
    assert judge_create(ledger, NEW).fits


FIFO = QUEUE.fifo()


def test_in_fifo_who_is_behind_one_without_room_is_in_nobodys_way() -> None:
    head = gated("head", 4).owned_by("Job").created("2025-01-01T00:00:00Z")
    ledger = a_cluster(held(1), head, gated("a"), gated("b", 1, H800), queue=FIFO)
    assert amounts(ledger) == {H800: 1}
    assert amounts(a_cluster(held(1), head, gated("a"), queue=QUEUE)) == {H200: 1}


def test_in_fifo_who_is_before_it_counts() -> None:
    head = gated("head", 4).owned_by("Job").created("2027-01-01T00:00:00Z")
    late = gated("late").created("2028-01-01T00:00:00Z")
    ledger = a_cluster(held(1), head, gated("a"), late, queue=FIFO)
    assert amounts(ledger) == {H200: 1}


def test_in_fifo_one_that_never_fits_or_waits_for_its_group_holds_nobody_up() -> None:
    old = "2025-01-01T00:00:00Z"
    never = gated("never", 9).created(old)
    alone = gated("alone").in_group("nowhere").created(old)
    assert amounts(a_cluster(never, alone, gated("a"), queue=FIFO)) == {H200: 1}


def test_in_fifo_with_very_many_kinds_nobody_is_taken_to_be_held_up() -> None:
    head = gated("head", 4).owned_by("Job").created("2025-01-01T00:00:00Z")
    kinds = [
        gated(f"k{n}").owned_by("Job").with_cpu(f"{n + 1}m").in_group("nowhere")
        for n in range(1_000)
    ]
    ledger = a_cluster(held(1), gated("a"), head, *kinds, queue=FIFO)
    assert amounts(ledger) == {H200: 1}


def test_of_many_kinds_some_are_looked_at() -> None:
    """Not to refuse is safe: who does not fit waits at the gate."""
    quota = QUEUE.with_quota({H200: 1_000})
    kinds = [gated(f"p{n}").with_cpu(f"{n}m") for n in range(1, MOST_CLASSES + 9)]
    assert amounts(a_cluster(*kinds, queue=quota))[H200] == MOST_CLASSES


def test_under_policy_gate_nobody_is_on_the_way() -> None:
    ledger = a_cluster(held(3), gated("a"), queue=QUEUE.with_policy("Gate"))
    assert amounts(ledger) == {}
    assert judge_create(ledger, NEW).outcome is Outcome.FITS


def test_where_there_is_no_such_queue_nobody_is_on_the_way() -> None:
    assert on_the_way(a_cluster(), None).amounts == {}


def test_at_first_those_with_a_choice_use_what_is_reserved_for_them() -> None:
    """An estimate: the first of their cards for the others."""
    claim = Claim((H200, H800, "own"), 2)
    way = OnTheWay({"cpu": 1_000}, ((claim, 3),), {"own": 5})
    assert way.at_first() == {"cpu": 1_000, H200: 2}
