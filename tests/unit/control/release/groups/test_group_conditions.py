"""Section 2: what stands on a group that waits, and how often it is written."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from builders import H200, Body, a_group, a_pod
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.cluster.events import MESSAGE_BYTES
from cardquota.control.release import GroupConditions
from cardquota.quota import vocabulary as v

from ...fakes import TERM, a_world, refused, until
from ...leader import GANG, THREE, Leader, leading, waiting
from ...stored_groups import StoredGroups
from .test_reservation_timeouts import Timers

pytestmark = pytest.mark.fake_clock

HOLDER = a_pod("holder").in_queue("queue").naming(H200).asking_for(3).stamped("queue", {H200: 3})
SHORT = (
    f"Queue <queue> has insufficient <{H200}> quota: requested <2>, total would be <5>, but "
    "capability is <3>; wait until some of it is free, or ask the queue's owner for a higher quota"
)


def member(name: str, gang: str = "gang") -> PodBody:
    return waiting(name).in_group(gang)


def runs(pod: PodBody, revision: int = 5_000) -> PodBody:
    return pod.ungated().stamped("queue", {H200: 1}).on_node("h200-a").at_revision(revision)


def asking(number: int) -> GroupBody:
    """Groups that are to be enqueued, one behind the other."""
    when = f"2026-05-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    return a_group(f"g{number:04}").in_queue("queue").of(2).asking({H200: 2}).created(when)


@asynccontextmanager
async def groups_of(*things: Body, **options: Any) -> AsyncIterator[tuple[Leader, StoredGroups]]:
    async with leading(*things, phases=True, **options) as leader:
        yield leader, StoredGroups(leader, *(one for one in things if isinstance(one, GroupBody)))


async def test_a_group_that_is_no_gang_waits_with_its_pods() -> None:
    group = GANG.of(1)
    things = THREE, HOLDER, group, member("a"), member("b")
    async with groups_of(*things) as (leader, groups):
        await until(lambda: groups.condition("gang"))
        assert groups.condition("gang")["message"].endswith(
            "; number <1> of <1> that wait in Queue <queue>; held by holder 3"
        )
        assert leader.tells("gang") == [v.Reason.INSUFFICIENT_CARD]
        leader.ledger.pod_gone(HOLDER.uid)
        leader.releaser.wake()
        await until(lambda: groups.condition("gang").get("type") == "Scheduled")
        await until(lambda: groups.status("gang")["phase"] == "Inqueue")
        leader.see(runs(member("a")))
        await until(lambda: groups.status("gang")["phase"] == "Running")


async def test_i4_that_other_numbers_hold_now_is_not_written() -> None:
    """The place, what is in use, and who holds it: these are asked for."""
    part = HOLDER.asking_for(2).stamped("queue", {H200: 2})
    one = part.with_uid("one").asking_for(1).stamped("queue", {H200: 1})
    things = THREE, part, one, *(asking(n) for n in range(4)), GANG, member("a"), member("b")
    async with groups_of(*things) as (leader, groups):
        await until(lambda: groups.condition("gang"))
        await until(lambda: groups.condition("g0003"))
        assert "; number <5> of <5> that wait" in groups.condition("g0003")["message"]
        groups.patches.clear()
        leader.ledger.pod_gone("one")
        leader.ledger.group_gone("team/g0000")
        leader.releaser.wake()
        await asyncio.sleep(600)
        assert groups.patches == []
        assert leader.tells("gang") == [v.Reason.INSUFFICIENT_CARD]


async def test_the_cards_of_pods_that_come_one_by_one_are_written_with_the_reason() -> None:
    async with groups_of(THREE, HOLDER, GANG) as (leader, groups):
        await until(lambda: groups.status("gang"))
        groups.patches.clear()
        leader.see(member("a"))
        await asyncio.sleep(1)
        assert groups.patches == []
        leader.see(member("b"))
        await until(lambda: groups.condition("gang"))
        assert groups.status("gang")["columns"]["cards"] == f"{H200} 2"


async def test_that_a_group_asks_for_other_cards_is_written() -> None:
    async with groups_of(THREE, HOLDER, asking(0)) as (_, groups):
        await until(lambda: groups.condition("g0000"))
        asked = asking(0).asking({H200: 3}).body["metadata"]["annotations"]
        groups.change("g0000", {"metadata": {"annotations": asked}})
        await until(lambda: groups.status("g0000")["columns"]["cards"] == f"{H200} 3")
        assert "requested <3>" in groups.condition("g0000")["message"]


async def test_a_group_that_is_deleted_is_forgotten_and_after_its_term_nothing_is_due() -> None:
    ledger = a_world(THREE, HOLDER, asking(0))
    timers = Timers()
    conditions = GroupConditions(ledger, term=TERM, later=timers.later)
    group = ledger.groups["team/g0000"]
    conditions.waits(group, "Reason", "text", "queue")
    assert conditions.has(group, "Reason", "queue")
    conditions.in_a_moment(group.key)
    ledger.group_gone(group.key)
    conditions.drop(group.key)
    assert not conditions.has(group, "Reason", "queue")
    assert timers.cancelled == 1
    conditions.in_a_moment(group.key)
    conditions.stop()
    assert timers.cancelled == 2
    assert conditions.waits(group, "Reason", "text", "queue") == "text"
    conditions.in_a_moment(group.key)
    assert len(timers.calls) == 2


async def test_a_group_whose_pods_are_to_come_is_told_who_holds_what_it_asks_for() -> None:
    async with groups_of(THREE, HOLDER, asking(0)) as (_, groups):
        await until(lambda: groups.condition("g0000"))
        assert groups.condition("g0000")["message"].endswith("<queue>; held by holder 3")


async def test_a_new_leader_writes_nothing_that_stands_there() -> None:
    """What is stored stays until the new one has told the group, and then it is the same."""
    message = f"{SHORT}; number <1> of <1> that wait in Queue <queue>"
    group = GANG.put({"phase": "Pending", "columns": {"cards": f"{H200} 2"}}, "status")
    group = group.under_condition("Unschedulable", "InsufficientCardQuota", message)
    async with groups_of(THREE, HOLDER, group, member("a"), member("b")) as (leader, groups):
        await until(lambda: leader.tells("gang") == [v.Reason.INSUFFICIENT_CARD])
        await asyncio.sleep(60)
        assert groups.patches == []


async def test_a_condition_of_a_group_that_waits_no_more_is_taken_away() -> None:
    group = GANG.under_condition("Unschedulable", "InsufficientCardQuota", SHORT)
    async with groups_of(THREE, group) as (_, groups):
        await until(lambda: groups.status("gang").get("phase") == "Inqueue")
        assert groups.status("gang")["conditions"] == []


async def test_what_somebody_else_wrote_is_replaced() -> None:
    group = GANG.under_condition("Unschedulable", "Mine", "x")
    group = group.put(group.body["status"]["conditions"] * 2, "status", "conditions")
    async with groups_of(THREE, HOLDER, group, member("a"), member("b")) as (_, groups):
        await until(lambda: len(groups.status("gang")["conditions"]) == 1)
        await until(lambda: groups.condition("gang")["reason"] == v.Reason.INSUFFICIENT_CARD)


async def test_why_its_gates_do_not_open_stands_there_too() -> None:
    async with groups_of(THREE, asking(0)) as (leader, groups):
        answer_to = leader.script.answer_to
        leader.script.answer_to = lambda call: (
            refused(422)
            if call.method == "PATCH"
            and v.RESERVATION in str(call.body)
            and "Inqueue" in str(call.body)
            else answer_to(call)
        )
        await until(lambda: groups.condition("g0000"))
        assert groups.condition("g0000")["reason"] == v.GATE_REFUSED
        leader.script.answer_to = answer_to
        await until(lambda: groups.status("g0000")["phase"] == "Inqueue")
        assert groups.status("g0000")["conditions"] == []


async def test_a_long_sentence_is_cut_and_the_place_is_not() -> None:
    ledger = a_world(THREE, HOLDER, asking(0))
    conditions = GroupConditions(ledger, term=TERM)
    text = conditions.waits(ledger.groups["team/g0000"], "Reason", "é" * 2_000)
    assert len(text.encode()) <= MESSAGE_BYTES
    assert text.endswith("...; number <1> of <1> that wait in Queue <queue>")
