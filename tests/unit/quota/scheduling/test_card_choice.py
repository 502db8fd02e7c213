"""E3: to which cards a pod may be bound that has kept its choice."""

import random
from itertools import product

import pytest

from builders import CARDS, GPU, H200, H800, R4090, Body, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.assignment import flexible_claims
from cardquota.quota.assignment.claim import Claim, claim_of
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.limits import FLEXIBLE_KINDS
from cardquota.quota.scheduling.card_choice import CardChoice, card_choice, open_cards
from cardquota.quota.scheduling.node_filter import fit_nodes
from cardquota.quota.stamp import Stamp

from ..brute_force import fits

QUOTA = {H200: 1, H800: 1}


def a_cluster(*things: Body, quota: dict[str, int] = QUOTA) -> Ledger:
    return a_ledger(*CARDS, a_queue("red").with_quota(quota), *things)


def claiming(name: str, amount: int = 1, cards: tuple[str, ...] = (H200, H800)) -> PodBody:
    pod = a_pod(name).in_queue("red").naming("|".join(cards)).asking_for(amount)
    return pod.claiming("red", amount, *cards)


def running(name: str, card: str, amount: int = 1) -> PodBody:
    node = {H200: "h200-a", H800: "h800-a", R4090: "4090-a"}[card]
    pod = a_pod(name).in_queue("red").naming(card).asking_for(amount)
    return pod.stamped("red", {card: amount}).on_node(node)


def open_to(ledger: Ledger, pod: PodBody) -> set[str]:
    found = card_choice(ledger, pod.facts())
    assert found is not None
    return set(open_cards(ledger, pod.facts(), found))


def test_e3_every_card_with_room() -> None:
    pod = claiming("p")
    ledger, both = a_cluster(pod), frozenset((H200, H800))
    assert card_choice(ledger, pod.facts()) == CardChoice(GPU, 1, both)
    assert open_cards(ledger, pod.facts(), CardChoice(GPU, 1, both)) == both


def test_e3_who_holds_a_card_has_no_choice() -> None:
    pod = running("p", H200)
    assert card_choice(a_cluster(pod), pod.facts()) is None
    assert card_choice(a_cluster(), a_pod().asking_for(1).gated().facts()) is None


def test_e3_a_card_whose_quota_others_hold_is_taken() -> None:
    pod = claiming("p")
    assert open_to(a_cluster(pod, running("r", H200)), pod) == {H800}


def test_e3_two_share_what_is_there() -> None:
    """Each may take either; when one has taken a card the other is left."""
    one, other = claiming("a"), claiming("b")
    ledger = a_cluster(one, other)
    assert open_to(ledger, one) == open_to(ledger, other) == {H200, H800}
    ledger.decisions.assume("uid-a", Stamp("red", ((H200, 1),), "t"))
    assert open_to(ledger, one) == {H200}
    assert open_to(ledger, other) == {H800}


def test_e3_nobody_takes_the_card_that_another_needs() -> None:
    flexible, fixed = claiming("a"), claiming("b", cards=(H800, R4090))
    ledger = a_cluster(flexible, fixed)
    assert open_to(ledger, flexible) == {H200}
    assert open_to(ledger, fixed) == {H800}


def test_e3_amounts_count() -> None:
    pod = claiming("a", 2)
    quota = {H200: 2, H800: 3}
    assert open_to(a_cluster(pod, running("r", H200), quota=quota), pod) == {H800}
    both = a_cluster(pod, running("r", H200), running("s", H800), quota=quota)
    assert open_to(both, pod) == {H800}


def test_q7_when_the_quota_was_lowered_those_that_fit_do_not_wait_for_each_other() -> None:
    one, other = claiming("a"), claiming("b")
    ledger = a_cluster(one, other)
    see(ledger, a_queue("red").with_quota({H200: 1}))
    assert open_to(ledger, one) == open_to(ledger, other) == {H200}
    see(ledger, running("a", H200).at_revision(9))
    assert open_to(ledger, other) == set()
    see(ledger, a_queue("red").with_quota(QUOTA))
    assert open_to(ledger, other) == {H800}


def test_q7_without_any_quota_nothing_is_open() -> None:
    pod = claiming("a")
    ledger = a_cluster(pod)
    ledger.queue_gone("red")
    assert open_to(ledger, pod) == set()


def test_e3_before_our_watch_tells_of_the_open_gate_every_card_counts() -> None:
    """The leader judges it again when it is bound."""
    pod = claiming("p")
    gated = a_pod("p").in_queue("red").naming(f"{H200}|{H800}").asking_for(1).gated()
    for ledger in (a_cluster(running("r", H200)), a_cluster(running("r", H200), gated)):
        assert open_to(ledger, pod) == {H200, H800}


def test_e3_a_claim_of_other_resources_is_no_choice() -> None:
    pod = claiming("p").asking_for(1, "nvidia.com/gpu.shared")
    assert card_choice(a_cluster(pod), pod.facts()) is None


def test_p8_beyond_the_bound_of_kinds_a_claim_keeps_to_the_card_that_the_totals_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound = FLEXIBLE_KINDS._replace(most=1)
    monkeypatch.setattr(flexible_claims, "FLEXIBLE_KINDS", bound)
    first, second = claiming("a"), claiming("b", cards=(H800, R4090))
    quota = {H200: 1, H800: 1, R4090: 1}
    ledger = a_cluster(first, second, quota=quota)
    assert open_to(ledger, second) == {H800, R4090}
    see(ledger, running("r", R4090))
    assert open_to(ledger, second) == {H800}
    see(ledger, running("s", H800))
    assert open_to(ledger, second) == set()


def test_e3_the_filter_leaves_nodes_of_open_cards() -> None:
    pod = claiming("p")
    ledger = a_cluster(pod, running("r", H200), a_node("empty"))
    found = fit_nodes(ledger, pod.facts(), ["h200-a", "h800-a", "4090-a", "empty", "gone"])
    assert found.names == ["h800-a"]
    assert found.failed == {}
    assert found.unresolvable == {
        "h200-a": f"the queue's quota of {H200} is taken",
        "4090-a": "node has none of the pod's cards",
        "empty": "node has none of the pod's cards",
        "gone": "node is not known to cardquota",
    }


def test_e3_every_answer_as_if_all_assignments_were_tried() -> None:
    """Against all assignments; who is bound to an open card never takes what others need."""
    rng = random.Random(3)
    cards = (H200, H800, R4090)
    choices = [c for n in (2, 3) for c in product(cards, repeat=n) if len(set(c)) == n]
    seen = set[tuple[int, int]]()
    for _ in range(150):
        quota = {card: rng.randrange(4) for card in cards}
        claims = list[tuple[PodBody, Claim]]()
        for number in range(rng.randint(1, 5)):
            names, amount = rng.choice(choices), rng.choice((1, 1, 2))
            if fits(quota, *(one for _, one in claims), claim_of(names, amount)):
                claims.append((claiming(f"p{number}", amount, names), claim_of(names, amount)))
        ledger = a_cluster(*(pod for pod, _ in claims), quota=quota)
        held = list[Claim]()
        while claims:
            for at, (pod, claim) in enumerate(claims):
                others = [one for _, one in (*claims[:at], *claims[at + 1 :])]
                expected = {
                    card
                    for card in claim.cards
                    if fits(quota, *held, *others, Claim((card,), claim.amount))
                }
                assert expected, "let through, so there is a place"
                assert open_to(ledger, pod) == expected
                seen.add((len(claim.cards), len(expected)))
            pod, claim = claims.pop(rng.randrange(len(claims)))
            card = rng.choice(sorted(open_to(ledger, pod)))
            held.append(Claim((card,), claim.amount))
            see(ledger, running(pod.name, card, claim.amount).at_revision(9))
    assert seen == {(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)}


def test_e3_where_every_card_is_open_every_node_of_them_fits() -> None:
    pod = claiming("p")
    found = fit_nodes(a_cluster(pod), pod.facts(), ["h200-a", "h800-a"])
    assert (found.names, found.unresolvable) == (["h200-a", "h800-a"], {})
