"""P3: pods that wait are read anew when the nodes change that their selector picks."""

import pytest

from builders import GPU, H200, H800, a_ledger, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Outcome, Reason
from cardquota.quota.decisions import judge_create
from cardquota.quota.pods import ChargeState
from cardquota.quota.release import Opening, Refusal
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports.drift import drift

from ..red_queue import totals

QUEUE = a_queue("red").with_quota({H200: 4, H800: 2})
BIG = a_node("big").with_cards(H200, 8).labelled("pool", "h200")
SMALL = a_node("small").with_cards(H800, 8).labelled("pool", "h800")
SPARE = a_node("spare").with_cards(H800, 8)
POOL = a_pod("p").in_queue("red").asking_for(1).on_nodes_labelled({"pool": "h800"})


MADE = a_pod("p").in_queue("red").asking_for(1)
NAMED = MADE.made_for("small")


@pytest.mark.parametrize("pod", [POOL, NAMED, POOL.gated(), NAMED.gated()])
def test_p3_a_waiting_pod_follows_the_nodes_that_are_there(pod: PodBody) -> None:
    # At zero nothing tells which card it is. At the gate what is asked for is shown all the same.
    none = {H200: 1} if "schedulingGates" in pod.body["spec"] else {}
    ledger = a_ledger(BIG, SPARE, QUEUE, pod)
    assert dict(ledger.pods[pod.uid].charge) == none
    see(ledger, SMALL)
    assert dict(ledger.pods[pod.uid].charge) == {H800: 1}
    ledger.node_gone("small")
    assert dict(ledger.pods[pod.uid].charge) == none
    see(ledger, SMALL)
    assert dict(ledger.pods[pod.uid].charge) == {H800: 1}
    see(ledger, SMALL.labelled(f"{GPU}.product", H200))
    assert dict(ledger.pods[pod.uid].charge) == {H200: 1}


def test_p3_a_pod_of_a_daemon_set_waits_without_quota_while_its_node_has_no_card() -> None:
    """On every node without cards there is one: together they would take the whole quota."""
    bare = a_node("small")
    ledger = a_ledger(BIG, bare, QUEUE, NAMED.gated())
    at_create = judge_create(ledger, NAMED.facts())
    assert (at_create.outcome, at_create.reason) == (Outcome.UNSEEN, Reason.NODE_WITHOUT_CARD)
    assert at_create.text == (
        "Queue <red>, requested <1> of <nvidia.com/gpu>: no node it may use has such a card; it "
        "waits; add a node selector"
    )
    (refusal,) = openings(ledger, "red")
    assert isinstance(refusal, Refusal)
    assert refusal.verdict.reason is Reason.NODE_WITHOUT_CARD
    assert list(openings(ledger, "red")) == []
    see(ledger, SMALL)
    (opening,) = openings(ledger, "red")
    assert isinstance(opening, Opening)
    assert opening.pods[0][1] == ((H800, 1),)


@pytest.mark.parametrize("cards", [None, H800])
def test_p5_on_nodes_without_its_card_a_daemon_set_takes_no_quota_from_the_others(
    cards: str | None,
) -> None:
    """Whether it names the card or not: what can never run there holds nothing."""
    queue = QUEUE.with_quota({H800: 1})
    waits = MADE.made_for("bare").naming(cards).with_uid("elsewhere").gated()
    ledger = a_ledger(BIG, SMALL, a_node("bare"), queue, waits)
    assert totals(ledger, H800) == (1, 0, 0, 0)
    assert judge_create(ledger, NAMED.naming(cards).facts()).outcome is Outcome.FITS
    (refusal,) = openings(ledger, "red")
    assert isinstance(refusal, Refusal)
    assert refusal.verdict.reason is Reason.NODE_WITHOUT_CARD
    see(ledger, a_node("bare").with_cards(H800, 8))
    (opening,) = openings(ledger, "red")
    assert isinstance(opening, Opening)


@pytest.mark.parametrize(
    ("cards", "requested"),
    [
        (None, {H200: 1}),  # most quota
        (H800, {H800: 1}),
        (f"{H800}|{H200}", {H800: 1}),
        (f"NVIDIA-L4|{H800}", {H800: 1}),  # the first with a quota
        ("NVIDIA-L4", {"NVIDIA-L4": 1}),
    ],
)
def test_what_waits_for_a_node_with_its_card_is_requested(
    cards: str | None, requested: dict[str, int]
) -> None:
    """Section 6: all that are not finished, gated ones included."""
    l4 = a_node("l4").with_cards("NVIDIA-L4", 8)
    pod = MADE.made_for("bare").naming(cards).with_cpu("2").gated()
    ledger = a_ledger(BIG, SMALL, l4, a_node("bare"), QUEUE, pod)
    record = ledger.pods[pod.uid]
    assert dict(record.charge) == {**requested, "cpu": 2000}
    assert (
        record.charge_state is ChargeState.GATED_GATE
    )  # in nobody's way, though its policy is Deny
    see(ledger, a_node("bare").with_cards(H800, 8))
    assert record.charge_state is (
        ChargeState.GATED_GATE if cards == "NVIDIA-L4" else ChargeState.GATED_DENY
    )


@pytest.mark.parametrize("cards", ["NVIDIA-H2OO", f"{H200}|NVIDIA-H2OO", "|"])
def test_p4_what_is_wrong_on_any_node_is_refused_on_a_named_one(cards: str) -> None:
    bare = a_node("small")
    verdict = judge_create(a_ledger(BIG, bare, QUEUE), NAMED.naming(cards).facts())
    assert (verdict.outcome, verdict.reason) == (Outcome.NEVER, Reason.INVALID_CARD)


def test_of_very_many_that_a_node_moves_some_are_read_anew_at_once_others_by_and_by() -> None:
    pods = [
        a_pod(f"p{n}").in_queue("red").asking_for(1).gated().on_nodes_labelled({"pool": "new"})
        for n in range(300)
    ]
    ledger = a_ledger(BIG, SMALL, QUEUE, *pods)
    account = ledger.account("red")
    assert account is not None
    see(ledger, a_node("new").with_cards(H800, 8).labelled("pool", "new"))
    moved = [account.row(H800).requested]
    while ledger.behind:
        ledger.catch_up()
        moved.append(account.row(H800).requested)
        assert drift(ledger) == {}
    assert moved == [128, 256, 300]


def test_so_are_those_that_may_use_a_card_that_no_node_had_before() -> None:
    stock = a_pod().in_queue("red").asking_for(1)
    waiting = [stock.gated().with_uid(f"p{n}") for n in range(300)]
    unadmitted = stock.with_uid("past-us")
    queue = a_queue("red").with_quota({H800: 2, H200: 4})
    ledger = a_ledger(queue, *waiting, unadmitted, at_once=100)
    account = ledger.account("red")
    assert account is not None
    see(ledger, SMALL)
    read = [account.row(H800).requested]
    turns = iter(range(1_000))
    while ledger.overdue:
        ledger.pod_gone("p99")
        ledger.reassessment.read_overdue(lambda: next(turns) % 50 == 49)
        read.append(account.row(H800).requested)
        assert drift(ledger) == {}
    assert read[0] == 100
    assert read[-1] == 300
    assert account.row(H800).inqueue == 1
