"""L5: what the leader does for who is owed cards that others hold."""

import asyncio

import pytest

from builders import H200, a_group
from cardquota.cluster.api import OutcomeUnknown
from cardquota.control.reclaim import LEFT_OUT
from cardquota.quota import vocabulary as v
from cardquota.quota.reclaim import PAUSE

from ..fakes import Answer, Call, lost, refused
from .stage import BOTH, NOW, a_card, full, no_disruption, reclaiming, runs, unplaced

pytestmark = pytest.mark.fake_clock

LONG = 75.0
"""Seconds in which what waits long enough is served."""


async def test_what_ends_is_written_first_then_asked_then_ended_and_told() -> None:
    async with reclaiming(*full(), unplaced("w", cards=2)) as stage:
        await asyncio.sleep(50)
        assert not stage.script.calls
        assert not stage.script.asked
        await asyncio.sleep(LONG - 50)
        asked = [call.path.split("/")[-2] for call in stage.script.asked]
        assert sorted(asked) == ["r6", "r7"]
        first, *others = stage.script.calls
        assert first.path.endswith("/pods/w")
        assert sorted(stage.evicted) == ["r6", "r7"]
        assert len(others) == 2
        plan = stage.plan_of("w")
        assert plan is not None
        assert (plan.way, plan.card, sorted(plan.victims)) == (
            "reclaim",
            H200,
            ["uid-r6", "uid-r7"],
        )
        assert stage.tells("r7") == [v.RECLAIMED]
        assert "pod <team/w> of Queue <blue> waits for <2> of <NVIDIA-H200>" in stage.text(
            "r7", v.RECLAIMED
        )
        assert stage.tells("w") == [v.ROOM_MADE]
        assert stage.counted("evictions", queue="red", way="reclaim") == 2


async def test_the_card_is_kept_until_it_has_started() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r7"]
        assert stage.kept == {H200}
        stage.goes("r7")
        stage.see(a_card("r8").gated())
        # The victims' queue has quota, and does not take the room back.
        assert stage.opens("red") == []
        before = stage.changes
        stage.see(runs("w", "blue").at_revision(0))
        await asyncio.sleep(5)
        assert stage.ledger.kept_rooms == {}
        assert stage.changes > before
        assert stage.opens("red") == ["r8"]
        assert len(stage.evicted) == 1


async def test_nobody_else_gets_a_plan_for_that_card_before_all_of_the_first_end() -> None:
    async with reclaiming(*full(), unplaced("w"), unplaced("x")) as stage:
        stage.silent = {"r7"}
        await asyncio.sleep(LONG)
        assert set(stage.evicted) == {"r7"}
        first, second = ("w", "x") if stage.plan_of("w") else ("x", "w")
        assert stage.plan_of(second) is None
        stage.silent = set()  # and it is asked again
        await asyncio.sleep(20)
        assert stage.victims(first) == ["r7"]
        assert stage.victims(second) == ["r6"]


# --- who may not end ------------------------------------------------------------------------------


async def test_whom_a_budget_keeps_is_left_out_and_others_end() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.refuses = {"r7": no_disruption, "r6": lambda: refused(403)}
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r5"]
        assert stage.counted("refused", queue="red") == 2
        assert stage.tells("r7") == []


async def test_one_that_is_refused_at_last_is_replaced() -> None:
    """As where two have one budget, which allows to end each of them alone."""
    async with reclaiming(*full(), unplaced("w", cards=2)) as stage:
        stage.refuses, stage.refuses_late = {"r6": no_disruption}, {"r6"}
        await asyncio.sleep(LONG + 10)
        assert sorted(stage.evicted) == ["r5", "r6", "r7"]
        assert stage.victims("w") == ["r5", "r7"]
        assert stage.counted("evictions", queue="red", way="reclaim") == 2
        assert stage.tells("w") == [v.ROOM_MADE], "once, of all of them"
        assert "by ending 2 pods of Queue <red>" in stage.text("w", v.ROOM_MADE)


async def test_who_is_left_out_is_asked_again_after_a_while() -> None:
    async with reclaiming(*full(5), runs("x", "blue", cards=3), unplaced("w")) as stage:
        stage.refuses = {f"r{n}": no_disruption for n in range(5)}
        await asyncio.sleep(LONG + 20)
        asked = len(stage.script.asked)
        assert asked == 5
        await asyncio.sleep(LEFT_OUT - 60)
        assert len(stage.script.asked) == asked
        stage.refuses = {}
        await asyncio.sleep(90)
        assert stage.evicted == ["r4"]


async def test_a_busy_api_server_refuses_nobody() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.refuses = {"r7": lambda: refused(429)}
        await asyncio.sleep(63)
        assert len(stage.script.asked) == 2
        assert stage.plan_of("w") is None
        stage.refuses = {}
        await asyncio.sleep(5)
        assert stage.evicted == ["r7"]


async def test_of_a_pod_with_several_budgets_the_api_server_ends_none() -> None:
    said = "500 InternalError: This pod has more than one PodDisruptionBudget, which the eviction "
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.refuses = {"r7": lambda: OutcomeUnknown(f"{said}subresource does not support.")}
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r6"]


async def test_whom_a_dry_run_says_nothing_of_is_asked_again() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.refuses = {"r7": lost}
        await asyncio.sleep(63)
        assert stage.evicted == []
        stage.refuses = {}
        await asyncio.sleep(5)
        assert stage.evicted == ["r7"]


async def test_what_nobody_knows_of_the_watch_shows() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.lost = {"r7"}
        await asyncio.sleep(LONG + 60)
        assert stage.evicted == ["r7"]


async def test_a_pod_that_was_made_again_under_its_name_is_spared() -> None:
    async with reclaiming(*full(), unplaced("w", cards=2)) as stage:
        stage.refuses = {"r6": lambda: refused(409)}
        stage.refuses_late = {"r6"}
        await asyncio.sleep(LONG)
        assert stage.tells("r6") == []
        assert stage.counted("refused", queue="red") == 0


async def test_what_was_forbidden_after_the_plan_was_made_holds() -> None:
    reclaim = {"evictionsPerQueue": 1}
    async with reclaiming(*full(), unplaced("w", cards=2), reclaim=reclaim) as stage:
        await asyncio.sleep(LONG)
        (ended,) = stage.evicted
        (left,) = {"r6", "r7"} - {ended}
        stage.see(stage.bodies[left].annotated(v.PREEMPTABLE, "false"))
        await asyncio.sleep(90)
        assert left not in stage.evicted
        assert len(stage.evicted) == 2


async def test_no_queue_falls_below_what_it_deserves_by_a_plan_that_takes_long() -> None:
    reclaim = {"evictionsPerQueue": 1}
    async with reclaiming(*full(6), unplaced("w", cards=4), reclaim=reclaim) as stage:
        await asyncio.sleep(LONG)
        assert len(stage.victims("w")) == 2
        assert len(stage.evicted) == 1
        stage.goes(*stage.evicted, "r0")
        await asyncio.sleep(90)
        assert len(stage.evicted) == 1


async def test_what_others_delete_counts_as_given_back() -> None:
    reclaim = {"evictionsPerQueue": 1}
    async with reclaiming(*full(6), unplaced("w", cards=4), reclaim=reclaim) as stage:
        await asyncio.sleep(LONG)
        stage.see(runs("r0").terminating())
        await asyncio.sleep(90)
        assert len(stage.evicted) == 1


async def test_who_was_asked_to_end_counts_as_given_back_before_the_watch_tells() -> None:
    async with reclaiming(*full(6), unplaced("w", cards=4)) as stage:
        stage.silent = {f"r{n}" for n in range(6)}
        stage.script.on_call = lambda call: (
            stage.goes("r0") if call.path.endswith("/eviction") and "r0" in stage.bodies else None
        )
        await asyncio.sleep(LONG)
        assert len(set(stage.evicted)) == 1


async def test_who_was_asked_to_end_is_not_asked_again_at_once() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.silent = {"r7"}
        await asyncio.sleep(64)
        assert stage.evicted == ["r7"]
        assert not stage.reclaimer.all_seen
        await asyncio.sleep(6)
        assert stage.evicted == ["r7"]
        await asyncio.sleep(6)
        assert stage.evicted == ["r7", "r7"]


# --- budgets --------------------------------------------------------------------------------------


async def test_no_more_end_in_a_minute_than_the_budgets_say() -> None:
    reclaim = {"evictionsPerMinute": 3, "evictionsPerQueue": 2}
    async with reclaiming(*full(), unplaced("w", cards=4), reclaim=reclaim) as stage:
        await asyncio.sleep(LONG)
        assert len(stage.evicted) == 2
        assert v.ROOM_MADE not in stage.tells("w")
        await asyncio.sleep(40)
        assert len(stage.evicted) == 2
        await asyncio.sleep(30)
        assert len(stage.evicted) == 4
        assert v.ROOM_MADE in stage.tells("w")


# --- when no plan is made -------------------------------------------------------------------------


async def test_none_is_made_while_what_is_known_may_be_wrong() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.unsure = True
        await asyncio.sleep(600)
        assert not stage.script.asked
        stage.unsure, stage.fence.closed = False, True
        await asyncio.sleep(60)
        assert not stage.script.asked
        stage.fence.closed = False
        await asyncio.sleep(5)
        assert stage.evicted == ["r7"]


async def test_none_is_made_in_the_first_moments_of_a_term() -> None:
    pod = a_card("w").gated().with_priority(5)
    async with reclaiming(*full(), pod, preempt={"after": 1}) as stage:
        assert stage.opens() == []
        await asyncio.sleep(55)
        assert not stage.script.asked
        await asyncio.sleep(10)
        assert len(stage.evicted) == 1


async def test_after_a_drain_nobody_ends() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        assert await stage.reclaimer.drain(5)
        await asyncio.sleep(200)
        assert not stage.script.calls
        assert stage.reclaimer.all_seen


# --- preempt --------------------------------------------------------------------------------------


async def test_a_higher_priority_gets_the_quota_of_a_lower_one() -> None:
    high = a_card("w", cards=2).gated().with_priority(5)
    async with reclaiming(*full(), high, a_card("x").gated()) as stage:
        assert stage.opens() == []
        await asyncio.sleep(LONG)
        assert sorted(stage.evicted) == ["r6", "r7"]
        assert stage.tells("r7") == [v.PREEMPTED]
        text = stage.text("r7", v.PREEMPTED)
        assert "pod <team/w> of priority <5> waits in Queue <red> for <2>" in text
        stage.goes("r6", "r7")
        assert stage.opens() == ["w"]
        await asyncio.sleep(5)
        assert stage.opens() == []  # it has no node yet
        stage.see(runs("w", cards=2))
        await asyncio.sleep(5)
        assert stage.ledger.kept_rooms == {}


async def test_a_gang_gets_it_as_a_whole_and_nothing_stands_on_it_afterwards() -> None:
    members = [a_card(f"m{n}").in_group("gang").gated().with_priority(5) for n in range(2)]
    gang = a_group("gang").in_queue("red").of(2)
    async with reclaiming(*full(), gang, *members) as stage:
        assert stage.opens() == []
        await asyncio.sleep(LONG)
        assert sorted(stage.evicted) == ["r6", "r7"]
        assert stage.victims("gang") == ["r6", "r7"]
        assert "group <team/gang>" in stage.text("r7", v.PREEMPTED)
        stage.goes("r6", "r7")
        stage.see(*(runs(f"m{n}").in_group("gang") for n in range(2)))
        await asyncio.sleep(5)
        assert stage.plan_of("gang") is None
        assert "team/gang" not in stage.ledger.plans
        assert stage.ledger.kept_rooms == {}


# --- how it ends ----------------------------------------------------------------------------------


async def test_who_does_not_start_in_time_gets_nothing_more_for_an_hour() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        await asyncio.sleep(LONG)
        stage.goes("r7")
        stage.see(runs("other"))  # somebody else has taken the room, and is not owed it
        await asyncio.sleep(280)
        assert stage.kept == {H200}
        await asyncio.sleep(30)
        assert stage.tells("w") == [v.ROOM_MADE, v.RECLAIM_GAVE_UP]
        assert stage.ledger.kept_rooms == {}
        plan = stage.plan_of("w")
        assert plan is not None
        assert plan.gave_up > NOW
        await asyncio.sleep(PAUSE - 60)
        assert stage.evicted == ["r7"]
        await asyncio.sleep(90)
        assert stage.evicted == ["r7", "r6"]


async def test_where_another_that_is_owed_it_has_the_room_others_end_at_once() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r7"]
        stage.goes("r7")
        stage.see(runs("other", "blue"))
        await asyncio.sleep(10)
        assert stage.evicted == ["r7", "r6"]
        assert stage.victims("w") == ["r6"]
        assert v.RECLAIM_GAVE_UP not in stage.tells("w")


async def test_the_time_begins_when_the_last_one_is_gone_or_should_be() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.grace = 100
        await asyncio.sleep(LONG)
        await asyncio.sleep(100 + 40)
        assert stage.tells("r7") == [v.RECLAIMED]
        await asyncio.sleep(20)
        assert stage.tells("r7") == [v.RECLAIMED, v.NOT_GONE]
        await asyncio.sleep(270)
        assert v.RECLAIM_GAVE_UP not in stage.tells("w")
        assert stage.evicted == ["r7"]
        await asyncio.sleep(40)
        assert v.RECLAIM_GAVE_UP in stage.tells("w")


@pytest.mark.parametrize("at_once", [True, False])
async def test_for_who_is_gone_nobody_ends(*, at_once: bool) -> None:
    reclaim = {"evictionsPerQueue": 1}
    async with reclaiming(*full(), unplaced("w", cards=2), reclaim=reclaim) as stage:
        await asyncio.sleep(LONG)
        assert len(stage.evicted) == 1
        if at_once:
            stage.goes("w")
        else:
            stage.see(
                stage.bodies["w"].put("2027-01-15T09:00:00Z", "metadata", "deletionTimestamp")
            )
        await asyncio.sleep(90)
        assert len(stage.evicted) == 1
        assert stage.ledger.kept_rooms == {}


async def test_for_who_goes_while_one_is_asked_no_other_is() -> None:
    async with reclaiming(*full(), unplaced("w", cards=2)) as stage:
        stage.script.on_call = lambda call: (
            stage.goes("w") if call.path.endswith("/eviction") and "w" in stage.bodies else None
        )
        await asyncio.sleep(LONG)
        assert len(stage.evicted) == 1


# --- another leader -------------------------------------------------------------------------------


async def test_a_successor_goes_on_with_the_same_victims_and_makes_no_other_plan() -> None:
    async with reclaiming(*full(), unplaced("w", cards=2)) as stage:
        stage.script.on_call = lambda call: (
            setattr(stage.fence, "closed", True) if call.path.endswith("/pods/w") else None
        )
        await asyncio.sleep(LONG)
        assert stage.evicted == []
        assert stage.victims("w") == ["r6", "r7"]
        stage.script.on_call, stage.fence.closed = lambda _: None, False
        # Of those that could end by now others came last.
        stage.see(runs("r5", at=50), runs("r4", at=51))
        await stage.fail_over()
        await asyncio.sleep(5)
        assert sorted(stage.evicted) == ["r6", "r7"]
        stage.goes("r6", "r7")
        await stage.reclaimer.end()
        assert stage.ledger.kept_rooms == {}
        await stage.fail_over()
        assert stage.kept == {H200}  # before a gate can open
        await asyncio.sleep(200)
        assert len(stage.evicted) == 2
        assert stage.kept == {H200}
        await asyncio.sleep(150)
        assert v.RECLAIM_GAVE_UP in stage.tells("w")
        await stage.fail_over()
        await asyncio.sleep(600)
        assert len(stage.evicted) == 2


async def test_what_a_former_leader_wrote_late_is_taken_away() -> None:
    """Its victims may not be those of now."""
    async with reclaiming(*full(), unplaced("w")) as stage:
        await asyncio.sleep(LONG)
        text = stage.bodies["w"].body["metadata"]["annotations"][v.RECLAIM_PLAN]
        stage.goes("r7")
        stage.see(runs("w", "blue"), unplaced("x"))
        await asyncio.sleep(5)
        late = text.replace("replica-1_abc", "replica-0_old").replace("uid-r7", "uid-r1")
        stage.see(stage.bodies["x"].annotated(v.RECLAIM_PLAN, late))
        await asyncio.sleep(5)
        assert stage.plan_of("x") is None
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r7", "r6"]


async def test_who_goes_once_a_plan_is_written_holds_up_nobody_else() -> None:
    """As one who deletes his pod whenever he sees that others are about to end for it."""
    async with reclaiming(*full(), unplaced("w"), unplaced("x")) as stage:
        store = stage.script.answer_to
        writes: list[str] = []

        def answer(call: Call) -> Answer:
            if call.path.endswith("/pods/w"):
                writes.append(call.path)
                stage.goes("w")
                return b"{}"
            return store(call)

        stage.script.answer_to = answer
        await asyncio.sleep(LONG)
        assert writes
        assert stage.evicted == ["r7"]
        assert stage.victims("x") == ["r7"]


async def test_a_plan_that_could_not_be_written_ends_nobody() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        store = stage.script.answer_to
        stage.script.answer_to = lambda call: (
            refused(403) if call.path.endswith("/pods/w") else store(call)
        )
        await asyncio.sleep(LONG)
        assert stage.evicted == []
        assert stage.ledger.kept_rooms == {}


# --- dry run --------------------------------------------------------------------------------------


async def test_a_dry_run_says_it_and_ends_nobody() -> None:
    async with reclaiming(*full(), unplaced("w", cards=2), reclaim={"mode": "dryRun"}) as stage:
        await asyncio.sleep(600)
        assert not stage.script.calls
        assert not stage.script.asked
        assert stage.tells("w") == [v.WOULD_RECLAIM]
        assert "2 pods of Queue <red> would be ended" in stage.text("w", v.WOULD_RECLAIM)
        assert stage.counted("would_evict", queue="red", way="reclaim") == 2
        await asyncio.sleep(PAUSE)
        assert stage.counted("would_evict", queue="red", way="reclaim") == 4


@pytest.mark.parametrize(("mode", "reasons"), [("off", []), ("dryRun", [v.WOULD_RECLAIM])])
async def test_a_queue_may_say_less_than_the_installation(mode: str, reasons: list[str]) -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.see(BOTH["blue"].reclaiming(mode))
        await asyncio.sleep(LONG)
        assert stage.evicted == []
        assert stage.tells("w") == reasons
