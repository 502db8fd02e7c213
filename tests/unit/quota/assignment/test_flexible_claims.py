"""T3: pods that may end up on any of several cards, and what room they leave for others."""

import random

import pytest

from builders import CARDS, H200, H800, R4090, Body, a_group, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import FLEXIBLE_KINDS, Limit, Outcome, Shortfall, Verdict
from cardquota.quota.assignment import claim_of, flexible_claims
from cardquota.quota.decisions import judge_new, judge_release, on_the_way
from cardquota.quota.ledger import Ledger

from ..brute_force import plainly
from ..plain_totals import next_opening, with_nothing_noted
from ..releasing import release

EITHER = f"{H200}|{H800}"
QUEUE = a_queue("red").with_quota({H200: 1, H800: 1})


def a_cluster(*things: Body) -> Ledger:
    return a_ledger(*CARDS, QUEUE, *things)


def a_request(name: str, cards: int = 1, names: str = EITHER) -> PodBody:
    return a_pod(name).in_queue("red").naming(names).asking_for(cards)


def on_its_way(name: str, cards: int = 1, names: str = EITHER) -> PodBody:
    """Admitted at create under policy Deny, and gated until the leader comes to it."""
    return a_request(name, cards, names).gated()


def unadmitted(name: str, cards: int = 1, names: str = EITHER) -> PodBody:
    """Open, though no gate of it was ours; no node has it yet."""
    return a_request(name, cards, names)


def create(ledger: Ledger, names: str, cards: int = 1, **beside: int) -> Verdict:
    way = on_the_way(ledger, ledger.account("red"))
    new = a_request("new", cards, names).facts()
    return judge_new(ledger, new, beside=beside, on_the_way=way)


def test_t3_who_may_choose_leaves_the_card_that_another_needs() -> None:
    """The totals count the first with its first card; it can use the other one all the same."""
    ledger = a_cluster(on_its_way("first"))
    assert create(ledger, H200).fits
    assert create(ledger, H800).fits


def test_t3_two_who_may_choose_fill_both_cards() -> None:
    ledger = a_cluster(on_its_way("first"), on_its_way("second"))
    for names in (H200, H800, EITHER):
        verdict = create(ledger, names)
        assert verdict.outcome is Outcome.WAITS
        assert {short.would_be for short in verdict.shortfalls} == {2}


def test_t3_never_the_sum_of_both() -> None:
    quota = QUEUE.with_quota({H200: 3, H800: 3})
    ledger = a_cluster(quota, on_its_way("a", 2), on_its_way("b", 2))
    assert create(ledger, EITHER, 1).fits
    verdict = create(ledger, EITHER, 2)
    assert verdict.shortfalls == (Shortfall(H200, 2, 4, 3), Shortfall(H800, 2, 4, 3))


def test_t3_a_chain_of_cards() -> None:
    quota = QUEUE.with_quota({H200: 1, H800: 1, R4090: 1})
    ledger = a_cluster(quota, on_its_way("a"), on_its_way("b", 1, f"{H800}|{R4090}"))
    assert create(ledger, H200).fits
    assert create(ledger, f"{H200}|{H800}").cards == ((H200, 1),)
    see(ledger, on_its_way("c", 1, H200))
    assert not create(ledger, f"{R4090}|{H800}|{H200}").fits


def test_e2_who_waits_at_the_gate_claims_nothing() -> None:
    ledger = a_cluster(QUEUE.with_policy("Gate"), on_its_way("a"), on_its_way("b"))
    assert create(ledger, EITHER).fits


def test_e2_when_a_gate_opens_only_those_let_through_count() -> None:
    ledger = a_cluster(on_its_way("a"), on_its_way("b"), on_its_way("c", 1, H200))
    assert judge_release(ledger, ledger.pods["uid-c"]).fits
    see(ledger, unadmitted("x"), unadmitted("y"))
    verdict = judge_release(ledger, ledger.pods["uid-c"])
    assert verdict.shortfalls == (Shortfall(H200, 1, 2, 1),)


def test_e10_whose_gate_is_open_has_one_card() -> None:
    ledger = a_cluster(unadmitted("x"), on_its_way("a").stamped("red", {H800: 1}))
    assert not create(ledger, H200).fits
    ledger = a_cluster(unadmitted("x"), on_its_way("a", 1, H200))
    assert release(ledger)[0] == [["a"]]
    assert not create(ledger, H800).fits


def test_a_pod_that_ends_up_on_another_of_its_cards_is_charged_where_it_is() -> None:
    ledger = a_cluster(unadmitted("x"))
    assert create(ledger, H200).fits
    see(ledger, unadmitted("x").on_node("h800-a").at_revision(2))
    assert create(ledger, H200).fits
    assert create(ledger, H800).shortfalls == (Shortfall(H800, 1, 2, 1),)


def test_what_is_gone_claims_nothing() -> None:
    ledger = a_cluster(unadmitted("x"), unadmitted("y"))
    assert not create(ledger, EITHER).fits
    ledger.pod_gone("uid-x")
    assert create(ledger, EITHER).fits
    ledger.pod_gone("uid-y")
    account = ledger.account("red")
    assert account is not None
    assert account.flexible_claims is None


BEGUN = a_pod("begun").in_queue("red").in_group("gang").stamped("red", {})
"""A member that is let through, and asks for no card."""


def test_e2_what_its_group_has_reserved_is_a_members_own() -> None:
    """Those with a choice are assigned to what the reservation leaves."""
    group = a_group().in_queue("red").of(3).reserving("red", {H200: 1})
    member = on_its_way("a", 1, H200).in_group("gang")
    ledger = a_cluster(group, BEGUN, unadmitted("x"), member)
    assert judge_release(ledger, ledger.pods["uid-a"]).fits
    assert not create(ledger, EITHER).fits


def test_e2_what_is_asked_for_beside_it_counts_first() -> None:
    ledger = a_cluster(on_its_way("a"))
    assert create(ledger, H800, 1, **{H200: 0}).fits
    verdict = create(ledger, H800, 1, **{H200: 1})
    assert verdict.shortfalls == (Shortfall(H800, 1, 2, 1),)
    assert create(ledger, H800, 1, **{H800: 1}).shortfalls == (Shortfall(H800, 1, 2, 1),)
    assert create(ledger, H800).fits


def test_e2_what_is_asked_for_beside_it_may_be_more_than_there_is() -> None:
    ledger = a_cluster(unadmitted("x"))
    assert create(ledger, H200, 1, **{H200: 5}).shortfalls == (Shortfall(H200, 1, 6, 1),)
    assert create(ledger, H800, 1, **{H200: 5}).shortfalls == (Shortfall(H800, 1, 2, 1),)


def test_q7_who_can_be_assigned_is_not_over_the_quota() -> None:
    """The totals count both with the first card; one of them can use the other."""
    ledger = a_cluster(unadmitted("x"), unadmitted("y"))
    account = ledger.account("red")
    assert account is not None
    assert account.row(H200).charged == 2
    assert list(account.over()) == []
    see(ledger, unadmitted("z"))
    assert list(account.over()) == [(H200, 3, 1)]


def test_q7_a_card_is_over_its_quota_that_those_with_no_choice_fill() -> None:
    holder = a_request("held", 2, H200).stamped("red", {H200: 2}).on_node("h200-a")
    account = a_cluster(holder, unadmitted("x")).account("red")
    assert account is not None
    assert list(account.over()) == [(H200, 3, 1)]


def test_q7_who_is_over_by_one_card_lets_others_be_used() -> None:
    quota = QUEUE.with_quota({H200: 1, H800: 1, R4090: 1})
    ledger = a_cluster(quota, unadmitted("x"), unadmitted("y"), unadmitted("z"))
    assert create(ledger, R4090).fits
    assert create(ledger, f"{H200}|{R4090}").cards == ((R4090, 1),)
    assert not create(ledger, H200).fits


def test_a_pod_of_two_card_resources_that_came_past_us_is_counted_by_each() -> None:
    pod = unadmitted("x").naming(None).asking_for(1, "nvidia.com/mig-1g.18gb")
    ledger = a_cluster(pod)
    account = ledger.account("red")
    assert account is not None
    assert account.flexible_claims is None


def test_a_raised_quota_lets_them_all_go() -> None:
    ledger = a_cluster(unadmitted("x"), unadmitted("y"), on_its_way("a"))
    assert release(ledger)[0] == []
    see(ledger, QUEUE.with_quota({H200: 1, H800: 2}))
    assert release(ledger)[0] == [["a"]]


def test_room_on_a_card_it_does_not_name_lets_one_go() -> None:
    """`x` moves to the card that became free, and leaves its own to who waits for that."""
    holder = a_request("held", 1, H800).stamped("red", {H800: 1})
    ledger = a_cluster(holder, unadmitted("x"), on_its_way("a", 1, H200))
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["a"]]


def test_one_that_comes_past_the_gate_later_lets_them_be_looked_at_again() -> None:
    """What `a` was found to need was noted when nobody had a choice."""
    holder = a_request("held", 1, H200).stamped("red", {H200: 1}).on_node("h200-a")
    ledger = a_cluster(holder, on_its_way("a", 1, H200))
    assert release(ledger)[0] == []
    see(ledger, unadmitted("x"))
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["a"]]


def test_room_on_a_card_that_somebody_is_short_of_lets_others_go() -> None:
    """`x` needs two of one card, and finds them on H800: then H200 is for `a`."""
    holder = a_request("held", 1, H800).stamped("red", {H800: 1}).on_node("h800-a")
    quota = QUEUE.with_quota({H200: 1, H800: 2})
    ledger = a_cluster(quota, holder, unadmitted("x", 2), on_its_way("a", 1, H200))
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["a"]]


# --- more unlike ones than are assigned ---------------------------------------------------------


def assigned(monkeypatch: pytest.MonkeyPatch, kinds: int, cards: int = 99) -> None:
    monkeypatch.setattr(flexible_claims, "FLEXIBLE_KINDS", Limit("kinds", kinds))
    monkeypatch.setattr(flexible_claims, "FLEXIBLE_CARDS", Limit("alternatives", cards))


@pytest.mark.parametrize(("kinds", "cards"), [(1, 99), (9, 3)], ids=["kinds", "alternatives"])
def test_i5_one_request_too_many_counts_with_the_card_that_it_is_shown_with(
    kinds: int, cards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assigned(monkeypatch, kinds, cards)
    quota = QUEUE.with_quota({H200: 3, H800: 3})
    ledger = a_cluster(quota, unadmitted("x", 1), unadmitted("y", 2))
    assert create(ledger, H800, 3).fits
    verdict = create(ledger, H200, 2)
    assert verdict.shortfalls == (Shortfall(H200, 2, 5, 3),)
    assert create(ledger, H200, 1).fits
    see(ledger, unadmitted("z", 2), unadmitted("z2", 1))
    assert create(ledger, H800, 2).outcome is Outcome.WAITS


def test_i5_it_is_assigned_as_soon_as_another_request_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assigned(monkeypatch, 1)
    quota = QUEUE.with_quota({H200: 2, H800: 2})
    ledger = a_cluster(quota, unadmitted("x", 1), unadmitted("y", 2), unadmitted("z", 2))
    assert not create(ledger, H800).fits
    ledger.pod_gone("uid-z")
    assert not create(ledger, H200, 1).fits
    ledger.pod_gone("uid-x")
    assert create(ledger, H200, 2).fits
    assert create(ledger, H800, 2).fits
    ledger.pod_gone("uid-y")
    account = ledger.account("red")
    assert account is not None
    assert account.flexible_claims is None


def test_q7_what_counts_with_a_card_over_its_quota_leaves_its_others_to_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may be on one of those; who waits for them is tried when the first has room again."""
    assigned(monkeypatch, 0)
    quota = QUEUE.with_quota({H200: 2, H800: 2, R4090: 1})
    holder = a_request("held", 1, H200).stamped("red", {H200: 1}).on_node("h200-a")
    ledger = a_cluster(quota, unadmitted("y", 2), holder, on_its_way("a", 1, H800))
    assert create(ledger, R4090).fits
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["a"]]


@pytest.mark.parametrize("seed", range(200))
def test_i1_whoever_fits_beside_those_that_are_not_assigned_fits_beside_all(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    cards, live = (H200, H800, R4090), list[PodBody]()
    quota = QUEUE.with_quota({card: dice.randint(0, 5) for card in cards})
    assigned(monkeypatch, dice.randint(0, 2))
    bounded = a_cluster(quota)
    for step in range(14):
        if live and dice.random() < 0.3:
            bounded.pod_gone(live.pop(dice.randrange(len(live))).uid)
        else:
            names = "|".join(dice.sample(cards, dice.randint(1, 3)))
            live.append(unadmitted(f"p{step}", dice.choice((1, 1, 2, 3)), names))
            see(bounded, live[-1])
        account = bounded.account("red")
        assert account is not None
        plain = plainly(bounded, account, at_create=False)
        new, amount = tuple(dice.sample(cards, dice.randint(1, 3))), dice.choice((1, 2))
        verdict = create(bounded, "|".join(new), amount)
        if plain.fits():
            assert not verdict.fits or plain.fits(claim_of(new, amount))


def test_i5_of_very_many_unlike_ones_some_are_assigned() -> None:
    pods = [unadmitted(f"x{n}", n + 1) for n in range(3 * FLEXIBLE_KINDS.most)]
    ledger = a_cluster(*pods)
    account = ledger.account("red")
    assert account is not None
    assert account.flexible_claims is not None
    assert account.flexible_claims.kinds == FLEXIBLE_KINDS.most
    for pod in pods:
        ledger.pod_gone(pod.uid)
    assert account.flexible_claims is None


def test_outside_every_queue_nobody_claims_anything() -> None:
    ledger = a_ledger(*CARDS, a_pod("stock").naming(EITHER).asking_for(1))
    account = ledger.account("")
    assert account is not None
    assert account.flexible_claims is None


@pytest.mark.parametrize("names", [H200, EITHER], ids=["with its card", "with a choice"])
@pytest.mark.parametrize("quota", [2, 3, 6])
def test_q7_what_is_reserved_does_not_fit_either_once_the_card_is_over_its_quota(
    quota: int, names: str
) -> None:
    """The same question, whether or not somebody has a choice: 7 are held or reserved."""
    group = a_group().in_queue("red").of(3).reserving("red", {H200: 2})
    member = on_its_way("a", 1, H200).in_group("gang")
    cluster = QUEUE.with_quota({H200: quota}), group, BEGUN, unadmitted("x", 5, names), member
    verdict = judge_release(a_cluster(*cluster), a_cluster(*cluster).pods["uid-a"])
    assert verdict.shortfalls == (Shortfall(H200, 1, 7, quota),)
    enough = a_cluster(*cluster, QUEUE.with_quota({H200: 7}))
    assert judge_release(enough, enough.pods["uid-a"]).fits


@pytest.mark.parametrize("seed", range(60))
def test_t3_nobody_waits_who_fits_whatever_comes_past_the_gate(seed: int) -> None:
    """What was noted of those who wait hides nobody: the same as if all were tried anew."""
    dice = random.Random(seed)
    cards, nodes = (H200, H800, R4090), {H200: "h200-a", H800: "h800-a", R4090: "4090-a"}
    quota = {card: dice.randint(1, 3) for card in cards}
    ledger = a_ledger(*CARDS, QUEUE.with_quota(quota).with_policy("Gate"))
    live: dict[str, PodBody] = {}
    for step in range(2, 42):
        name, what = f"p{step}", dice.choice(("past", "wait", "bound", "gone", "held"))
        names = "|".join(dice.sample(cards, dice.randint(1, 3)))
        pod = a_request(name, dice.choice((1, 1, 2)), names).at_revision(step)
        if what in ("past", "wait", "held"):
            card = dice.choice(cards)
            held = pod.stamped("red", {card: 1}).on_node(nodes[card])
            live[name] = {"past": pod, "wait": pod.gated(), "held": held}[what]
            see(ledger, live[name])
        elif live:
            name = dice.choice(sorted(live))
            record = ledger.pods.get(f"uid-{name}")
            if what == "gone":
                del live[name]
                ledger.pod_gone(f"uid-{name}")
            elif record and record.stamp is None and not record.gated:
                see(
                    ledger,
                    live[name].on_node(dice.choice(sorted(nodes.values()))).at_revision(step),
                )
        account = ledger.account("red")
        assert account is not None
        if dice.random() < 0.6:
            assert next_opening(ledger, "red") == with_nothing_noted(ledger, account)
            release(ledger)


def test_t3_to_ask_moves_nobody_to_a_card_that_another_one_needs() -> None:
    """One is over the quota with unequal amounts: a card that it could use takes nothing more. An
    equal claim that stands there stays, however often is asked, and the next one gets the other.
    """
    past = [
        unadmitted("p", 2, f"{H200}|{H800}"),
        unadmitted("x", 3, f"{R4090}|{H200}"),
    ]
    new = a_request("new", 2, f"{H200}|{H800}").gated()
    ledger = a_cluster(QUEUE.with_quota({H200: 2, H800: 2, R4090: 0}), *past, new)
    for _ in range(3):
        verdict = judge_release(ledger, ledger.pods["uid-new"])
        assert (verdict.fits, verdict.cards) == (True, ((H800, 2),))
