"""R7: pods that have waited for long, and for want of what."""

from collections.abc import Sequence

import pytest

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions.groups.gang_judgement import judge_gang
from cardquota.quota.ledger.ledger import Ledger
from cardquota.quota.messages import stuck_messages
from cardquota.quota.pods.pod_record import PodRecord
from cardquota.quota.stuck import gated
from cardquota.quota.stuck.gated import GateReasons, describe_gated, long_at_the_gate
from cardquota.quota.stuck.stuck_finding import StuckFinding

from .stuck_things import NOON, deleted, waiting


def a_cluster(*things: Body, quota: int = 1) -> Ledger:
    return a_ledger(*CARDS, a_queue().with_quota({H200: quota}), *things)


def found(ledger: Ledger, *, after: float = 3_600) -> dict[str, StuckFinding]:
    reasons = GateReasons(ledger)
    return {
        one.record.facts.name: describe_gated(one, reasons.of(one.record))
        for one in long_at_the_gate(ledger, NOON, after)
        if one is not None
    }


def test_r7_who_waits_for_long_is_told_for_want_of_what() -> None:
    ledger = a_cluster(waiting(cards=1), waiting("new", 1, created="2026-01-02T11:30:00Z"), quota=0)
    one = found(ledger)["train"]
    assert set(found(ledger)) == {"train"}
    assert (one.queue, dict(one.cards), one.age, one.node) == ("queue", {H200: 1}, 7_200, "")
    assert one.reason == v.Reason.INSUFFICIENT_CARD
    assert one.message.startswith(
        "has waited at its gate for <2 h>: Queue <queue> has insufficient <NVIDIA-H200> quota: "
        "requested <1>, total would be <1>, but capability is <0>"
    )


def test_r7_who_waits_for_his_group_for_a_queue_or_for_nobody() -> None:
    ledger = a_cluster(
        waiting("lonely").in_group("nowhere"),
        waiting("lost").in_queue("gone"),
        waiting("free", 1),
        waiting("nobodys").in_queue(None).naming(None),
    )
    reasons = {name: one.reason for name, one in found(ledger).items()}
    assert reasons == {
        "lonely": v.Reason.GROUP_NOT_FOUND,
        "lost": v.Reason.QUEUE_NOT_FOUND,
        "free": "",
        "nobodys": v.Reason.QUEUE_NOT_FOUND,
    }
    assert found(ledger)["nobodys"].queue is None
    assert found(ledger)["free"].why.startswith("Queue <queue> has room for it now")


def test_r7_a_gang_is_judged_whole() -> None:
    ledger = a_cluster(
        a_group("gang").in_queue("queue").of(2),
        waiting("a", 1).in_group("gang"),
        waiting("b", 1).in_group("gang"),
    )
    told = found(ledger)
    assert {one.reason for one in told.values()} == {v.Reason.INSUFFICIENT_CARD}
    assert "requested <2>, total would be <2>, but capability is <1>" in told["a"].why


def test_r7_a_gang_of_which_no_two_are_alike_is_judged_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else it costs by the square of its members."""
    members = [waiting(f"w{n}", 1).with_cpu(f"{n + 1}m").in_group("gang") for n in range(50)]
    ledger, judged = a_cluster(a_group("gang").in_queue("queue").of(50), *members), list[int]()

    def counting(ledger: Ledger, pods: Sequence[PodRecord]) -> object:
        judged.append(len(pods))
        return judge_gang(ledger, pods)

    monkeypatch.setattr(gated, "judge_gang", counting)
    assert len({one.why for one in found(ledger).values()}) == 1
    assert judged == [50]


def test_r7_a_gang_that_lacks_members_or_is_about_to_start() -> None:
    gang = a_group("gang").in_queue("queue").of(2)
    ledger = a_cluster(gang, waiting("a", 1).in_group("gang"), quota=2)
    assert found(ledger)["a"].reason == v.Reason.GANG_INCOMPLETE
    see(ledger, waiting("b", 1).in_group("gang"))
    ledger.groups["team/gang"].held_back = True
    assert found(ledger)["a"].reason == v.GATE_REFUSED
    ledger.groups["team/gang"].held_back = False
    ledger.decisions.reserve("team/gang", "queue", "term-1", ((H200, 2),))
    assert found(ledger)["a"].why.startswith("it is about to be let through")


def test_r7_whose_gate_could_not_be_opened() -> None:
    ledger = a_cluster(waiting("a", 1))
    record = ledger.pods["a"]
    ledger.decisions.hold_back("a")
    assert record.held_back
    assert found(ledger)["a"].reason == v.GATE_REFUSED


def test_r7_who_is_held_up_in_a_fifo_queue() -> None:
    fifo = a_queue().with_quota({H200: 2}).put("fifo", "spec", "dequeueStrategy")
    ledger = a_ledger(
        *CARDS,
        fifo,
        waiting("first", 3, created="2026-01-02T09:00:00Z"),
        waiting("second", 1),
        waiting("third", 1),
        a_pod("x")
        .with_uid("x")
        .in_queue("queue")
        .naming(H200)
        .asking_for(1)
        .stamped("queue", {H200: 1}),
    )
    see(ledger, a_queue().with_quota({H200: 3}).put("fifo", "spec", "dequeueStrategy"))
    told = found(ledger)
    assert told["first"].reason == v.Reason.INSUFFICIENT_CARD
    assert told["second"].reason == told["third"].reason == v.Reason.BEHIND
    assert "at least <1> wait for <NVIDIA-H200> before this pod" in told["second"].why


def test_r7_where_nothing_is_enforced_and_of_those_that_leave() -> None:
    """There every gate is opened, whatever the quota."""
    ledger = a_cluster(waiting("audited", 1), deleted(waiting("leaves")), quota=0)
    assert found(ledger)["audited"].reason == v.Reason.INSUFFICIENT_CARD
    for mode in ("off", "audit"):
        see(ledger, a_namespace("team").in_mode(mode))
        told = found(ledger)
        assert set(told) == {"audited"}
        assert told["audited"].reason == ""
        assert told["audited"].why.startswith("no quota is enforced in its namespace")
    ledger.decisions.hold_back("audited")
    assert found(ledger)["audited"].reason == v.GATE_REFUSED


def test_r7_who_exceeds_a_limit_waits_where_nothing_is_enforced_too() -> None:
    ledger = a_cluster(waiting("large", 1).naming("x" * 20_000))
    see(ledger, a_namespace("team").in_mode("off"))
    one = found(ledger)["large"]
    assert "volcano.sh/card.name" in one.why
    assert not one.why.startswith("no quota is enforced")


def test_r7_more_quota_is_no_advice_where_it_would_not_help() -> None:
    ledger = a_cluster(
        waiting("lacks", 2),
        waiting("odd", 1).naming("NVIDIA-NONE"),
        waiting("fits", 1),
        waiting("lost").in_queue("gone"),
    )
    told = found(ledger)
    assert told["lacks"].advice == stuck_messages.ADVICE_GATED
    others = {told[name].advice for name in ("odd", "fits", "lost")}
    assert others == {stuck_messages.ADVICE_GATED_OTHERS}
    assert told["fits"].sentence.endswith("a replica leads (metric cardquota_leader)")


def test_r7_times_that_cannot_be_read_or_are_still_to_come() -> None:
    ledger = a_cluster(
        waiting("odd", created="a while ago"),
        waiting("later", created="9999-01-01T00:00:00Z"),
        waiting("old", created="0001-01-01T00:00:00Z"),
    )
    assert set(found(ledger)) == {"old"}


def test_r7_many_alternatives_are_cut() -> None:
    names = "|".join(f"NVIDIA-X{number}" for number in range(200))
    one = found(a_cluster(waiting().naming(names)))["train"]
    assert all(len(card) < 200 for card in one.cards)


def test_r7_who_goes_between_two_steps_is_left_out() -> None:
    ledger = a_cluster(*(waiting(f"w{number}") for number in range(300)))
    steps = long_at_the_gate(ledger, NOON, 0)
    assert next(steps) is not None
    for number in range(300):
        ledger.pod_gone(f"w{number}")
    assert [one for one in steps if one is not None] == []


def test_r7_who_was_let_through_meanwhile_is_behind_nobody() -> None:
    ledger = a_cluster(waiting("a"), quota=4)
    see(ledger, a_queue().with_quota({H200: 4}).fifo())
    record = ledger.pods["a"]
    see(ledger, waiting("a").stamped("queue", {H200: 1}))
    assert GateReasons(ledger).of(record).reason == ""
