"""Nobody ends in vain, or for one who pretends to wait; and who waits longest is served (L5)."""

import asyncio
import logging

import pytest

from builders import H200, H800, a_group, a_queue
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota.quota.plan_record import PlanRecord, plan_text

from ..fakes import Answer, Call, lost
from .stage import BOTH, NOW, a_card, full, no_disruption, reclaiming, runs, unplaced
from .test_course import GANG, a_gang_of_four, kept

pytestmark = pytest.mark.fake_clock

LONG = 75.0
"""Seconds in which what waits long enough is served."""
BOTH_CARDS = {H200: 8, H800: 8}


def of_h800(name: str, queue: str = "red") -> PodBody:
    return a_card(name, queue).naming(H800).stamped(queue, {H800: 1}).on_node("h800-a")


# --- whose turn it is -----------------------------------------------------------------------------


async def test_who_comes_later_with_a_lower_priority_comes_later() -> None:
    first, second = unplaced("w").with_priority(9), unplaced("x").with_priority(5)
    async with reclaiming(*full(), first, second) as stage:
        stage.silent = {"r7"}
        await asyncio.sleep(LONG)
        assert stage.victims("w") == ["r7"]
        stage.see(unplaced("y").with_priority(-5))
        await asyncio.sleep(100)
        stage.silent = {"r6"}
        stage.goes("r7")
        stage.see(runs("w", "blue").with_priority(9))
        await asyncio.sleep(10)
        assert stage.plan_of("x") is not None
        assert stage.plan_of("y") is None


async def test_a_gang_larger_than_the_budget_gets_its_minute_though_others_end_all_the_time() -> (
    None
):
    async with reclaiming(*a_gang_of_four(), reclaim={"evictionsPerMinute": 3}) as stage:
        stage.see(
            a_queue("green").with_quota({H800: 1}), of_h800("low0", "green").with_priority(-5)
        )
        for n in range(30):
            if n == 3:
                stage.see(unplaced("w", cards=4))
            stage.see(a_card(f"high{n}", "green").naming(H800).gated().with_priority(5))
            assert stage.opens("green") == []
            for _ in range(60):
                if f"low{n}" in stage.evicted:
                    break
                await asyncio.sleep(2)
            stage.goes(f"low{n}")
            await asyncio.sleep(3)
            assert stage.opens("green") == [f"high{n}"]
            stage.see(of_h800(f"high{n}", "green").with_priority(5))
            await asyncio.sleep(5)
            stage.goes(f"high{n}")
            stage.see(of_h800(f"low{n + 1}", "green").with_priority(-5))
            await asyncio.sleep(1)
        assert set(GANG) <= set(stage.evicted)


# --- for those who never start --------------------------------------------------------------------


async def test_others_of_a_queue_wait_once_one_went_that_had_its_room_in_vain() -> None:
    async with reclaiming(*full()) as stage:
        for n in range(4):
            before = len(stage.evicted)
            stage.see(unplaced(f"w{n}"))
            await asyncio.sleep(70)
            for name in stage.evicted[before:]:
                stage.goes(name)
            await asyncio.sleep(310)
            stage.goes(f"w{n}")
            if stage.evicted[before:]:
                assert v.RECLAIM_GAVE_UP in stage.tells(f"w{n}")
                stage.see(runs(f"again{n}"))
            await asyncio.sleep(5)
        assert stage.evicted == ["r7"]


@pytest.mark.parametrize("waiting", ["a pod with a finalizer", "a gang whose pods go first"])
async def test_who_goes_in_two_steps_leaves_the_rest_of_its_hour_too(waiting: str) -> None:
    async with reclaiming(*full()) as stage:
        gang = waiting.startswith("a gang")
        names = ("m0", "m1") if gang else ("m0",)
        members = [unplaced(name).in_group("gang") if gang else unplaced(name) for name in names]
        stage.see(a_group("gang").in_queue("blue").of(2), *members)
        await asyncio.sleep(70)
        ended = list(stage.evicted)
        assert len(ended) == len(names)
        for name in ended:
            stage.goes(name)
            stage.see(runs(f"again-{name}"))
        await asyncio.sleep(320)
        assert v.RECLAIM_GAVE_UP in stage.tells("gang" if gang else "m0")
        if gang:
            stage.goes(*names)
            await asyncio.sleep(5)
            stage.ledger.group_gone("team/gang")
        else:
            stage.see(members[0].put("2027-01-15T08:01:30Z", "metadata", "deletionTimestamp"))
            await asyncio.sleep(5)
            stage.goes(*names)
        await asyncio.sleep(5)
        stage.see(unplaced("y"))
        await asyncio.sleep(LONG)
        assert stage.evicted == ended
        await asyncio.sleep(3_600)
        assert len(stage.evicted) > len(ended)


async def test_who_goes_as_it_is_given_up_leaves_its_hour_too() -> None:
    """Before that could be written on it."""
    async with reclaiming(*full(), unplaced("w")) as stage:
        await asyncio.sleep(LONG)
        stage.goes("r7")
        stage.see(runs("again"))
        stored_by, tried = stage.script.answer_to, list[Call]()

        def goes(call: Call) -> Answer:
            if "gaveUp" in str(call.body) and not tried:
                tried.append(call)
                stage.goes("w")
            return stored_by(call)

        stage.script.answer_to = goes
        await asyncio.sleep(320)
        assert tried
        stage.see(unplaced("y"))
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r7"]


async def test_marks_of_times_to_come_hold_up_nobody_else() -> None:
    """As a leader with a wrong clock wrote them, or somebody before the policies were there."""
    mark = plan_text(PlanRecord("t", NOW, "reclaim", H200, ("uid-gone",), NOW + 10**9))
    those = [unplaced(f"w{n}").annotated(v.RECLAIM_PLAN, mark) for n in range(3)]
    async with reclaiming(*full(), *those, unplaced("y")) as stage:
        await asyncio.sleep(LONG)
        assert stage.victims("y") == ["r7"]


@pytest.mark.parametrize("leaders", [1, 2])
async def test_what_borrowers_took_is_lost_for_a_new_leader_too(leaders: int) -> None:
    async with reclaiming(*full(), *(unplaced(f"w{n}") for n in range(3))) as stage:
        await asyncio.sleep(LONG)
        ended = list(stage.evicted)
        assert len(ended) == 3
        stage.goes(*ended)
        stage.see(*(runs(f"late-{name}") for name in ended))
        await asyncio.sleep(20)
        if leaders == 2:
            await stage.fail_over()
        await asyncio.sleep(250)
        assert stage.evicted == ended


async def test_another_of_the_queue_does_not_wait_for_one_that_still_does() -> None:
    async with reclaiming(*full(), unplaced("w").with_priority(5)) as stage:
        await asyncio.sleep(LONG)
        stage.goes("r7")
        stage.see(runs("other"))
        await asyncio.sleep(310)
        assert v.RECLAIM_GAVE_UP in stage.tells("w")
        stage.see(unplaced("x"))
        await asyncio.sleep(LONG)
        assert stage.plan_of("x") is not None


async def test_the_pause_holds_for_the_card_of_the_plan_of_a_gang_of_two() -> None:
    async with reclaiming(*(of_h800(f"o{n}") for n in range(8))) as stage:
        stage.see(a_queue("red").with_quota(BOTH_CARDS), a_queue("blue").with_quota(BOTH_CARDS))
        for n in range(3):
            before, gang = len(stage.evicted), f"gang{n}"
            one = unplaced(f"a{n}").in_group(gang)  # there is room for it
            other = unplaced(f"b{n}").naming(H800).stamped("blue", {H800: 1}).in_group(gang)
            stage.see(a_group(gang).in_queue("blue").of(2), one, other)
            await asyncio.sleep(66)
            stage.goes(f"a{n}", f"b{n}")
            await asyncio.sleep(1)
            for name in stage.evicted[before:]:
                stage.goes(name)
                stage.see(of_h800(f"again{n}"))
            await asyncio.sleep(5)
        assert len(stage.evicted) == 1


async def test_the_pause_holds_for_the_card_of_a_choice() -> None:
    async with reclaiming(*full(1)) as stage:
        stage.see(a_queue("red").with_quota({H200: 1, H800: 1}), kept("r0"), of_h800("o"))
        for n in range(3):
            before = len(stage.evicted)
            stage.see(a_card(f"w{n}").naming(f"{H200}|{H800}").gated().with_priority(5))
            assert stage.opens() == []
            await asyncio.sleep(66)
            stage.goes(f"w{n}")
            await asyncio.sleep(3)
            for name in stage.evicted[before:]:
                stage.goes(name)
                stage.see(of_h800(f"again{n}"))
            await asyncio.sleep(5)
        assert len(stage.evicted) == 1


async def test_who_starts_while_it_is_asked_who_could_end_gets_no_plan() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:

        def starts(call: Call) -> bytes:
            stage.goes("r0")
            stage.see(runs("w", "blue"))
            return b"{}"

        stage.script.would_answer = starts
        await asyncio.sleep(LONG)
        assert stage.script.asked
        assert not stage.script.calls
        assert stage.kept == set()


# --- a plan that counts on another ----------------------------------------------------------------


async def test_nobody_counts_on_what_was_to_end_for_another_and_may_not() -> None:
    """w2 would find the rest of the room that a large pod was to make for w1."""
    large, first = runs("v", cards=3, at=9), unplaced("w1").with_priority(1)
    async with reclaiming(*full(5), large, first, unplaced("w2", cards=3)) as stage:
        stage.refuses["v"] = no_disruption
        await asyncio.sleep(LONG)
        assert stage.victims("w1") == ["r4"]
        assert stage.victims("w2") == ["r1", "r2", "r3"]


async def test_inside_queues_neither() -> None:
    low = [runs("v", cards=3, at=9).with_priority(-5), runs("b", "blue").with_priority(-5)]
    async with reclaiming(*full(4), *low) as stage:
        stage.see(BOTH["red"].with_quota({H200: 7}), BOTH["blue"].with_quota({H200: 3}))
        stage.refuses["v"] = no_disruption
        stage.see(a_card("y").gated().with_priority(5))
        stage.see(a_card("z", "blue", 3).gated().with_priority(4))
        assert stage.opens() == stage.opens("blue") == []
        await asyncio.sleep(LONG)
        assert "b" not in stage.evicted


async def test_one_that_does_not_go_holds_up_no_other_card() -> None:
    others = [of_h800(f"o{n}") for n in range(8)]
    async with reclaiming(*full(), *others, unplaced("w").with_priority(5)) as stage:
        stage.see(a_queue("red").with_quota(BOTH_CARDS), a_queue("blue").with_quota(BOTH_CARDS))
        stage.grace = 5
        await asyncio.sleep(LONG + 70)
        assert v.NOT_GONE in stage.tells("r7")
        stage.see(unplaced("x").naming(H800).stamped("blue", {H800: 1}))
        await asyncio.sleep(LONG)
        assert stage.plan_of("x") is not None


@pytest.mark.parametrize("how", ["its tasks have minimums", "it is gone"])
async def test_no_part_of_a_gang_ends_whose_group_changed_since(how: str) -> None:
    group = a_group("g").in_queue("red").of(2)
    members = [runs(f"x{n}", at=n).in_group("g") for n in range(8)]
    reclaim = {"evictionsPerQueue": 1}
    async with reclaiming(group, *members, unplaced("w", cards=2), reclaim=reclaim) as stage:
        await asyncio.sleep(LONG)
        assert stage.evicted == ["x7"]
        if how == "it is gone":
            stage.ledger.group_gone("team/g")
        else:
            stage.see(group.of_tasks({"worker": 2}))
        await asyncio.sleep(100)
        assert stage.evicted == ["x7"]


@pytest.mark.parametrize("leaders", [1, 2])
async def test_a_queue_of_which_several_never_start_waits_whole(leaders: int) -> None:
    async with reclaiming(*full(), *(unplaced(f"w{n}") for n in range(6))) as stage:
        ended: set[str] = set()
        while (now := asyncio.get_running_loop().time()) < 3_000:
            await asyncio.sleep(5)
            for name in set(stage.evicted) - ended:
                stage.goes(name)
                stage.see(runs(f"again-{name}"))
            ended = set(stage.evicted)
            if leaders == 2 and now > 2_000:
                leaders = 1
                await stage.fail_over()
        assert len(stage.evicted) == 3, "in the first hour"


# --- a plan that is not needed any more, or cannot be served --------------------------------------


async def test_nobody_else_ends_once_enough_comes_otherwise() -> None:
    reclaim = {"evictionsPerQueue": 1}
    async with reclaiming(*full(), unplaced("w", cards=2), reclaim=reclaim) as stage:
        await asyncio.sleep(LONG)
        (ended,) = stage.evicted
        stage.goes(ended, "r0")
        await asyncio.sleep(120)
        assert stage.evicted == [ended]


async def test_nobody_ends_beside_one_that_is_refused_and_cannot_be_replaced() -> None:
    pods = [kept(f"r{n}") for n in range(4)] + [runs("r4", at=4), runs("r5", at=5)]
    held = [runs("b0", "blue"), runs("b1", "blue")]
    async with reclaiming(*pods, *held, unplaced("w", cards=2)) as stage:
        stage.refuses, stage.refuses_late = {"r5": no_disruption}, {"r5"}
        await asyncio.sleep(600)
        assert stage.evicted == ["r5"]
        assert stage.tells("r4") == []


async def test_a_gang_stays_whose_first_pod_does_not_answer() -> None:
    async with reclaiming(*a_gang_of_four(), unplaced("w", cards=4)) as stage:
        stage.refuses, stage.refuses_late = dict.fromkeys(GANG, lost), set(GANG)
        await asyncio.sleep(62)
        first = stage.evicted[0]
        stage.refuses = {first: lost}
        await asyncio.sleep(60)
        assert set(stage.evicted) == {first}


async def test_what_is_deleted_meanwhile_counts_for_what_a_queue_keeps() -> None:
    held = [runs("b0", "blue"), runs("b1", "blue")]
    async with reclaiming(*full(6), *held, unplaced("w", cards=2)) as stage:

        def owner_deletes(call: Call) -> None:
            if call.path.endswith("/eviction") and len(stage.evicted) == 1:
                stage.see(runs("r0").terminating())

        stage.script.on_call = owner_deletes
        await asyncio.sleep(LONG)
        pods = stage.ledger.pods.values()
        stay = [one for one in pods if one.queue == "red" and not one.facts.terminating]
        assert len(stay) == 4


async def test_what_is_gone_within_a_look_is_not_counted_as_leaving_too() -> None:
    """As one that ends at once; else the next one would be taken for what its queue deserves."""
    held = [runs("b0", "blue"), runs("b1", "blue")]
    async with reclaiming(*full(6), *held, unplaced("w", cards=2)) as stage:
        store = stage.script.answer_to

        def goes_at_once(call: Call) -> Answer:
            answer = store(call)
            if call.path.endswith("/r5/eviction"):
                stage.goes("r5")
            return answer

        stage.script.answer_to = goes_at_once
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r5", "r4"]
        assert stage.plan_of("w") is not None


async def test_who_was_gone_before_others_were_found_is_told_too() -> None:
    async with reclaiming(*full(), unplaced("w", cards=2)) as stage:
        stage.refuses, stage.refuses_late = {"r6": no_disruption}, {"r6"}

        def goes_at_once(call: Call) -> None:
            if call.path.endswith("/r6/eviction"):
                stage.goes("r7")

        stage.script.on_call = goes_at_once
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r7", "r6", "r5"]
        assert "by ending 2 pods of Queue <red>" in stage.text("w", v.ROOM_MADE)


async def test_between_queues_a_gang_of_two_cards_gets_no_plan_while_one_is_taken() -> None:
    x = unplaced("x").naming(H800).stamped("blue", {H800: 1})
    async with reclaiming(*full(), *(of_h800(f"o{n}") for n in range(8)), x) as stage:
        stage.see(a_queue("red").with_quota(BOTH_CARDS), a_queue("blue").with_quota(BOTH_CARDS))
        stage.silent = {f"o{n}" for n in range(8)}
        await asyncio.sleep(LONG)
        assert stage.plan_of("x") is not None
        other = unplaced("m1").naming(H800).stamped("blue", {H800: 1}).in_group("gang")
        stage.see(a_group("gang").in_queue("blue").of(2), unplaced("m0").in_group("gang"), other)
        await asyncio.sleep(LONG)
        assert stage.plan_of("gang") is None


# --- what is told ---------------------------------------------------------------------------------


async def test_one_that_waits_and_is_being_deleted_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with reclaiming(*full(), unplaced("w")) as stage:
        await asyncio.sleep(LONG)
        body = stage.bodies["w"]
        assert isinstance(body, PodBody)
        stage.see(body.put("2027-01-15T08:01:30Z", "metadata", "deletionTimestamp"))
        await asyncio.sleep(600)
        assert sum("pods end for" in record.message for record in caplog.records) == 1


async def test_who_is_asked_again_as_nothing_is_seen_is_counted_once() -> None:
    async with reclaiming(*full(), unplaced("w")) as stage:
        stage.silent = {"r7"}
        await asyncio.sleep(120)
        assert len(stage.evicted) > 1
        assert stage.tells("r7") == [v.RECLAIMED]
        assert stage.counted("evictions", queue="red", way="reclaim") == 1
