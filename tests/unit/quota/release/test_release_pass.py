"""E6: whose gate opens next. A job that waits for one model never holds up another."""

import pytest

from builders import H200, a_group, a_namespace, see
from cardquota.quota import Reason
from cardquota.quota.accounts import OUTSIDE
from cardquota.quota.pending import Candidate
from cardquota.quota.release import Opening, ReleaseJudge, Wait

from ..releasing import QUEUE, a_cluster, names, release, waiting


def test_e6_a_pod_of_a_namespace_that_is_kept_out_holds_up_no_other() -> None:
    ledger = a_cluster(
        QUEUE.open_to("team"), waiting("a-kept-out").in_namespace("other"), waiting("b")
    )
    opened, refusals = release(ledger)
    assert opened == [["b"]]
    assert names(refusals) == [["a-kept-out"]]


def test_e6_a_pod_whose_group_never_comes_holds_up_no_other() -> None:
    ledger = a_cluster(
        a_group("there").in_queue("red"),
        waiting("a").in_group("missing"),
        waiting("b").in_group("there"),
        waiting("c").in_group("missing too"),
    )
    opened, refusals = release(ledger)
    assert opened == [["b"]]
    assert [r.verdict.reason for r in refusals] == [Reason.GROUP_NOT_FOUND] * 2
    assert "team/missing too" in refusals[1].verdict.text


def test_e6_a_pod_that_disagrees_with_its_group_holds_up_no_other() -> None:
    ledger = a_cluster(
        a_group("one").in_queue("red"),
        waiting("a").in_queue("blue").in_group("one"),
        waiting("b").in_queue("red").in_group("one"),
        waiting("c").in_queue(None).in_group("one"),
    )
    opened, refusals = release(ledger)
    assert opened == [["b"], ["c"]]
    assert names(refusals) == [["a"]]


def test_a_queue_that_nobody_knows_has_nothing_to_open() -> None:
    assert release(a_cluster(), "unknown") == ([], [])


def test_e6_the_class_that_a_group_names_lifts_none_of_its_pods() -> None:
    urgent = a_group("urgent").in_queue("red").put("high", "spec", "priorityClassName")
    urgent = urgent.created("2027-01-01T00:00:00Z")
    for minimum in (1, 2):
        ledger = a_cluster(waiting("a", 3), urgent.of(minimum))
        see(ledger, *(waiting(f"b{n}", 1).in_group("urgent") for n in range(minimum)))
        ledger.priority_class_seen("high", 100)
        assert release(ledger)[0] == [["a"]]


# --- modes, queues ------------------------------------------------------------------------------


def test_a_namespace_that_goes_to_audit_lets_those_who_wait_go() -> None:
    ledger = a_cluster(a_namespace().in_mode("enforced"), waiting("a", 9))
    assert release(ledger)[0] == []
    ledger.dirty.pending.take()
    see(ledger, a_namespace().in_mode("audit").at_revision(2))
    assert OUTSIDE in ledger.dirty.pending.take()
    assert release(ledger, OUTSIDE)[0] == [["a"]]


# --- what is noted of those who wait, and what activates them -----------------------------------


def test_who_lacks_something_else_now_is_told_so() -> None:
    queue = QUEUE.limited_to(cpu="1")
    ledger = a_cluster(queue, waiting("held", 3).with_cpu("1").stamped("red", {H200: 3}))
    see(ledger, waiting("a").with_cpu("1"), waiting("b").with_cpu("1"))
    assert [r.verdict.reason for r in release(ledger)[1]] == [Reason.INSUFFICIENT_CARD]
    see(ledger, waiting("held", 3).with_cpu("1").stamped("red", {H200: 1}).at_revision(2))
    _, refusals = release(ledger)
    assert [r.verdict.reason for r in refusals] == [Reason.INSUFFICIENT_CPU]
    assert names(refusals) == [["a", "b"]]


def test_a_decision_looks_at_those_alone_for_whom_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever number of unlike pods and gangs waits."""
    held = waiting("held", 3).stamped("red", {H200: 3})
    ledger = a_cluster(held)
    for n in range(100):
        see(ledger, waiting(f"p{n:02}").with_cpu(f"{n}m"), a_group(f"g{n}").in_queue("red").of(2))
        see(ledger, *(waiting(f"g{n}-{x}").in_group(f"g{n}").with_cpu(f"{n}m") for x in "ab"))
    assert len(release(ledger)[1]) == 200
    looked: list[object] = []
    judge = ReleaseJudge.judge

    def noted(self: ReleaseJudge, one: Candidate) -> Opening | Wait:
        looked.append(one)
        return judge(self, one)

    monkeypatch.setattr(ReleaseJudge, "judge", noted)
    assert release(ledger) == ([], [])
    assert looked == []
    see(ledger, waiting("held", 3).stamped("red", {H200: 2}).at_revision(2))
    assert len(release(ledger)[0]) == 1
    assert len(looked) <= 3
