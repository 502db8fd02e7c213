"""The recount of a ledger that moves meanwhile: exact of what stood still, silent of the rest."""

import pytest

from builders import CARDS, H200, a_group, a_ledger, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import Compared, compare
from cardquota.quota.reports.drift import drift


def running(queue: str, number: int) -> PodBody:
    pod = a_pod(f"{queue}-{number}").naming(H200).asking_for(1).in_group(f"g-{queue}")
    return pod.stamped(queue, {H200: 1}).on_node("h200-a").with_uid(f"{queue}-{number}")


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setattr("cardquota.quota.reports.drift.STEP", 1)
    queues = [a_queue(name).with_quota({H200: 9}) for name in ("red", "blue")]
    groups = [a_group(f"g-{name}").in_queue(name).of(2) for name in ("red", "blue")]
    pods = [running(name, number) for name in ("red", "blue") for number in range(3)]
    return a_ledger(*CARDS, *queues, *groups, *pods)


def compared(ledger: Ledger, at: int, *things: PodBody) -> Compared:
    """What is found if something is seen after so many steps."""
    steps = compare(ledger)
    try:
        for number in range(10_000):
            if number == at:
                see(ledger, *things)
            next(steps)
    except StopIteration as end:
        found: Compared = end.value
        return found
    raise AssertionError("no end")


def steps_of(ledger: Ledger) -> int:
    return sum(1 for _ in compare(ledger))


def test_a_ledger_that_stands_still_is_compared_whole(ledger: Ledger) -> None:
    assert compared(ledger, -1) == ({}, frozenset())


def test_whenever_something_changes_nothing_is_found_that_is_not_so(ledger: Ledger) -> None:
    """A pod comes into one queue, and the one before goes: at each of the steps."""
    for at in range(steps_of(ledger)):
        found = compared(ledger, at, running("red", 3 + at))
        assert found.drift == {}
        assert found.moved <= {"red"}
        ledger.pod_gone(f"red-{3 + at}")
    assert drift(ledger) == {}


def test_what_is_wrong_is_found_beside_what_moves(ledger: Ledger) -> None:
    blue = ledger.account("blue")
    assert blue is not None
    blue.rows[H200].by_charge_state[0] += 1
    for at in range(3, steps_of(ledger) - 2):
        found = compared(ledger, at, running("red", 3 + at))
        assert {key for key, _ in found.drift} == {"blue"}


def test_a_queue_that_goes_or_comes_meanwhile_is_not_compared(ledger: Ledger) -> None:
    green = a_pod("g").naming(H200).asking_for(1).stamped("green", {H200: 1}).on_node("h200-a")
    assert compared(ledger, 3, green).moved == {"green"}
    steps = compare(ledger)
    next(steps)
    ledger.pod_gone(green.uid)
    found = to_its_end(steps)
    assert found.drift == {}
    assert found.moved == {"green"}


def test_an_account_that_is_lost_is_found(ledger: Ledger) -> None:
    del ledger.accounts_by_queue["red"]
    assert {key for key, _ in drift(ledger)} == {"red"}
