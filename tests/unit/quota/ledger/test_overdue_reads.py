"""An event about something else may change more pods than are read anew at once."""

from collections.abc import Sequence
from itertools import count
from sys import maxsize

import pytest

from builders import CARDS, H200, H800, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import Stamp, to_its_end
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports import compare
from cardquota.quota.reports.drift import drift

from ..events import ledger_totals

RED, BLUE = (a_queue(name).with_quota({H200: 9, H800: 9}) for name in ("red", "blue"))
TEAM = a_namespace("team").with_default_queue("red")


def plain(number: int) -> PodBody:
    return a_pod(f"p{number}").naming(H200).asking_for(1).with_cpu("1")


WAITING = [plain(number).gated() for number in range(5)]
RUNNING = [plain(number).on_node("h200-a") for number in range(5, 10)]
GANG = a_group("gang").in_queue("red").of(3)
MEMBERS = [pod.in_group("gang") for pod in WAITING]

CHANGES: dict[str, tuple[Sequence[Body], Body]] = {
    "default queue": ([*WAITING, *RUNNING], TEAM.with_default_queue("blue")),
    "mode": ([*WAITING, *RUNNING], TEAM.in_mode("audit")),
    "queue of a group": ([GANG, *MEMBERS], GANG.in_queue("blue").at_revision(2)),
    "gang": (
        [GANG, *[pod.in_group("gang").stamped("red", {H200: 1}) for pod in RUNNING]],
        GANG.of(1).at_revision(2),
    ),
    "policy": (WAITING, RED.with_policy("Gate").at_revision(2)),
}


def world(*things: Body, at_once: int) -> Ledger:
    return a_ledger(*CARDS, RED, BLUE, TEAM, *things, at_once=at_once)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("at_once", [0, 1, 3])
def test_in_the_end_everything_is_as_if_it_had_been_read_at_once(change: str, at_once: int) -> None:
    things, event = CHANGES[change]
    now, later = world(*things, at_once=maxsize), world(*things, at_once=at_once)
    see(now, event)
    see(later, event)
    assert (now.overdue, later.overdue) == (False, True)
    later.reassessment.read_overdue()
    assert (now.overdue, later.overdue) == (False, False)
    assert drift(later) == {}
    assert ledger_totals(later) == ledger_totals(now)
    for uid, record in now.pods.items():
        other = later.pods[uid]
        assert (other.queue, other.class_key, other.sort_key) == (
            record.queue,
            record.class_key,
            record.sort_key,
        )


def test_some_are_read_at_once_and_some_in_each_turn() -> None:
    ledger = world(*WAITING, at_once=2)
    see(ledger, TEAM.with_default_queue("blue"))

    def blue() -> int:
        return sum(record.queue == "blue" for record in ledger.pods.values())

    assert blue() == 2
    steps = count()
    ledger.reassessment.read_overdue(lambda: next(steps) >= 2)
    assert (blue(), ledger.overdue) == (4, True)
    ledger.reassessment.read_overdue()
    assert (blue(), ledger.overdue) == (5, False)


def test_what_is_to_be_decided_on_is_read_first() -> None:
    ledger = world(*WAITING, at_once=0)
    uids = [pod.uid for pod in WAITING[:2]]
    assert ledger.reassessment.read_first(uids)
    see(ledger, TEAM.with_default_queue("blue"))
    assert ledger.reassessment.left == len(WAITING)
    ledger.reassessment.at_once = 1
    assert not ledger.reassessment.read_first(uids)  # one of them is read
    assert not ledger.reassessment.read_first(uids)
    assert ledger.reassessment.read_first(uids)
    assert {ledger.pods[uid].queue for uid in uids} == {"blue"}
    assert ledger.overdue


def large(number: int) -> PodBody:
    """As large as a pod may be in alternatives, or in what it selects."""
    if number % 2:
        return plain(number).naming("|".join([H200, *(f"X{n}y{number}" for n in range(15))]))
    return plain(number).requiring([("zone", "In", [f"{number:026}{n:04}" for n in range(480)])])


@pytest.mark.parametrize("number", [3, 60, 200])
def test_a_large_pod_counts_as_several(number: int) -> None:
    """Whether they are fewer than may be read at once, or more."""
    pods = [large(n).gated() for n in range(number)]
    assert not any(pod.facts().oversized for pod in pods)
    ledger = world(*pods, at_once=100)
    see(ledger, TEAM.with_default_queue("blue"))
    read = [record for record in ledger.pods.values() if record.queue == "blue"]
    assert len(read) == number == 3 or 6 <= len(read) <= 30
    assert ledger.overdue is (number > 3)
    ledger.reassessment.read_overdue()
    assert {record.queue for record in ledger.pods.values()} == {"blue"}
    assert drift(ledger) == {}


def test_a_pod_with_many_devices_counts_as_several() -> None:
    amounts = {f"example.com/{n}": "1" for n in range(30)}
    containers = [{"name": "main", "resources": {"limits": amounts}}]
    pods = [plain(n).gated().with_spec(containers=containers) for n in range(50)]
    ledger = world(*pods, at_once=100)
    see(ledger, TEAM.with_default_queue("blue"))
    assert 20 < sum(record.queue == "blue" for record in ledger.pods.values()) < 35


def test_of_large_pods_fewer_are_read_before_something_is_decided_on_them() -> None:
    pods = [large(2 * n).gated() for n in range(20)]
    ledger = world(*pods, at_once=0)
    see(ledger, TEAM.with_default_queue("blue"))
    ledger.reassessment.at_once = 100
    uids, asked = [pod.uid for pod in pods], 0
    while not ledger.reassessment.read_first(uids):
        asked += 1
    assert asked >= 3
    assert not ledger.overdue


def test_pods_that_are_gone_or_charged_by_then_are_left_alone() -> None:
    ledger = world(*WAITING, at_once=0)
    see(ledger, TEAM.with_default_queue("blue"))
    ledger.pod_gone(WAITING[0].uid)
    ledger.decisions.assume(WAITING[1].uid, Stamp("red", ((H200, 1),), "term"))
    ledger.reassessment.read_overdue()
    assert ledger.pods[WAITING[1].uid].queue == "red"
    assert drift(ledger) == {}


def test_the_pods_of_a_node_are_read_at_once() -> None:
    """What a node was when a pod was bound is the pod's for good (D8): it may change any time."""
    late = [plain(number).on_node("h800-late") for number in range(5)]
    ledger = world(*late, at_once=0)
    see(ledger, CARDS[1].put("h800-late", "metadata", "name").with_uid("late"))
    assert not ledger.overdue
    account = ledger.account("red")
    assert account is not None
    assert account.row(H800).allocated == 5


def test_nothing_is_compared_while_pods_are_to_be_read_anew() -> None:
    """The recount asks by what is known now, the ledger stands by what was known before."""
    running = [pod.in_group("gang").stamped("red", {H200: 1}).on_node("h200-a") for pod in RUNNING]
    ledger = world(GANG, *running, at_once=0)
    see(ledger, GANG.of(1).at_revision(2))
    found = to_its_end(compare(ledger))
    assert found.drift == {}
    assert found.moved == {"red", "blue"}
    ledger.reassessment.read_overdue()
    assert to_its_end(compare(ledger)) == ({}, frozenset())
