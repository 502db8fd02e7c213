"""E1: a group that says nothing of what it will ask for needs nothing until its pods are there."""

import pytest

from builders import CARDS, H200, Body, a_group, a_ledger, a_namespace, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota.ledger import Ledger

QUEUE = a_queue("red").with_quota({H200: 4})
GROUP = a_group("gang").in_queue("red").of(2)
ENFORCED = a_namespace("team").in_mode("enforced")


def member(name: str) -> PodBody:
    return a_pod(name).in_group("gang").naming(H200).asking_for(1).gated()


def needs_nothing(ledger: Ledger) -> bool:
    return ledger.needs_nothing_yet(ledger.groups["team/gang"])


def test_until_all_pods_of_its_minimum_are_there() -> None:
    ledger = a_ledger(*CARDS, QUEUE, ENFORCED, GROUP)
    assert needs_nothing(ledger)
    see(ledger, member("a"))
    assert needs_nothing(ledger)
    see(ledger, member("b"))
    assert not needs_nothing(ledger)


@pytest.mark.parametrize(
    "queue", [None, QUEUE.open_to("other"), QUEUE.annotated("volcano.sh/card.state", "Closed")]
)
def test_not_without_a_queue_that_takes_it(queue: Body | None) -> None:
    there = [] if queue is None else [queue]
    assert not needs_nothing(a_ledger(*CARDS, *there, ENFORCED, GROUP))


@pytest.mark.parametrize("mode", ["audit", "off"])
@pytest.mark.parametrize("group", [GROUP, GROUP.asking({H200: 99})])
def test_nothing_holds_up_pods_where_nothing_is_enforced(mode: str, group: Body) -> None:
    ledger = a_ledger(*CARDS, a_namespace("team").in_mode(mode), group)
    assert needs_nothing(ledger)
    ledger.dirty.clear()
    see(ledger, ENFORCED)
    assert not needs_nothing(ledger)
    assert ledger.dirty.groups.take() == {"team/gang"}


def test_a_group_without_a_queue_waits_for_nothing() -> None:
    assert needs_nothing(a_ledger(*CARDS, ENFORCED, a_group("gang").of(2)))


def test_it_is_looked_at_when_its_queue_opens() -> None:
    ledger = a_ledger(*CARDS, ENFORCED, GROUP)
    ledger.dirty.clear()
    see(ledger, QUEUE)
    assert ledger.dirty.groups.take() == {"team/gang"}
    assert needs_nothing(ledger)


def test_who_is_gone_is_looked_at_no_more() -> None:
    ledger = a_ledger(*CARDS, QUEUE, ENFORCED, GROUP)
    ledger.group_gone("team/gang")
    ledger.dirty.clear()
    ledger.queue_gone("red")
    assert ledger.dirty.groups.take() == set()
