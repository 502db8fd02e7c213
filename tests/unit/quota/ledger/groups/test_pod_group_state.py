"""T2 and elastic: what a pod group reserves, and what it holds beyond its minimum."""

from collections.abc import Callable

import pytest

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota.ledger import Charges, Ledger
from cardquota.quota.ledger.groups import Stage
from cardquota.quota.pods import PodRecord
from cardquota.quota.reports.drift import drift

GANG = a_group().in_queue("red").of(2)
KEY = "team/gang"


def member(name: str, hour: int | None = None, cards: int = 1) -> PodBody:
    """Gated, or bound at an hour of the day."""
    pod = a_pod(name).in_group("gang").naming(H200).asking_for(cards)
    if hour is None:
        return pod.gated()
    return pod.stamped("red", {H200: cards}).on_node("h200-a", f"2026-01-01T{hour:02}:00:00Z")


def a_cluster(*things: Body) -> Ledger:
    return a_ledger(*CARDS, a_queue("red").with_quota({H200: 8}), *things)


def inqueue(ledger: Ledger) -> int:
    assert drift(ledger) == {}
    account = ledger.account("red")
    assert account is not None
    return account.row(H200).inqueue


@pytest.mark.parametrize(
    ("change", "reads"),
    [
        (lambda gang: gang.in_phase("Running").put(2, "status", "running"), 0),
        (lambda gang: gang.put([{"type": "Scheduled"}], "status", "conditions"), 0),
        (lambda gang: gang.of(3), 0),
        (lambda gang: gang.reserving("red", {H200: 2}), 3),
        (lambda gang: gang.in_queue("blue"), 3),
        (lambda gang: gang.of(1), 3),
        (lambda gang: gang.put("high", "spec", "priorityClassName"), 0),
    ],
    ids=["phase", "condition", "minimum", "reservation", "queue", "no gang any more", "priority"],
)
def test_members_are_read_anew_only_where_what_they_are_read_by_changed(
    change: Callable[[GroupBody], GroupBody], reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """We write phases ourselves, again and again while a gang binds."""
    members = (a_pod(name).in_group("gang").asking_for(1).gated() for name in "abc")
    ledger = a_cluster(GANG.at_revision(2), *members)
    read: list[str] = []
    charge = Charges.charge

    def counted(self: Charges, record: PodRecord) -> None:
        read.append(record.facts.name)
        charge(self, record)

    monkeypatch.setattr(Charges, "charge", counted)
    see(ledger, change(GANG.at_revision(3)))
    assert len(read) == reads


def test_the_end_of_one_reservation_is_not_that_of_another() -> None:
    """A group made again under its name, while the write for the old one is not answered yet."""
    ledger = a_cluster(GANG)
    old = ledger.decisions.reserve(KEY, "red", "term-1", ((H200, 2),))
    ledger.group_gone(KEY)
    see(ledger, GANG.with_uid("another").at_revision(2))
    ledger.decisions.reserve(KEY, "red", "term-1", ((H200, 2),))
    ledger.decisions.retract_reservation(KEY, old)
    ledger.decisions.confirm_reservation(KEY, old, 9)
    assert inqueue(ledger) == 2
    assert ledger.groups[KEY].settled_revision == 0


@pytest.mark.parametrize(
    ("things", "stage"),
    [
        ((), Stage.WAITING),
        ((member("a"),), Stage.WAITING),
        ((member("a"), member("b")), Stage.PRESENT),
        ((GANG.reserving("red", {H200: 2}), member("a")), Stage.RESERVED),
        ((GANG.enqueued("red", {H200: 2}), member("a")), Stage.RESERVED),
        ((GANG.reserving("red", {H200: 2}), member("a", 1)), Stage.STARTING),
        ((GANG.reserving("blue", {H200: 2}), member("a", 1)), Stage.INCOMPLETE),
        ((GANG.enqueued("red", {H200: 2}), member("a", 1)), Stage.INCOMPLETE),
        ((member("a", 1), member("b")), Stage.INCOMPLETE),
        ((member("a", 1), member("b", 2), member("c")), Stage.RUNNING),
        ((GANG.in_phase("Completed"), member("a")), Stage.COMPLETED),
        ((GANG.in_phase("Completed"), member("a", 1)), Stage.INCOMPLETE),
        ((GANG.of(1), member("a", 1)), Stage.RUNNING),
        ((GANG.of(0),), Stage.WAITING),
    ],
)
def test_a_group_is_at_one_stage(things: tuple[Body, ...], stage: Stage) -> None:
    assert a_cluster(GANG, *things).groups[KEY].stage is stage


def test_a_group_waits_with_its_members_or_to_be_enqueued_or_until_it_is_tried_again() -> None:
    assert not a_cluster(GANG, member("a", 1)).groups[KEY].waits
    assert a_cluster(GANG, member("a", 1), member("b")).groups[KEY].waits
    ledger = a_cluster(GANG)
    assert not ledger.groups[KEY].waits
    ledger.decisions.hold_back_gang(KEY)
    assert ledger.groups[KEY].waits
    ledger.decisions.put_back_gang(KEY, "red")
    assert not ledger.groups[KEY].waits
    ledger.decisions.lose_place(KEY)
    assert ledger.groups[KEY].waits
    asks = a_cluster(a_namespace("team"), GANG.asking({H200: 2}))
    assert asks.groups[KEY].waits
