"""E7: which pods keep their choice of cards when their gate opens, and what they hold then."""

import pytest

from builders import (
    CARDS,
    GPU,
    H200,
    H800,
    R4090,
    Body,
    a_group,
    a_ledger,
    a_namespace,
    a_node,
    a_queue,
    see,
)
from builders.pod import PodBody
from cardquota.quota.amounts import Charge
from cardquota.quota.cards.card import Card
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.limits import ALLOCATED_TEXT
from cardquota.quota.release.openings import openings
from cardquota.quota.release.release_judge import Opening

from ..red_queue import totals
from ..releasing import release, waiting

EITHER = f"{H200}|{H800}"
QUEUE = a_queue("red").with_quota({H200: 2, H800: 2})
KUBE = "default-scheduler"


def a_cluster(*things: Body, late: tuple[str, ...] = (KUBE,)) -> Ledger:
    return a_ledger(*CARDS, QUEUE, *things, late_binding=late)


def a_choice(name: str, cards: int = 1, names: str = EITHER) -> PodBody:
    return waiting(name, cards, names).bound_by(KUBE)


def charges(ledger: Ledger) -> list[Charge]:
    """Of the gates that open, with what their pods are charged."""
    opened = [found for found in openings(ledger, "red") if isinstance(found, Opening)]
    return [cards for found in opened for _, cards in found.pods]


def test_e7_all_cards_are_kept() -> None:
    assert charges(a_cluster(a_choice("a", 2))) == [((EITHER, 2),)]


def test_e7_the_card_that_it_would_get_at_once_comes_first() -> None:
    """The totals show the pod there."""
    full = a_node("h200-a").with_cards(H200, 0)
    ledger = a_cluster(full, a_choice("a"))
    assert charges(ledger) == [((f"{H800}|{H200}", 1),)]
    release(ledger)
    assert totals(ledger, H800) == (1, 1, 0, 0)
    assert totals(ledger, H200) == (0, 0, 0, 0)


def test_t3_claims_fill_both_cards_and_no_more() -> None:
    ledger = a_cluster(*(a_choice(f"p{i}") for i in range(6)))
    opened, refusals = release(ledger)
    assert len(opened) == 4
    assert sum(len(one.pods) for one in refusals) == 2


def test_t3_who_needs_one_card_finds_the_room_that_claims_leave() -> None:
    ledger = a_cluster(a_choice("a"), a_choice("b"))
    release(ledger)
    see(ledger, waiting("c", 2, H200))
    assert release(ledger)[0] == [["c"]]
    see(ledger, waiting("d", 1, H800))
    assert release(ledger)[0] == []


@pytest.mark.parametrize(
    "pod",
    [
        a_choice("one", names=H200),
        waiting("others", card=EITHER).bound_by("another-scheduler"),
        waiting("nobodys", card=EITHER),
    ],
)
def test_e7_one_card_at_once(pod: PodBody) -> None:
    assert charges(a_cluster(pod)) == [((H200, 1),)]


def test_e7_nobody_keeps_a_choice_where_it_is_not_wanted() -> None:
    assert charges(a_cluster(a_choice("a"), late=())) == [((H200, 1),)]


def test_e7_in_audit_mode_nothing_is_chosen_late() -> None:
    namespace = a_namespace("team").in_mode("audit")
    assert charges(a_cluster(namespace, a_choice("a"))) == [((H200, 1),)]


def test_e2_the_cards_of_a_gang_are_chosen_together() -> None:
    gang = a_group().in_queue("red").of(2)
    members = [a_choice(f"m{i}").in_group("gang") for i in range(3)]
    ledger = a_cluster(gang, *members)
    assert all("|" not in card for cards in charges(ledger) for card, _ in cards)


def test_e2_so_are_those_of_a_group_that_has_reserved() -> None:
    group = a_group().in_queue("red").of(1).reserving("red", {H200: 1})
    ledger = a_cluster(group, a_choice("a").in_group("gang"))
    assert charges(ledger) == [((H200, 1),)]


def test_e7_pods_of_a_group_that_is_no_gang_keep_their_choice() -> None:
    group = a_group().in_queue("red").of(1)
    assert charges(a_cluster(group, a_choice("a").in_group("gang"))) == [((EITHER, 1),)]


@pytest.mark.parametrize(("key", "late"), [("example.com/model", False), ("", True)])
def test_e7_cards_that_no_affinity_could_name_together(key: str, late: bool) -> None:
    """Two makers' rows may count the same resource, each with a product label of its own."""
    ledger = a_cluster()
    card = Card("Other", GPU, ((key or f"{GPU}.product", "Other"),))
    ledger.catalog.learn(card)
    see(ledger, QUEUE.with_quota({H200: 2, "Other": 2}))
    see(ledger, a_choice("a", names=f"{H200}|Other"))
    ((name, _),) = charges(ledger)[0]
    assert ("|" in name) is late


def test_p8_the_text_on_the_pod_stays_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    short = ALLOCATED_TEXT._replace(most=20)
    monkeypatch.setattr("cardquota.quota.decisions.late_binding.ALLOCATED_TEXT", short)
    assert charges(a_cluster(a_choice("a"))) == [((H200, 1),)]


def test_e7_what_a_pod_derives_from_the_quota_is_a_choice_too() -> None:
    """P3: it names no card."""
    ledger = a_cluster(waiting("a").naming(None).bound_by(KUBE))
    ((cards, amount),) = charges(ledger)[0]
    assert (set(cards.split("|")), amount) == ({H200, H800}, 1)
    assert R4090 not in cards
    assert GPU not in cards
