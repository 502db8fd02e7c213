"""F3: who waits, in which order, and for want of what."""

from builders import H200, a_group, see
from cardquota.quota import Steps, to_its_end
from cardquota.quota import vocabulary as v
from cardquota.quota.answers import QueueAnswer, place_in, queue_answer, waiting_order
from cardquota.quota.answers.waiting import AT_A_TIME
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import report
from cardquota.quota.reports.drift import drift

from .asked_cluster import a_cluster, asked, holding, waiting


def names(ledger: Ledger, limit: int = 20) -> list[str]:
    return [one.name for one in asked(ledger, limit=limit).waiters]


def place_of(ledger: Ledger, name: str) -> int:
    account = ledger.account("queue")
    assert account is not None
    facts = ledger.pods[name].facts
    return place_in(to_its_end(waiting_order(ledger, account)), facts.group, facts.uid)


def test_f3_in_the_order_of_release() -> None:
    ledger = a_cluster(
        waiting("late", created="2026-01-02T11:00:00Z"),
        waiting("early", created="2026-01-02T09:00:00Z"),
        waiting("urgent", created="2026-01-02T11:30:00Z").with_priority(5),
        waiting("large", 3, created="2026-01-02T10:00:00Z"),
        quota=0,
    )
    assert names(ledger) == ["urgent", "early", "large", "late"]
    assert [one.place for one in asked(ledger).waiters] == [1, 2, 3, 4]
    assert names(ledger, limit=2) == ["urgent", "early"]
    assert [place_of(ledger, name) for name in names(ledger)] == [1, 2, 3, 4]


def test_f3_a_gang_that_starts_whole_has_one_place() -> None:
    ledger = a_cluster(
        a_group("gang").in_queue("queue").of(2),
        *(waiting(f"m{n}", 2).in_group("gang") for n in range(3)),
        waiting("alone", created="2026-01-02T11:00:00Z"),
        quota=3,
    )
    gang, alone = asked(ledger).waiters
    assert (gang.kind, gang.name, gang.pods) == ("PodGroup", "gang", 3)
    assert [(one.name, one.amount) for one in gang.asks] == [(H200, 6)]
    assert "requested <4>" in gang.message
    assert alone.name == "alone"
    assert place_of(ledger, "m1") == 1
    assert place_of(ledger, "alone") == 2


def test_f3_a_group_whose_pods_are_still_to_come_waits_too() -> None:
    ledger = a_cluster(a_group("early").in_queue("queue").of(2).asking({H200: 6}), quota=4)
    (only,) = asked(ledger).waiters
    assert (only.kind, only.name, only.pods) == ("PodGroup", "early", 0)
    assert [(one.name, one.amount) for one in only.asks] == [(H200, 6)]
    assert only.reason == v.Reason.INSUFFICIENT_CARD
    see(ledger, waiting("m0", 3).in_group("early"), waiting("next", created="2026-01-02T11:00:00Z"))
    assert [(one.kind, one.name) for one in asked(ledger).waiters] == [
        ("PodGroup", "early"),
        ("Pod", "next"),
    ]
    assert place_of(ledger, "next") == 2
    assert place_of(ledger, "m0") == 1


def test_f3_who_holds_his_cards_has_no_place() -> None:
    ledger = a_cluster(holding("a"), waiting("b").in_group("gone"))
    assert place_of(ledger, "a") == 0
    account = ledger.account("queue")
    assert account is not None
    order = to_its_end(waiting_order(ledger, account))
    ledger.group_seen(a_group("idle").in_queue("queue").of(2).facts())
    assert place_in(order, "team/idle", "") == 0


def test_f2_what_goes_while_others_are_looked_at_is_left_out() -> None:
    many = [waiting(f"w{n:03}", n + 1) for n in range(2 * AT_A_TIME)]
    gangs = [a_group(f"g{n}").in_queue("queue").of(2) for n in range(2)]
    early = [a_group(f"e{n}").in_queue("queue").of(2).asking({H200: n + 1}) for n in range(2)]
    members = [waiting(f"m{n}", n + 1).in_group(f"g{n}") for n in range(2)]
    ledger = a_cluster(*gangs, *early, *many, *members, quota=1)
    steps = queue_answer(ledger, "queue", limit=200, time="")
    for _ in range(4):
        next(steps)
    ledger.group_gone("team/e1")
    ledger.pod_gone("w127")
    ledger.pod_gone("m0")
    ledger.group_gone("team/g0")
    found = to_its_end(steps)
    assert found is not None
    assert {"e1", "w127", "g0"}.isdisjoint(one.name for one in found.waiters)
    assert len(found.waiters) == len(many) + len(gangs) + len(early) - 3


def test_f2_between_any_two_steps_everything_may_go() -> None:
    def the_cluster() -> Ledger:
        return a_cluster(
            a_group("gang").in_queue("queue").of(2),
            a_group("early").in_queue("queue").of(2).asking({H200: 6}),
            waiting("m0").in_group("gang"),
            waiting("a"),
            waiting("b", 2),
            holding("h"),
            quota=1,
        )

    def steps_of(ledger: Ledger) -> Steps[QueueAnswer | None]:
        return queue_answer(ledger, "queue", limit=9, time="")

    for number in range(sum(1 for _ in steps_of(the_cluster()))):
        ledger = the_cluster()
        steps = steps_of(ledger)
        for _ in range(number + 1):
            next(steps)
        for uid in list(ledger.pods):
            ledger.pod_gone(uid)
        for key in ("team/gang", "team/early"):
            ledger.group_gone(key)
        ledger.queue_gone("queue")
        found = to_its_end(steps)
        assert found is not None
        assert len(found.waiters) + found.more_waiters <= 4


def test_f3_whose_gate_somebody_refuses_to_open_waits_in_its_place_for_that() -> None:
    """T7: in the answer, the status and the metrics."""
    ledger = a_cluster(
        waiting("last", created="2026-01-02T11:00:00Z"),
        waiting("kept", created="2026-01-02T09:00:00Z"),
        waiting("next", created="2026-01-02T10:00:00Z"),
        quota=0,
    )
    ledger.decisions.back_off("kept")
    for _ in range(2):
        assert names(ledger) == ["kept", "next", "last"]
        assert place_of(ledger, "kept") == 1
        assert place_of(ledger, "last") == 3
        answer = asked(ledger)
        assert (answer.waiting_pods, answer.waiters[0].reason) == (3, v.GATE_REFUSED)
        found = report(ledger, "queue")
        assert found is not None
        assert found.waiting == (3, "2026-01-02T09:00:00Z")
        account = ledger.account("queue")
        assert account is not None
        assert account.pending.pending_notices.by_reason[v.Reason.GATE_REFUSED] == 1
        assert set(account.pending.uids()) == {"kept", "next", "last"}
        # Whatever is decided about it, it is one that waits.
        ledger.decisions.put_back("kept")
        assert v.Reason.GATE_REFUSED not in account.pending.pending_notices.by_reason
        ledger.decisions.back_off("kept")
    ledger.pod_gone("kept")
    assert names(ledger) == ["next", "last"]
    assert drift(ledger) == {}
