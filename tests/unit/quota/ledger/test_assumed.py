"""Charged before the gate opens: what stays charged until the patch is seen, and what does not."""

from builders import H200, a_group, see
from cardquota.quota import Stamp
from cardquota.quota.ledger import Ledger

from ..red_queue import POD, a_cluster, totals

STAMP = Stamp("red", ((H200, 2),), "term-1")


def assumed() -> Ledger:
    ledger = a_cluster(POD.gated())
    ledger.decisions.assume(POD.uid, STAMP)
    assert totals(ledger) == (2, 2, 0, 0)
    return ledger


def test_what_was_decided_is_seen_when_the_open_gate_is() -> None:
    ledger = assumed()
    see(ledger, a_group("gang").in_queue("red").of(2))
    ledger.decisions.reserve("team/gang", "red", "term-1", ((H200, 1),))
    seen = ledger.decisions.all_seen()
    ledger.decisions.confirm(POD.uid, STAMP, 7)
    assert not seen()
    see(ledger, POD.stamped("red", {H200: 2}).at_revision(7))
    assert not seen()
    ledger.group_gone("team/gang")
    assert seen()
    assert ledger.decisions.all_seen()()


def test_or_when_the_pod_is_gone() -> None:
    ledger = assumed()
    seen = ledger.decisions.all_seen()
    ledger.pod_gone(POD.uid)
    assert seen()


def test_what_was_charged_anew_since_is_left_alone_though_it_is_equal() -> None:
    """Its group was made again under its name, say, and another start has charged the pod."""
    ledger = assumed()
    before = Stamp(*STAMP)
    ledger.decisions.retract(POD.uid, before, back_off=True)
    ledger.decisions.confirm(POD.uid, before, 9)
    assert totals(ledger) == (2, 2, 0, 0)
    assert ledger.pods[POD.uid].settled_revision == 0


def test_at_the_end_of_a_term_only_what_is_seen_counts() -> None:
    ledger = a_cluster(a_group().in_queue("red").of(2), POD.gated().in_group("gang"))
    ledger.decisions.reserve("team/gang", "red", "t", ((H200, 3),))
    ledger.decisions.assume(POD.uid, STAMP)
    assert totals(ledger) == (2, 3, 0, 0)
    list(ledger.decisions.end_term_in_steps())
    assert totals(ledger) == (2, 0, 0, 0)
    ledger.dirty.pending.take()
    ledger.decisions.begin_term()
    assert ledger.dirty.pending.take() == {"red"}
    assert ledger.dirty.groups.take() == {"team/gang"}
