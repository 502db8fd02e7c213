"""F1, V5: what is answered about what is used outside every queue."""

from functools import partial

from builders import H200, H800, a_ledger, a_node, a_pod
from builders.pod import PodBody
from cardquota.quota.answers import MOST_CARDS, CardAmount
from cardquota.quota.reports.cluster_report import outside_use

from .asked_cluster import NOON, a_cluster, asked, holding

outside_answer = partial(asked, queue="")


def outside(name: str, cards: int = 1, node: str = "h200-a") -> PodBody:
    return a_pod(name).with_uid(name).asking_for(cards).on_node(node)


def test_f1_pods_in_no_queue_their_cards_and_who_has_made_them() -> None:
    ledger = a_cluster(holding("ours", 3), outside("one", 2), outside("two"))
    found = outside_answer(ledger)
    assert (found.queue, found.time, found.held_pods) == ("", NOON, 2)
    allocated = {card.name: card.allocated for card in found.cards}
    assert (allocated[H200], allocated[H800]) == (3, 0)
    assert [(one.name, one.cards) for one in found.holders] == [
        ("one", (CardAmount(name=H200, amount=2),)),
        ("two", (CardAmount(name=H200, amount=1),)),
    ]
    assert outside_use(ledger)[:2] == (found.held_pods, {H200: 3})
    assert (
        outside_answer(ledger, limit=1).more_holders,
        len(outside_answer(ledger, limit=0).holders),
    ) == (1, 0)


def test_f1_of_each_card_of_the_cluster_what_is_free_and_no_quota() -> None:
    found = outside_answer(a_cluster(holding("ours", 3), outside("one", 2)))
    free = {card.name: (card.allocatable, card.free, card.most_on_node) for card in found.cards}
    assert (free[H200], free[H800]) == ((8, 3, 3), (8, 8, 8))
    assert {(card.quota, card.left, card.fits) for card in found.cards} == {(0, 0, 0)}


def test_v5_who_holds_no_known_card_outside_every_queue_is_left_out() -> None:
    """A group's pods without cards are known, and so is a pod on a node that is not."""
    ledger = a_cluster(
        a_pod("plain").with_uid("plain").in_group("gang").on_node("h200-a"),
        outside("lost", 1, "unknown"),
    )
    found = outside_answer(ledger)
    assert (found.held_pods, found.holders, found.more_holders) == (0, (), 0)
    assert outside_use(ledger).pods == 0
    ledger = a_cluster(outside("one", 2), outside("lost", 1, "unknown"))
    assert (outside_answer(ledger).held_pods, outside_use(ledger).pods) == (1, 1)


def test_f1_of_very_many_cards_those_are_told_that_are_held_most() -> None:
    nodes = [a_node(f"n{n:03}").with_cards(f"card-{n:03}", 8) for n in range(MOST_CARDS + 5)]
    found = outside_answer(a_ledger(*nodes, outside("one", 2, f"n{MOST_CARDS + 4}")))
    names = [card.name for card in found.cards]
    assert (len(names), found.more_cards) == (MOST_CARDS, 5)
    assert names[-1] == f"card-{MOST_CARDS + 4}"
    assert names == sorted(names)
