"""R6: pods of rolling updates at the gate get what their queue lends."""

import json
from itertools import islice

import pytest

from builders import H200, H800, a_namespace, a_pod, see
from cardquota.quota import Limit
from cardquota.quota.accounts import OUTSIDE
from cardquota.quota.ledger import Ledger
from cardquota.quota.pending import candidate_order
from cardquota.quota.release import BORROWERS_AT_A_TIME, ReleaseJudge, Starvation, release_cycle

from ..releasing import release
from ..rollouts import QUEUE, deployment, full, pod, replica_set


def opened(ledger: Ledger, starvation: Starvation | None = None) -> list[list[str]]:
    return release(ledger, "queue", starvation)[0]


def test_r6_it_opens_and_the_next_one_waits() -> None:
    ledger = full("1", new=2)
    see(ledger, pod("new-0").gated(), pod("new-1").gated())
    assert opened(ledger) == [["new-0"]]
    assert opened(ledger) == []
    assert ledger.pods["new-0"].charge == ((H200, 1),)
    ledger.pod_gone("old-0")
    assert opened(ledger) == [["new-1"]]


def test_r6_who_waits_for_the_quota_is_not_in_its_way() -> None:
    early = a_pod("train").with_uid("train").in_queue("queue").naming(H200).asking_for(1)
    early = early.owned_by("Job").gated().created("2025-01-01T00:00:00Z")
    for queue in (QUEUE, QUEUE.fifo()):
        ledger = full(queue=queue)
        see(ledger, early, pod("new").gated().created("2026-01-01T00:00:00Z"))
        # `train` has waited for longer than anybody has to, so room is kept for it.
        starvation = Starvation(1_800_000_000, 600)
        assert opened(ledger, starvation) == [["new"]]
        assert opened(ledger, starvation) == []
        # What was borrowed is given back first.
        ledger.pod_gone("old-0")
        assert opened(ledger, starvation) == []
        ledger.pod_gone("old-1")
        assert opened(ledger, starvation) == [["train"]]


def test_r6_it_is_judged_again_when_the_workload_is_seen_as_it_is() -> None:
    ledger = full(new=0)
    see(ledger, pod("new").gated())
    assert opened(ledger) == []
    ledger.dirty.clear()
    replica_set(ledger, "web-new", 1)
    assert ledger.dirty.pending.take() == {"queue"}
    assert opened(ledger) == [["new"]]


def test_r6_other_workloads_are_no_news() -> None:
    ledger = full(new=0)
    ledger.dirty.clear()
    deployment(ledger, 4)  # nobody waits
    assert ledger.dirty.pending.take() == set()
    deployment(ledger, 3)
    replica_set(ledger, "web-new", 1, "4")
    see(ledger, pod("new").gated())
    ledger.dirty.clear()
    replica_set(ledger, "api-1", 1)
    deployment(ledger, 3)  # as before
    assert ledger.dirty.pending.take() == set()
    deployment(ledger, 4)
    assert ledger.dirty.pending.take() == {"queue"}
    ledger.dirty.clear()
    ledger.workloads.gone("d")
    assert ledger.dirty.pending.take() == {"queue"}


def test_r6_where_nothing_is_enforced_nobody_borrows() -> None:
    ledger = full()
    see(ledger, a_namespace("team").in_mode("audit"), pod("new").gated())
    account = ledger.account(OUTSIDE)
    assert account is not None
    found = next(one for one in release_cycle(ledger, account) if one is not None)
    assert [(record.facts.name, cards) for record, cards in found.pods] == [("new", ())]
    assert not account.pending.borrowers


def test_r6_each_is_looked_at_once_until_something_changes() -> None:
    ledger = full(new=0)
    number = 3 * BORROWERS_AT_A_TIME
    see(ledger, *(pod(f"x-{n}", f"x{n}-1").gated() for n in range(number)), pod("new").gated())
    account = ledger.account("queue")
    assert account is not None
    borrowers = account.pending.borrowers
    steps = iter(release_cycle(ledger, account))
    assert next(steps) is None
    assert len(borrowers.to_look_at) == number + 1 - BORROWERS_AT_A_TIME
    # A pass that is left has come further.
    assert list(release_cycle(ledger, account)).count(None) >= 3
    assert not borrowers.to_look_at
    list(release_cycle(ledger, account))
    assert not borrowers.to_look_at
    replica_set(ledger, "web-new", 1)
    assert len(borrowers.to_look_at) == 1
    assert opened(ledger) == [["new"]]


def test_r6_who_takes_cards_that_are_not_lent_has_nobody_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a thousand that may not borrow would be looked at with each event of their queue."""
    quota = QUEUE.with_quota({H200: 3, H800: 4})
    ledger = full(json.dumps({H200: 1}), new=0, queue=quota)
    see(ledger, pod("x", "x-1").gated())
    assert opened(ledger) == []
    account = ledger.account("queue")
    assert account is not None
    other = a_pod("other").in_queue("queue").naming(H800).asking_for(1)
    see(ledger, other.stamped("queue", {H800: 1}).on_node("h800-a"))
    looked_at = list[str]()
    monkeypatch.setattr(ReleaseJudge, "borrow", lambda _, uid: looked_at.append(uid))
    assert opened(ledger) == []
    assert looked_at == []
    ledger.pod_gone("old-0")
    assert opened(ledger) == [["x"]]
    assert looked_at == ["x"]


def test_r6_others_go_on_however_many_may_not_borrow() -> None:
    ledger = full(new=0, queue=QUEUE.with_quota({H200: 3, H800: 4}))
    many = 50 * BORROWERS_AT_A_TIME
    see(ledger, *(pod(f"x-{n}", f"x{n}-1").gated() for n in range(many)))
    see(ledger, a_pod("other").in_queue("queue").naming(H800).asking_for(1).gated())
    account = ledger.account("queue")
    assert account is not None
    steps = list(islice(release_cycle(ledger, account), 2 * many))
    first = next(place for place, step in enumerate(steps) if step is not None)
    assert first <= 4


def test_r6_those_beyond_the_limit_wait_for_the_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_order, "BORROWERS", Limit("some", 1))
    ledger = full(new=1)
    see(ledger, pod("x", "x-1").gated(), pod("new").gated())
    assert opened(ledger) == []
    ledger.pod_gone("new")
    ledger.pod_gone("x")
    see(ledger, pod("new").gated())
    assert opened(ledger) == [["new"]]
