"""E6: whose gate opens next. A job that waits for one model never holds up another."""

import pytest

from builders import H200, a_group, a_namespace, a_pod, a_queue, see
from cardquota.quota import Reason, Stamp
from cardquota.quota.accounts import OUTSIDE
from cardquota.quota.pending import Candidate
from cardquota.quota.release import Opening, ReleaseJudge, Wait
from cardquota.quota.release.cycle import openings

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


def test_e6_a_pod_that_was_edited_wrong_holds_up_no_other() -> None:
    wrong, right = waiting("a").asking_for("-1"), a_pod("b").in_queue("red").gated()
    ledger = a_cluster(wrong.naming(None), right)
    assert release(ledger)[0] == [["b"]]


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


def test_each_is_told_what_is_wrong_with_its_own_text() -> None:
    ledger = a_cluster(waiting("a", card="one||"), waiting("b", card="two||"))
    texts = {r.pods[0].facts.name: r.verdict.text for r in release(ledger)[1]}
    assert "one||" in texts["a"]
    assert "two||" in texts["b"]


# --- modes, queues ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["audit", "off"])
def test_audit_holds_nobody_up(mode: str) -> None:
    ledger = a_cluster(a_namespace("lax").in_mode(mode))
    see(ledger, waiting("a", 9).in_namespace("lax").with_cpu("1"), waiting("b", 9))
    assert release(ledger, OUTSIDE)[0] == [["a"]]
    opened, refusals = release(ledger)
    assert opened == []
    assert names(refusals) == [["b"]]
    account = ledger.account("red")
    assert account is not None
    assert account.row(H200).inqueue == 0


def test_a_queue_that_nobody_knows_has_nothing_to_open() -> None:
    assert release(a_cluster(), "unknown") == ([], [])


def test_who_waits_in_a_queue_that_is_gone_is_told() -> None:
    ledger = a_cluster(waiting("a"))
    ledger.queue_gone("red")
    _, refusals = release(ledger)
    assert refusals[0].verdict.reason is Reason.QUEUE_NOT_FOUND


def test_one_that_has_been_told_is_not_told_again() -> None:
    ledger = a_cluster(waiting("a", 9))
    assert len(release(ledger)[1]) == 1
    assert release(ledger)[1] == []


def test_e6_the_class_that_a_group_names_lifts_none_of_its_pods() -> None:
    urgent = a_group("urgent").in_queue("red").put("high", "spec", "priorityClassName")
    urgent = urgent.created("2027-01-01T00:00:00Z")
    for minimum in (1, 2):
        ledger = a_cluster(waiting("a", 3), urgent.of(minimum))
        see(ledger, *(waiting(f"b{n}", 1).in_group("urgent") for n in range(minimum)))
        ledger.priority_class_seen("high", 100)
        assert release(ledger)[0] == [["a"]]


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


def test_an_opening_that_is_not_charged_ends_the_pass() -> None:
    ledger = a_cluster(waiting("a"), waiting("b", 2))
    assert len(list(openings(ledger, "red"))) == 1
    assert release(ledger)[0] == [["a"], ["b"]]


def test_one_that_is_held_back_is_passed_over_until_it_is_put_back() -> None:
    ledger = a_cluster(waiting("a"), waiting("b"))
    for found in openings(ledger, "red"):
        assert isinstance(found, Opening)
        ((record, cards),) = found.pods
        if record.facts.name == "a":
            ledger.decisions.back_off("uid-a")
        else:
            ledger.decisions.assume("uid-b", Stamp("red", cards, "t"))
    assert release(ledger) == ([], [])
    ledger.decisions.put_back("uid-a")
    assert release(ledger)[0] == [["a"]]


def test_one_that_waits_for_knowledge_is_tried_again_when_something_is_learned() -> None:
    """Not for room: that is not what it lacks, and it is not asked again while nothing changes."""
    ledger = a_cluster(waiting("odd", card="NVIDIA-A100"))
    first = release(ledger)[1]
    assert [refusal.verdict.reason for refusal in first] == [Reason.INVALID_CARD]
    assert release(ledger) == ([], [])
    see(ledger, a_queue("blue").with_quota({"NVIDIA-A100": 1}))
    again = release(ledger)[1]
    assert [refusal.verdict.reason for refusal in again] == [Reason.CARD_NOT_IN_QUOTA]
