"""F3, E6: room that may be set aside for one who has waited long, as any replica knows it."""

import pytest

from builders import H200, H800, a_group
from cardquota.quota import to_its_end
from cardquota.quota.answers import (
    AskedWorkload,
    Explanation,
    Explanations,
    WaitsFor,
    WorkloadState,
)
from cardquota.quota.answers.queue_answer import queue_answer
from cardquota.quota.ledger import Ledger
from cardquota.quota.messages import standing_messages
from cardquota.quota.release import starvation_at

from .asked_cluster import NOON, a_cluster, holding, waiting

WAIT = 600.0
EIGHT, LATELY, NOW = "2026-01-02T08:00:00Z", "2026-01-02T11:55:00Z", "2026-01-02T11:59:00Z"
ROOM = standing_messages.room_now("queue")
MAYBE = standing_messages.room_may_be_set_aside("queue", WAIT)
NEW = waiting("new", 1, created=NOW)


def explained(ledger: Ledger, *, wait: float = WAIT) -> Explanation:
    explanations = Explanations(ledger, starvation_wait=wait)
    found = to_its_end(explanations.answer(AskedWorkload("Pod", "team", "new"), NOON))
    assert found is not None
    return found


def told(ledger: Ledger, *, wait: float = WAIT) -> dict[str, str]:
    """What is told of each waiter of the queue."""
    answer = queue_answer(ledger, "queue", limit=9, time=NOON, starvation_wait=wait)
    found = to_its_end(answer)
    assert found is not None
    return {one.name: one.message for one in found.waiters}


def behind(*, created: str = EIGHT, cards: int = 3, card: str = H200) -> Ledger:
    """One pod lacks room, and behind it is one that has."""
    return a_cluster(holding("h", 3), waiting("old", cards, created=created).naming(card), NEW)


def test_what_is_free_may_be_set_aside_for_one_that_has_waited_long() -> None:
    found = explained(behind())
    assert (found.state, found.waits_for) == (WorkloadState.WAITS, WaitsFor.ORDER)
    assert (found.reason, found.message) == ("", MAYBE)
    assert told(behind())["new"] == MAYBE


@pytest.mark.parametrize(
    "ledger",
    [behind(created=LATELY), behind(card=H800), a_cluster(holding("h", 3), NEW)],
    ids=["not waited long", "another card", "nobody before it"],
)
def test_and_not_for_others(ledger: Ledger) -> None:
    assert (explained(ledger).waits_for, explained(ledger).message) == (WaitsFor.OPERATOR, ROOM)
    assert told(ledger)["new"] == ROOM


def test_where_nothing_is_set_aside_that_is_not_said() -> None:
    assert explained(behind(), wait=0).message == ROOM
    assert told(behind(), wait=0)["new"] == ROOM
    assert starvation_at("whenever", WAIT) is None


def test_of_those_that_have_room_themselves_nothing_is_set_aside() -> None:
    """The answer about a queue has looked at each of them."""
    assert told(behind(cards=1)) == {"old": ROOM, "new": ROOM}


def test_who_lacks_room_is_told_why() -> None:
    ledger = a_cluster(holding("h", 4), waiting("old", 3, created=EIGHT), NEW)
    assert explained(ledger).waits_for == WaitsFor.QUOTA
    assert "insufficient" in told(ledger)["new"]


def test_groups_count_as_pods_do() -> None:
    group = a_group("early").in_queue("queue").of(2).asking({H200: 3}).created(EIGHT)
    ledger = a_cluster(holding("h", 3), group, NEW)
    assert explained(ledger).message == MAYBE
    assert told(ledger)["new"] == MAYBE
    gang = a_group("gang").in_queue("queue").of(2).created(EIGHT)
    members = [waiting(f"m{n}", 2, created=EIGHT).in_group("gang") for n in range(2)]
    ledger = a_cluster(holding("h", 3), gang, *members, NEW)
    assert explained(ledger).message == MAYBE
    assert told(ledger)["new"] == MAYBE


def test_a_gang_that_runs_in_part_has_waited_long_at_once() -> None:
    gang = a_group("gang").in_queue("queue").of(2)
    runs, lost = holding("m0", 1), waiting("m1", 3, created=NOW)
    ledger = a_cluster(holding("h", 2), gang, runs.in_group("gang"), lost.in_group("gang"), NEW)
    assert explained(ledger).message == MAYBE
    assert told(ledger)["new"] == MAYBE
