"""T3, E3: a pod whose card is chosen when it is bound, from its open gate to its node."""

import pytest

from builders import CARDS, H200, H800, R4090, Body, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.reports.drift import drift
from cardquota.quota.stamp import Stamp

from ..red_queue import totals

QUEUE = a_queue("red").with_quota({H200: 1, H800: 1})
PLAIN = a_pod("p").in_queue("red").naming(f"{H200}|{H800}").asking_for(1)
POD = PLAIN.claiming("red", 1, H200, H800).at_revision(5)
DECIDED = Stamp("red", ((H800, 1),), "term-1")


def a_cluster(*things: Body) -> Ledger:
    return a_ledger(*CARDS, QUEUE, *things)


def held(ledger: Ledger) -> dict[str, tuple[int, int, int, int]]:
    assert drift(ledger) == {}
    found = {card: totals(ledger, card) for card in (H200, H800, R4090)}
    return {card: row for card, row in found.items() if any(row)}


def kinds(ledger: Ledger) -> int:
    account = ledger.account("red")
    assert account is not None
    return account.flexible_claims.kinds if account.flexible_claims else 0


def test_t3_a_claim_is_one_card_of_the_first_and_may_be_any() -> None:
    ledger = a_cluster(POD)
    assert held(ledger) == {H200: (1, 1, 0, 0)}
    assert kinds(ledger) == 1
    assert not ledger.unconfirmed
    assert not ledger.unnoted


def test_t3_with_its_binding_the_claim_becomes_a_card() -> None:
    ledger = a_cluster(POD)
    see(ledger, POD.stamped("red", {H800: 1}).on_node("h800-a").at_revision(6))
    assert held(ledger) == {H800: (1, 0, 1, 0)}
    assert kinds(ledger) == 0
    assert not ledger.misplaced


def test_e3_who_is_bound_by_somebody_else_holds_the_card_of_the_node() -> None:
    """Which is noted on the pod: nothing on it says which card it is."""
    ledger = a_cluster(POD)
    see(ledger, POD.on_node("h800-a").at_revision(6))
    assert held(ledger) == {H800: (1, 0, 1, 0)}
    assert ledger.misplaced == {"uid-p"}
    see(ledger, POD.stamped("red", {H800: 1}).on_node("h800-a").at_revision(7))
    assert held(ledger) == {H800: (1, 0, 1, 0)}
    assert not ledger.misplaced


def test_e3_also_on_a_node_with_none_of_its_cards() -> None:
    ledger = a_cluster(POD.on_node("4090-a"))
    assert held(ledger) == {R4090: (1, 0, 1, 0)}


@pytest.mark.parametrize("phase", ["Pending", "Running"])
def test_d8_until_the_node_is_known_it_holds_the_first(phase: str) -> None:
    """Even if it runs when first seen: nobody has compared it with its node."""
    ledger = a_cluster(POD.on_node("new").in_phase(phase))
    assert held(ledger) == {H200: (1, 0, 1, 0)}
    assert not ledger.misplaced
    see(ledger, a_node("new").with_cards(H800, 8))
    assert held(ledger) == {H800: (1, 0, 1, 0)}
    see(ledger, a_node("new").with_cards(R4090, 8))
    assert held(ledger) == {H800: (1, 0, 1, 0)}


def test_e7_the_decision_counts_from_when_it_is_made() -> None:
    ledger = a_cluster(POD)
    seen = ledger.decisions.all_seen()
    assert seen()
    ledger.decisions.assume("uid-p", DECIDED)
    assert held(ledger) == {H800: (1, 1, 0, 0)}
    assert kinds(ledger) == 0
    assert not ledger.decisions.all_seen()()


def test_e7_other_news_of_the_pod_leave_it() -> None:
    """Its gate was opened at a revision that we know; what others write comes later."""
    ledger = a_cluster(PLAIN.gated().at_revision(4))
    claim = Stamp("red", ((f"{H200}|{H800}", 1),), "term-1")
    ledger.decisions.assume("uid-p", claim)
    ledger.decisions.confirm("uid-p", claim, 5)
    see(ledger, POD)
    ledger.decisions.assume("uid-p", DECIDED)
    see(ledger, POD.with_priority(3).at_revision(6))
    assert held(ledger) == {H800: (1, 1, 0, 0)}
    see(ledger, POD.stamped("red", {H800: 1}).on_node("h800-a").at_revision(7))
    assert ledger.pods["uid-p"].assumed is None
    assert ledger.decisions.all_seen()()


def test_e7_what_did_not_land_is_a_claim_again() -> None:
    ledger = a_cluster(POD)
    ledger.decisions.assume("uid-p", DECIDED)
    ledger.decisions.take_back_binding("uid-p")
    assert held(ledger) == {H200: (1, 1, 0, 0)}
    assert kinds(ledger) == 1
    assert not ledger.unconfirmed
    ledger.decisions.take_back_binding("uid-p")
    ledger.decisions.take_back_binding("uid-unknown")
    assert kinds(ledger) == 1


def test_e7_a_gate_that_is_being_opened_is_no_binding() -> None:
    ledger = a_cluster(PLAIN.gated())
    ledger.decisions.assume("uid-p", DECIDED)
    ledger.decisions.take_back_binding("uid-p")
    assert held(ledger) == {H800: (1, 1, 0, 0)}


def test_e7_the_end_of_a_term_takes_it_back() -> None:
    ledger = a_cluster(POD)
    ledger.decisions.assume("uid-p", DECIDED)
    ledger.decisions.end_term()
    assert held(ledger) == {H200: (1, 1, 0, 0)}


def test_t1_it_ends_like_any_other() -> None:
    for last in (POD.in_phase("Failed"), POD.stamped("red", {H800: 1}).in_phase("Failed")):
        ledger = a_cluster(POD)
        see(ledger, last.at_revision(6))
        assert held(ledger) == {}
        assert kinds(ledger) == 0


def test_p4_cards_of_pools_at_zero_are_held_one_by_one() -> None:
    """By the resource name that the pod asks for, each of them, until the pod is gone."""
    queue = a_queue("red").with_quota({"New-A": 1, "New-B": 1})
    pod = a_pod("p").in_queue("red").naming("New-A|New-B").asking_for(1)
    pod = pod.claiming("red", 1, "New-A", "New-B")
    ledger = a_ledger(queue, pod)
    assert {ledger.catalog.held_as(card) for card in ("New-A", "New-B")} == {"nvidia.com/gpu"}
    ledger.pod_gone("uid-p")
    assert {ledger.catalog.held_as(card) for card in ("New-A", "New-B")} == {None}


def test_i3_audit_did_not_let_it_by() -> None:
    assert not POD.facts().admitted_in_audit
    assert a_pod().managed().annotated("volcano.sh/card.term", "t").facts().admitted_in_audit


@pytest.mark.parametrize("text", ["", "[]", '{"A": -1}', '{"A": "1"}'])
def test_p8_a_claim_that_we_cannot_have_written_is_none(text: str) -> None:
    def forged(pod: PodBody) -> PodBody:
        return pod.annotated("volcano.sh/card.claim", text)

    assert forged(POD).facts().stamp is None
    assert forged(POD.stamped("red", {H200: 1})).facts().stamp == Stamp(
        "red", ((H200, 1),), "term-1"
    )
