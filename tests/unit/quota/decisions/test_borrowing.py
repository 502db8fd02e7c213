"""R6: which pods of rolling updates may borrow what their queue lends."""

from dataclasses import replace

import pytest

from builders import CARDS, H200, H800, a_group, a_ledger, a_node, a_pod, see
from builders.pod import PodBody
from cardquota.quota import Outcome, Verdict
from cardquota.quota import vocabulary as v
from cardquota.quota.accounts import Borrowed
from cardquota.quota.decisions import (
    is_surplus,
    judge_create,
    judge_release,
    refused_workload,
    with_borrowing,
    with_room,
)
from cardquota.quota.ledger import Ledger

from ..rollouts import QUEUE, daemon_set, deployment, full, lending, pod, replica_set, running


def created(ledger: Ledger, body: PodBody | None = None) -> Verdict:
    return judge_create(ledger, (body or pod("new")).facts())


def at_its_gate(ledger: Ledger, body: PodBody | None = None) -> Verdict:
    body = (body or pod("new")).gated()
    see(ledger, body)
    record = ledger.pods[body.uid]
    return with_borrowing(ledger, record.facts, judge_release(ledger, record))


ROLLOUT = "the rolling update creates this pod before an old one ends: "


def test_r6_a_pod_of_an_update_borrows_what_is_lent() -> None:
    for verdict in (created(full()), at_its_gate(full())):
        assert (verdict.outcome, verdict.borrows) == (Outcome.FITS, True)
        assert verdict.cards == ((H200, 1),)


def test_r6_where_nothing_is_lent_it_says_what_to_write() -> None:
    for surge in (None, "0", f'{{"{H800}": 1}}', "unreadable"):
        for verdict in (created(full(surge)), at_its_gate(full(surge))):
            assert verdict.outcome is Outcome.WAITS
            assert verdict.text.endswith(
                ROLLOUT + "write maxSurge 0 and maxUnavailable 1, or ask the queue's owner for "
                f"cards to borrow ({v.SURGE})"
            )


def test_r6_no_more_than_is_lent() -> None:
    ledger = full("1", new=2)
    see(ledger, running("new-0", "web-new"))
    assert ledger.account("queue").borrowed() == [Borrowed(H200, 1, 1)]  # type: ignore[union-attr]
    verdict = created(ledger)
    assert verdict.outcome is Outcome.WAITS
    assert verdict.text.endswith(
        ROLLOUT + "the queue lends 1 card for that, but not enough of that is left now; wait "
        "until an old pod is gone"
    )
    see(ledger, lending("2"))
    assert created(ledger).borrows


def test_r6_what_pods_hold_that_are_being_deleted_stays_held() -> None:
    ledger = full("1", new=2)
    see(ledger, running("new-0", "web-new"), running("old-0").terminating())
    verdict = created(ledger)
    assert not verdict.fits
    assert ROLLOUT in verdict.text
    ledger.pod_gone("old-0")
    assert created(ledger).borrows


def test_r6_a_pod_that_is_being_deleted_is_none_of_those_that_the_workload_has() -> None:
    """Neither of what the Deployment holds already, nor of the number that its ReplicaSet wants."""
    ledger = full()
    see(ledger, running("old-0").terminating())
    assert not created(ledger).borrows
    ledger = full("2")
    see(ledger, running("new-0", "web-new"))
    assert not created(ledger).borrows
    see(ledger, running("new-0", "web-new").terminating())
    assert created(ledger).borrows


def test_r6_who_fits_once_others_are_gone_is_told_to_wait() -> None:
    """Though an update without a surge makes it: it is there before the old pod is gone."""
    ledger = full(None, new=1)
    see(ledger, running("old-0").terminating())
    verdict = created(ledger)
    assert "pods that are being deleted hold <1> of it; wait until" in verdict.text


def test_r6_who_wants_more_pods_than_before_borrows_nothing() -> None:
    ledger = full(new=2)
    replica_set(ledger, "web-old", 4)
    assert not created(ledger, pod("more", "web-old")).borrows
    deployment(ledger, 4)
    assert not created(ledger).fits
    deployment(ledger, 3)
    # The Deployment wants four, as its ReplicaSets say already.
    replica_set(ledger, "web-new", 2, "4")
    assert not created(ledger).fits
    replica_set(ledger, "web-new", 2)
    assert created(ledger).borrows


def test_r6_a_replica_set_that_is_not_seen_as_it_is_lends_nothing_yet() -> None:
    ledger = full(new=1)
    see(ledger, running("new-0", "web-new"))
    see(ledger, lending("2"))
    assert not created(ledger).fits  # it wants one, and has it
    replica_set(ledger, "web-new", 2)
    assert created(ledger).borrows


def test_r6_who_will_need_more_than_the_workload_holds_borrows_nothing() -> None:
    """Larger pods, or ones of another card."""
    ledger = full("4")
    assert not created(ledger, pod("large", cards=2)).fits
    ledger = full("4", queue=QUEUE.with_quota({H200: 3, H800: 0}))
    assert not created(ledger, pod("other", card=H800)).fits
    verdict = created(ledger, pod("either", card=f"{H800}|{H200}"))
    assert (verdict.borrows, verdict.cards) == (True, ((H200, 1),))


def test_r6_more_is_asked_for_than_is_lent() -> None:
    old = [running(f"old-{number}", cards=2) for number in range(3)]
    ledger = a_ledger(*CARDS, lending("1", QUEUE.with_quota({H200: 6})), *old)
    deployment(ledger, 3)
    replica_set(ledger, "web-old", 3)
    replica_set(ledger, "web-new", 1)
    verdict = created(ledger, pod("new", cards=2))
    assert (ROLLOUT + "the queue lends only 1 for that; write maxSurge 0") in verdict.text
    see(ledger, lending("2", QUEUE.with_quota({H200: 6})))
    assert created(ledger, pod("new", cards=2)).borrows


def test_r6_others_borrow_nothing() -> None:
    ledger = full("3")
    see(ledger, running("x", "web-alone"))  # of nobody, whatever it is called
    alone = a_pod("alone").in_queue("queue").naming(H200).asking_for(1)
    for other in (
        alone,
        alone.owned_by("Job", name="web-new"),
        alone.owned_by("ReplicaSet", name="web"),
        alone.owned_by("ReplicaSet", name="web-alone"),
        alone.owned_by("StatefulSet", name="web-new"),
        alone.owned_by("DaemonSet", name="web-new"),
        alone.owned_by("DaemonSet", name="web-new").made_for("h200-a"),
        alone.in_namespace("other").owned_by("ReplicaSet", name="web-new"),
    ):
        assert not created(ledger, other).fits
    for owner in ("", "unknown", "uid-web-old"):
        replica_set(ledger, "web-alone", 2, owner=owner)
        assert not created(ledger, pod("a", "web-alone")).fits
    replica_set(ledger, "web-alone", 2, owner="e")  # a Deployment that has no other pods
    deployment(ledger, 1, "e", "e")
    assert not created(ledger, pod("a", "web-alone")).fits


def test_r6_an_owner_of_another_namespace_is_none() -> None:
    ledger = full("3")
    facts = ledger.workloads.get("d")
    assert facts is not None
    ledger.workloads.gone("d")
    ledger.workloads.see(replace(facts, namespace="other"))
    assert not created(ledger).fits


def test_r6_members_of_a_gang_borrow_nothing() -> None:
    ledger = full("3", new=2)
    see(ledger, a_group("g").in_queue("queue").of(2))
    assert not created(ledger, pod("new").in_group("g")).fits
    see(ledger, a_group("g").in_queue("queue").of(1))
    assert created(ledger, pod("new").in_group("g")).borrows
    see(ledger, a_group("g").in_queue("queue").of(1).reserving("queue", {H200: 1}))
    assert not created(ledger, pod("new").in_group("g")).borrows


def test_r6_cpu_and_memory_are_not_lent() -> None:
    ledger = full(queue=QUEUE.limited_to(cpu="0"))
    verdict = created(ledger, pod("new").with_cpu("1"))
    assert (verdict.fits, verdict.borrows) == (False, False)
    assert ROLLOUT not in verdict.text


def test_r6_a_pod_of_a_daemon_set_where_another_one_holds_the_card() -> None:
    def of(name: str, *nodes: str) -> PodBody:
        body = a_pod(name).with_uid(name).in_queue("queue").naming(H200).asking_for(1)
        return body.owned_by("DaemonSet", "apps/v1", "web").made_for(*nodes)

    def runs(name: str, node: str) -> PodBody:
        return of(name, node).stamped("queue", {H200: 1}).on_node(node)

    more = [a_node(f"n-{number}").with_cards(H200, 8) for number in range(4)]
    ledger = a_ledger(*CARDS, *more, lending("2"), *(runs(f"r-{n}", f"n-{n}") for n in range(3)))
    assert not created(ledger, of("new", "n-1")).fits  # it is not known
    daemon_set(ledger, "web")
    assert created(ledger, of("new", "n-1")).borrows
    assert at_its_gate(ledger, of("new", "n-1")).borrows
    ledger.pod_gone("new")
    assert not created(ledger, of("more", "n-3")).fits
    assert not created(ledger, of("more", "n-1", "n-2")).fits
    see(ledger, runs("new-1", "n-1"))
    assert not created(ledger, of("again", "n-1")).fits  # one for each old pod
    assert created(ledger, of("new", "n-2")).borrows
    see(ledger, runs("new-2", "n-2"))
    assert not created(ledger, of("new", "n-0")).fits
    assert not created(ledger, a_pod("x").in_queue("queue").naming(H200).asking_for(1)).fits


def test_r6_nothing_is_lent_while_a_gang_is_to_start() -> None:
    """What is reserved for it could not be used before it is given back."""
    ledger = full(queue=QUEUE.with_quota({H200: 5}))
    see(ledger, a_group("g").in_queue("queue").of(2).reserving("queue", {H200: 2}))
    assert not created(ledger).fits
    ledger.group_gone("team/g")
    see(ledger, running("m").in_group(None).owned_by("Job").on_node("h200-a"))
    see(ledger, running("n").owned_by("Job"))
    assert created(ledger).borrows


def test_r6_what_is_borrowed_is_shown_as_such_and_not_as_over_the_quota() -> None:
    account = full().account("queue")
    assert account is not None
    assert (account.borrowed(), list(account.over())) == ([], [])
    ledger = full()
    account = ledger.account("queue")
    assert account is not None
    see(ledger, running("new", "web-new"))
    assert account.borrowed() == [Borrowed(H200, 1, 1)]
    assert list(account.over()) == []
    see(ledger, running("past", "web-new"))  # more than is lent
    assert account.borrowed() == [Borrowed(H200, 1, 1)]
    assert [(one.charged, one.limit) for one in account.over()] == [(5, 3)]
    see(ledger, lending(None))
    assert account.borrowed() == []
    ledger.queue_gone("queue")
    assert account.borrowed() == []
    assert account.lent(H200) == 0


@pytest.mark.parametrize(("surge", "woken"), [("2", 2), ("1", 1), ("0", 0)])
def test_r6_a_replica_set_is_woken_for_what_it_may_borrow(surge: str, woken: int) -> None:
    ledger = full(surge, new=2)
    facts = ledger.workloads.named("ReplicaSet", "team", "web-new")
    assert facts is not None
    sleeper = refused_workload(ledger, facts)
    assert sleeper is not None
    found = [one[1] for one in with_room(ledger, "queue", [sleeper], []) if one is not None]
    assert found == ([woken] if woken else [])


def test_r6_card_memory_is_lent_by_its_name_alone() -> None:
    memory = "NVIDIA-A10/gpu-mem"
    account = full("9", queue=QUEUE.with_quota({H200: 3, memory: 9})).account("queue")
    assert account is not None
    assert (account.lent(H200), account.lent(memory)) == (9, 0)
    account = full(f'{{"{memory}": 2}}', queue=QUEUE.with_quota({memory: 9})).account("queue")
    assert account is not None
    assert account.lent(memory) == 2


def test_r6_a_pod_of_nobody_is_none_too_many() -> None:
    alone = a_pod("alone").in_queue("queue").naming(H200).asking_for(1)
    assert not is_surplus(full(), alone.facts(), "queue", H200, 1)
    assert is_surplus(full(), pod("new").facts(), "queue", H200, 1)


def test_r6_what_fits_or_never_can_is_answered_as_it_is() -> None:
    ledger, facts = full(), pod("new").facts()
    for verdict in (Verdict(Outcome.FITS, "queue"), Verdict(Outcome.WAITS, "nowhere")):
        assert with_borrowing(ledger, facts, verdict) is verdict
