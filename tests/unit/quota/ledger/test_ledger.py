"""The ledger, event by event: the totals of section 6, and what stays charged."""

import pytest

from builders import H200, H800, SHARED, Body, a_group, a_ledger, a_node, a_pod, see
from cardquota.quota import CHARGED_QUEUE, TERM, Reservation, Stamp
from cardquota.quota.pods import ChargeState
from cardquota.quota.reports import Totals
from cardquota.quota.reports.drift import drift

from ..red_queue import POD, RED, a_cluster, totals

# --- section 6 --------------------------------------------------------------------------------


def test_i3_a_pod_that_got_past_admission_is_counted_and_told_of() -> None:
    ledger = a_cluster(a_pod().asking_for(1).in_queue("red").on_node("h800-a"))
    assert totals(ledger, H800) == (1, 0, 1, 0)
    assert ledger.dirty.unadmitted.take() == {"uid-pod"}
    assert ledger.dirty.unadmitted.take() == set()


def test_strangers_may_be_taken_some_at_a_time() -> None:
    pods = (a_pod(f"p{n}").asking_for(1).in_queue("red").on_node("h200-a") for n in range(5))
    ledger = a_cluster(*pods)
    news = ledger.dirty.unadmitted
    taken = [news.take(2), news.take(2), news.take(2)]
    assert [len(uids) for uids in taken] == [2, 2, 1]
    assert (len(set().union(*taken)), news) == (5, set())


# --- E3: bound to another model than it was released for --------------------------------------

STAMPED = POD.stamped("red", {H200: 2})
ELSEWHERE = STAMPED.on_node("h800-a").at_revision(2)


RUNNING = ELSEWHERE.in_phase("Running")
WRITTEN = ELSEWHERE.stamped("red", {H800: 2}).at_revision(3)
RELABELLED = a_node("h800-a").with_cards(f"{H800}-SHARED", 8)


def test_d8_of_a_pod_first_seen_when_it_runs_the_stamp_says_what_its_node_was() -> None:
    """The operator starts anew, and the node shows another model since."""
    ledger = a_ledger(
        RED, RELABELLED, POD.stamped("red", {H800: 2}).on_node("h800-a").in_phase("Running")
    )
    assert totals(ledger, H800) == (2, 0, 2, 0)
    assert totals(ledger, f"{H800}-SHARED") == (0, 0, 0, 0)
    assert not ledger.misplaced


def test_e3_a_pod_that_runs_when_it_is_seen_bound_is_charged_by_its_node() -> None:
    """It was known unbound before: a watch may miss the moment between."""
    ledger = a_cluster(STAMPED)
    see(ledger, RUNNING)
    assert totals(ledger, H800) == (2, 0, 2, 0)
    assert ledger.misplaced == {POD.uid}
    assert ledger.dirty.incorrect.take() == {POD.uid}
    assert ledger.dirty.incorrect.take() == set()


def test_e3_a_pod_whose_stamp_says_other_cards_than_it_holds_is_to_be_stamped_anew() -> None:
    """And then it is charged as before, whatever becomes of the node."""
    ledger = a_cluster(STAMPED)
    assert not ledger.misplaced
    see(ledger, ELSEWHERE)
    assert ledger.misplaced == {POD.uid}
    see(ledger, WRITTEN)
    assert not ledger.misplaced
    assert totals(ledger) == (0, 0, 0, 0)
    assert totals(ledger, H800) == (2, 0, 2, 0)
    see(ledger, RELABELLED, WRITTEN.in_phase("Running").at_revision(4))
    assert totals(ledger, H800) == (2, 0, 2, 0)


@pytest.mark.parametrize(
    "node",
    [
        a_node("n").sharing(H200, 8, "144384"),
        a_node("n").showing(H200).with_slices("1g.18gb", 7),
        a_node("n"),
        a_node("n").with_cards("XPU", 8, "new.example/xpu"),
    ],
)
def test_e10_a_node_that_says_nothing_of_another_model_changes_nothing(node: Body) -> None:
    """How it divides its cards may have changed while the pod ran and nobody looked."""
    shared = POD.asking_for(2, SHARED).stamped("red", {H200: 2}).on_node("n")
    assert totals(a_cluster(node, shared)) == (2, 0, 2, 0)


def test_e10_a_pod_released_with_a_choice_counts_with_the_card_of_its_node() -> None:
    """As an earlier version did it: queue and term are on it, and no card."""
    pod = a_pod("old").in_queue("red").naming(f"{H200}|{H800}").asking_for(1)
    pod = pod.annotated(CHARGED_QUEUE, "red").annotated(TERM, "term-1").managed()
    ledger = a_cluster(RED.with_quota({H200: 2, H800: 2}), pod)
    assert totals(ledger) == (0, 0, 0, 0)
    account = ledger.account("red")
    assert account is None or not account.unadmitted
    see(ledger, pod.on_node("h800-a").at_revision(2))
    assert totals(ledger) == (0, 0, 0, 0)
    assert totals(ledger, H800) == (1, 0, 1, 0)
    assert drift(ledger) == {}


# --- stale and repeated events ------------------------------------------------------------------


def test_what_is_not_known_may_be_gone() -> None:
    ledger = a_ledger()
    for gone in (ledger.pod_gone, ledger.node_gone, ledger.queue_gone, ledger.group_gone):
        gone("unknown")
    ledger.namespace_gone("unknown")
    for tell in (ledger.decisions.put_back, ledger.decisions.back_off):
        tell("unknown")
    stamp = Stamp("red", (), "term-1")
    ledger.decisions.retract("unknown", stamp)
    ledger.decisions.confirm("unknown", stamp, 1)
    reservation = Reservation("red", "term-1", ())
    ledger.decisions.retract_reservation("unknown", reservation)
    ledger.decisions.confirm_reservation("unknown", reservation, 1)
    assert not list(ledger.accounts())


# --- queues -------------------------------------------------------------------------------------


def test_a_drift_would_be_told() -> None:
    ledger = a_cluster(POD)
    account = ledger.account("red")
    assert account is not None
    account.add(H200, ChargeState.RELEASED, 1)
    assert drift(ledger) == {("red", H200): (Totals(3, 3), Totals(2, 2))}


def test_at_rest_nothing_is_to_be_looked_at() -> None:
    ledger = a_cluster(POD, a_group(), POD.with_uid("member").in_group("gang"))
    ledger.decisions.rest()
    assert (ledger.dirty.take_changed(), ledger.dirty.pending.take()) == (set(), set())
    assert (ledger.dirty.groups.take(), ledger.dirty.unadmitted.take()) == (set(), set())
