"""Section 2: what stands on a group that waits, and how often it is written."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from builders import H200, Body, a_group, a_pod, a_queue
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.control import Timer
from cardquota.control.release.groups import GroupConditions, group_conditions
from cardquota.quota import GROUP_MESSAGE_TEXT
from cardquota.quota import vocabulary as v
from cardquota.quota.objects import PodGroup

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


async def test_a_group_that_waits_says_what_its_event_says() -> None:
    things = THREE, HOLDER, GANG, member("a"), member("b")
    async with groups_of(*things) as (leader, groups):
        await until(lambda: groups.condition("gang"))
        found = groups.condition("gang")
        assert (found["type"], found["status"]) == ("Unschedulable", "True")
        assert (found["reason"], found["transitionID"]) == ("InsufficientCardQuota", TERM)
        place = "number <1> of <1> that wait in Queue <queue>"
        assert found["message"] == f"{SHORT}; {place}; held by holder 3"
        (event,) = (text for who, _, text in leader.told.events if who == "gang")
        assert event == found["message"]
        assert groups.status("gang")["phase"] == "Pending"
        assert groups.status("gang")["columns"] == {"cards": f"{H200} 2"}


async def test_and_when_it_is_let_through_that_instead() -> None:
    things = THREE, HOLDER, GANG, member("a"), member("b")
    async with groups_of(*things) as (leader, groups):
        await until(lambda: groups.condition("gang"))
        leader.ledger.pod_gone(HOLDER.uid)
        leader.releaser.wake()
        await until(lambda: groups.status("gang")["phase"] == "Inqueue")
        found = groups.condition("gang")
        assert (found["type"], found["reason"]) == ("Scheduled", v.RELEASED)
        assert found["message"] == "Queue <queue> has let the group start"
        leader.see(runs(member("a")), runs(member("b")))
        await until(lambda: groups.status("gang")["phase"] == "Running")
        since = found["lastTransitionTime"]
        assert groups.condition("gang") == {**found, "lastTransitionTime": since}
        assert groups.status("gang")["running"] == 2


async def test_a_group_that_loses_a_member_is_unknown_until_it_runs_again() -> None:
    """With the reason why it does not, whether another pod waits in its place or none is there."""
    a, b = runs(member("a"), 1), runs(member("b"), 1)
    async with groups_of(a_queue().with_quota({H200: 2}), GANG, a, b) as (leader, groups):
        await until(lambda: groups.status("gang").get("phase") == "Running")
        leader.see(b.in_phase("Failed").at_revision(2))
        await until(lambda: groups.status("gang")["phase"] == "Unknown")
        found = groups.status("gang")
        assert (found["running"], found["succeeded"], found["failed"]) == (1, 0, 1)
        assert groups.condition("gang")["reason"] == v.Reason.GANG_INCOMPLETE
        assert groups.condition("gang")["message"].startswith("only <1> of the <2> pods")
        leader.see(a_pod("other").in_queue("queue").naming(H200).stamped("queue", {H200: 1}))
        other = a_pod("other").in_queue("queue").naming(H200).asking_for(1)
        leader.see(other.stamped("queue", {H200: 1}).at_revision(3))
        leader.see(member("c"))
        await until(lambda: groups.condition("gang")["reason"] == v.Reason.INSUFFICIENT_CARD)
        assert groups.status("gang")["phase"] == "Unknown"
        leader.ledger.pod_gone(other.uid)
        leader.releaser.wake()
        await until(lambda: "c" in leader.opened)
        assert groups.status("gang")["phase"] == "Unknown"
        leader.see(runs(member("c")))
        await until(lambda: groups.status("gang")["phase"] == "Running")
        assert groups.condition("gang")["type"] == "Scheduled"


async def test_a_completed_group_keeps_its_counts_when_its_pods_are_cleaned_up() -> None:
    a, b = runs(member("a"), 1), runs(member("b"), 1)
    async with groups_of(THREE, GANG, a, b) as (leader, groups):
        leader.see(a.in_phase("Succeeded").at_revision(2), b.in_phase("Succeeded").at_revision(2))
        await until(lambda: groups.status("gang").get("phase") == "Completed")
        assert groups.status("gang")["succeeded"] == 2
        leader.ledger.pod_gone(a.uid)
        leader.ledger.pod_gone(b.uid)
        leader.releaser.wake()
        await asyncio.sleep(60)
        found = groups.status("gang")
        assert (found["phase"], found["succeeded"], found["running"]) == ("Completed", 2, 0)
        assert groups.condition("gang")["type"] == "Scheduled"


async def test_a_group_that_is_no_gang_waits_with_its_pods() -> None:
    """Of the pods that wait one tells why; once one is let through, the group does not wait."""
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


async def test_the_place_moves_up() -> None:
    things = THREE, HOLDER, *(asking(n) for n in range(4))
    async with groups_of(*things) as (leader, groups):
        await until(lambda: all(groups.condition(f"g{n:04}") for n in range(4)))
        last = groups.condition("g0003")
        assert "; number <4> of <4> that wait in Queue <queue>" in last["message"]
        leader.ledger.pod_gone(HOLDER.uid)
        leader.releaser.wake()
        await until(lambda: "number <3> of <3>" in groups.condition("g0003")["message"])
        assert groups.status("g0000")["phase"] == "Inqueue"
        assert groups.status("g0000")["conditions"] == []
        assert groups.condition("g0003")["lastTransitionTime"] == last["lastTransitionTime"]


async def test_numbers_of_the_sentence_are_brought_up_to_date() -> None:
    """Nobody waits for another reason, so no event says it."""
    part = HOLDER.asking_for(2).stamped("queue", {H200: 2})
    one = part.with_uid("one").asking_for(1).stamped("queue", {H200: 1})
    things = THREE, part, one, GANG, member("a"), member("b")
    async with groups_of(*things) as (leader, groups):
        await until(lambda: "total would be <5>" in groups.condition("gang").get("message", ""))
        leader.ledger.pod_gone("one")
        leader.releaser.wake()
        await until(lambda: "total would be <4>" in groups.condition("gang")["message"])
        assert leader.tells("gang") == [v.Reason.INSUFFICIENT_CARD]


async def test_nothing_is_written_because_others_hold_what_a_group_lacks() -> None:
    """Who they are is told as it is when something else is written."""
    part = HOLDER.asking_for(2).stamped("queue", {H200: 2})
    one = part.with_uid("one").asking_for(1).stamped("queue", {H200: 1})
    things = THREE, part, one, GANG, member("a"), member("b")
    async with groups_of(*things) as (leader, groups):
        await until(lambda: "held by holder 3" in groups.condition("gang").get("message", ""))
        groups.patches.clear()
        leader.ledger.pod_gone(HOLDER.uid)
        other = a_pod("other").in_namespace("theirs").in_queue("queue").naming(H200)
        leader.see(other.asking_for(2).stamped("queue", {H200: 2}))
        leader.releaser.wake()
        await asyncio.sleep(600)
        assert groups.patches == []
        assert leader.tells("gang") == [v.Reason.INSUFFICIENT_CARD]
        leader.ledger.pod_gone("one")
        leader.releaser.wake()
        await until(lambda: "total would be <4>" in groups.condition("gang")["message"])
        assert groups.condition("gang")["message"].endswith(
            "wait in Queue <queue>; held: 2 in other namespaces"
        )


async def test_a_group_whose_pods_are_to_come_is_told_who_holds_what_it_asks_for() -> None:
    async with groups_of(THREE, HOLDER, asking(0)) as (_, groups):
        await until(lambda: groups.condition("g0000"))
        assert groups.condition("g0000")["message"].endswith("<queue>; held by holder 3")


async def test_a_group_that_waits_for_something_else_is_not_told_who_holds_cards() -> None:
    things = THREE.closed(), HOLDER, GANG, member("a"), member("b")
    async with groups_of(*things) as (_, groups):
        await until(lambda: groups.condition("gang"))
        assert groups.condition("gang")["reason"] == v.Reason.QUEUE_NOT_OPEN
        assert "held" not in groups.condition("gang")["message"]


@pytest.mark.parametrize(
    ("room", "said"),
    [(31, "; held by one 1, three 1, two 1"), (30, "; held by 3 workloads 3"), (22, "")],
)
async def test_where_there_is_little_room_fewer_holders_are_named_or_nobody(
    room: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pods = [a_pod(name).in_queue("queue").naming(H200) for name in ("one", "two", "three")]
    each = [pod.asking_for(1).stamped("queue", {H200: 1}) for pod in pods]
    whole = f"{SHORT}; number <1> of <1> that wait in Queue <queue>"
    monkeypatch.setattr(group_conditions, "MESSAGE_BYTES", len(whole) + room)
    async with groups_of(THREE, *each, GANG, member("a"), member("b")) as (_, groups):
        await until(lambda: groups.condition("gang"))
        assert groups.condition("gang")["message"] == whole + said


@pytest.mark.slow
async def test_2_000_that_wait_cost_a_few_writes_when_one_is_let_through() -> None:
    """The place of all others changes; at most two of them are written in a second."""
    things = THREE, HOLDER, *(asking(n) for n in range(2_000))
    async with groups_of(*things, reservation_timeout=10_000.0) as (leader, groups):
        await until(lambda: all(groups.condition(f"g{n:04}") for n in range(2_000)))
        await asyncio.sleep(1_100)
        assert "number <2000> of <2000>" in groups.condition("g1999")["message"]
        assert "number <1> of <2000>" in groups.condition("g0000")["message"]
        groups.patches.clear()
        await asyncio.sleep(600)
        assert groups.patches == []
        leader.ledger.pod_gone(HOLDER.uid)
        leader.releaser.wake()
        await until(lambda: groups.status("g0000")["phase"] == "Inqueue")
        await asyncio.sleep(10)
        assert 10 <= len(groups.patches) <= 1 + 2 * 11
        assert {name for name, _ in groups.patches[1:]}.isdisjoint({"g0000"})
        await asyncio.sleep(1_100)
        assert "number <1999> of <1999>" in groups.condition("g1999")["message"]
        groups.patches.clear()
        await asyncio.sleep(600)
        assert groups.patches == []


async def test_the_cards_of_pods_that_come_one_by_one_are_not_written_for_each() -> None:
    """Nothing else of the group changes: it waits for more of them."""
    group = GANG.of(200)
    async with groups_of(THREE, group) as (leader, groups):
        await until(lambda: groups.status("gang"))
        for number in range(100):
            leader.see(member(f"p{number}"))
            await asyncio.sleep(0.01)
        assert len(groups.patches) <= 1 + 3
        await until(lambda: groups.status("gang")["columns"]["cards"] == f"{H200} 100")
        for number in range(100):
            leader.ledger.pod_gone(f"uid-p{number}")
        leader.releaser.wake()
        await until(lambda: groups.status("gang")["columns"]["cards"] == "")
        await asyncio.sleep(60)
        groups.patches.clear()
        await asyncio.sleep(60)
        assert groups.patches == []


async def test_a_group_that_is_deleted_is_forgotten() -> None:
    ledger = a_world(THREE, HOLDER, asking(0))
    timers = Timers()
    conditions = GroupConditions(ledger, term=TERM, per_second=1.0, later=timers.later)
    group = ledger.groups["team/g0000"]
    conditions.waits(group, "Reason", "text", "queue")
    assert conditions.has(group, "Reason", "queue")
    conditions.differs(group.key)
    ledger.group_gone(group.key)
    conditions.drop(group.key)
    assert not conditions.has(group, "Reason", "queue")
    asked: list[str] = []
    conditions.listen(asked.append)
    timers.calls[0]()
    assert (asked, len(timers.calls)) == ([], 1)


async def test_after_its_term_nothing_is_due() -> None:
    ledger = a_world(THREE, HOLDER, asking(0))
    timers = Timers()
    conditions = GroupConditions(ledger, term=TERM, per_second=1.0, later=timers.later)
    group = ledger.groups["team/g0000"]
    conditions.waits(group, "Reason", "text", "queue")
    conditions.stop()
    assert timers.cancelled == 1
    assert conditions.waits(group, "Reason", "text", "queue") == "text"
    conditions.differs(group.key)
    assert len(timers.calls) == 1


async def test_another_reason_is_written_at_once() -> None:
    things = THREE, HOLDER, *(asking(n) for n in range(40))
    async with groups_of(*things) as (leader, groups):
        await until(lambda: all(groups.condition(f"g{n:04}") for n in range(40)))
        leader.see(THREE.annotated(v.QUEUE_STATE, "Closed").at_revision(2))
        await until(lambda: groups.condition("g0039")["reason"] == v.Reason.QUEUE_NOT_OPEN, 1.0)


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
    """Its pods were deleted while nobody led."""
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
    """A group that is to be enqueued and may not be written; then it may."""
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
    conditions = GroupConditions(ledger, term=TERM, per_second=0)
    text = conditions.waits(ledger.groups["team/g0000"], "Reason", "é" * 2_000)
    assert len(text.encode()) <= GROUP_MESSAGE_TEXT.most
    assert text.endswith("...; number <1> of <1> that wait in Queue <queue>")


def never(seconds: float, _: object) -> Timer:
    raise AssertionError(seconds)


async def test_where_numbers_are_never_refreshed_reasons_are_written_all_the_same() -> None:
    ledger = a_world(THREE, HOLDER, asking(0))
    conditions = GroupConditions(ledger, term=TERM, per_second=0, later=never)
    asked: list[str] = []
    conditions.listen(asked.append)
    conditions.waits(ledger.groups["team/g0000"], "Reason", "text")
    assert asked == ["team/g0000"]


async def test_a_large_group_is_written_no_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tenant wrote many commas into an annotation, and its conditions are still read."""
    monkeypatch.setattr(
        GroupBody, "wire", lambda self: PodGroup.decode(json.dumps(self.body).encode())
    )
    group = GANG.annotated("example.com/long", "," * 70_000)
    async with groups_of(THREE, HOLDER, group, member("a"), member("b")) as (_, groups):
        await until(lambda: groups.condition("gang"))
        await asyncio.sleep(5.0)
        assert len(groups.patches) == 1
