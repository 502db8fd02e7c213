"""L5: plans beside each other: one inside a queue for a card there; between queues three for the
waiting pods of a queue, each once all end that end by those before it.
"""

import asyncio

import pytest

from builders import H200, a_group, a_node, a_queue
from builders.pod import PodBody
from cardquota.control.reclaim.course import Course
from cardquota.quota import vocabulary as v
from cardquota.quota.plan_record import PlanRecord

from ..fakes import a_world
from .stage import BOTH, ReclaimStage, a_card, full, reclaiming, runs, unplaced

pytestmark = pytest.mark.fake_clock

LONG = 75.0
"""Seconds in which what waits long enough is served."""
AGES = 600
"""The grace of pods that hold up the plan of somebody."""


def high(name: str, queue: str = "red", cards: int = 1) -> PodBody:
    """It waits for its queue's quota."""
    return a_card(name, queue, cards).gated().with_priority(5)


def low(name: str, queue: str = "red") -> PodBody:
    return runs(name, queue).with_priority(-5)


async def preempts(stage: ReclaimStage, name: str = "y") -> None:
    """Red's quota is full, and a pod of low priority ends for one of a higher one; slowly."""
    stage.see(BOTH["red"].with_quota({H200: 7}), high(name))
    assert stage.opens() == []
    stage.grace = AGES
    await asyncio.sleep(LONG)
    assert stage.evicted == ["low"]
    assert stage.kept == {H200}


async def test_what_a_queue_ends_for_itself_holds_up_no_plan_between_queues() -> None:
    async with reclaiming(*full(6), low("low"), runs("b", "blue")) as stage:
        await preempts(stage)
        stage.see(unplaced("x"))
        await asyncio.sleep(LONG)
        assert stage.victims("y") == ["low"]
        assert stage.victims("x") == ["r5"]


async def test_nor_what_others_end_for_themselves() -> None:
    async with reclaiming(*full(6), low("low"), low("b", "blue")) as stage:
        await preempts(stage)
        stage.see(BOTH["blue"].with_quota({H200: 1}), high("z", "blue"))
        assert stage.opens("blue") == []
        await asyncio.sleep(LONG)
        assert stage.victims("z") == ["b"]


async def test_of_those_in_queues_there_are_as_many_as_pods_may_end_in_a_minute() -> None:
    pods = [*full(5), low("low"), low("b", "blue"), runs("c", "blue")]
    async with reclaiming(*pods, reclaim={"evictionsPerMinute": 1}) as stage:
        stage.see(BOTH["red"].with_quota({H200: 6}), high("y"))
        stage.see(BOTH["blue"].with_quota({H200: 2}), high("z", "blue"))
        assert stage.opens() == stage.opens("blue") == []
        stage.grace = AGES
        await asyncio.sleep(200)
        assert [name for name in ("y", "z") if stage.plan_of(name)] == ["y"]
        stage.see(BOTH["blue"], unplaced("x"))
        await asyncio.sleep(100)
        assert stage.plan_of("x") is not None


async def test_in_a_queue_it_is_one_after_the_other() -> None:
    both = high("y"), high("z", cards=2)
    async with reclaiming(*full(5), low("low"), *both) as stage:
        stage.see(BOTH["red"].with_quota({H200: 6}))
        assert stage.opens() == []
        await asyncio.sleep(LONG)
        assert [name for name in ("y", "z") if stage.plan_of(name)] == ["y"]


async def test_none_begins_in_a_queue_while_one_between_queues_lasts() -> None:
    async with reclaiming(*full(7), low("low"), unplaced("x")) as stage:
        await asyncio.sleep(LONG)
        assert stage.evicted == ["low"]
        stage.see(high("y"))
        assert stage.opens() == []
        await asyncio.sleep(LONG)
        assert stage.plan_of("y") is None
        stage.goes("low")
        stage.see(runs("x", "blue"), a_queue("red").with_quota({H200: 7}))
        await asyncio.sleep(5)
        assert stage.opens() == []
        await asyncio.sleep(5)
        assert stage.victims("y") == ["r6"]


async def test_who_has_a_room_in_its_queue_takes_no_room_between_queues() -> None:
    """It passes once its own pods are gone, though the card is closed everywhere."""
    async with reclaiming(*full(6), low("low"), runs("b", "blue")) as stage:
        await preempts(stage)
        stage.see(unplaced("x"))
        await asyncio.sleep(LONG)
        assert stage.evicted == ["low", "r5"]
        stage.goes("r5")
        await asyncio.sleep(5)
        assert stage.opens() == []  # there is quota, and that is all
        stage.goes("low")
        await asyncio.sleep(5)
        stage.see(high("z").with_priority(9))
        assert stage.opens() == ["y"]
        stage.see(runs("x", "blue"), runs("y"))
        await asyncio.sleep(5)
        assert stage.kept == set()


async def test_no_pod_ends_by_two_plans() -> None:
    """The rest of one inside a queue waits for its budget, and meanwhile the planner would choose
    another pod for it.
    """
    gang = [low(f"g{n}").in_group("gang") for n in range(3)]
    others = [runs("r", cards=3), low("low"), runs("b", "blue"), high("y", cards=4), unplaced("x")]
    things = [a_group("gang").in_queue("red").of(3), *gang, *others]
    async with reclaiming(*things, reclaim={"evictionsPerQueue": 3}) as stage:
        stage.see(BOTH["red"].with_quota({H200: 7}).deserving_cards({H200: 0}))
        blue = BOTH["blue"].deserving_cards({H200: 8})
        stage.see(blue.reclaiming("off"))
        assert stage.opens() == []
        stage.grace = AGES
        await asyncio.sleep(62)
        assert stage.victims("y") == ["g0", "g1", "g2", "low"]
        assert stage.evicted == ["low"]
        stage.see(runs("r", cards=3).with_priority(-9), blue)
        await asyncio.sleep(30)
        assert stage.evicted == ["low"]
        assert stage.plan_of("x") is None


async def test_the_room_of_one_that_is_about_to_start_is_promised_to_nobody() -> None:
    """It was released, and has no node yet."""
    async with reclaiming(*full(6), low("low"), runs("b", "blue")) as stage:
        await preempts(stage)
        stage.goes("low")
        await asyncio.sleep(5)
        assert stage.opens() == ["y"]
        stage.see(unplaced("x"))
        await asyncio.sleep(LONG)
        assert stage.victims("x") == ["r5"]


# --- between queues -------------------------------------------------------------------------------


async def test_three_of_a_queue_have_plans_for_a_card_at_a_time() -> None:
    names = [f"w{n}" for n in range(4)]
    async with reclaiming(*full(), *map(unplaced, names)) as stage:
        stage.grace = 100
        await asyncio.sleep(LONG)
        served = [name for name in names if stage.plan_of(name)]
        assert len(served) == len(stage.evicted) == 3
        assert len({*stage.evicted}) == 3
        # One has started: then another one's turn comes.
        stage.goes(stage.evicted[0])
        stage.see(runs(served[0], "blue"))
        await asyncio.sleep(10)
        assert len({*stage.evicted}) == 4


async def test_another_queue_has_three_of_its_own() -> None:
    waiting = [unplaced(f"w{n}{queue}", queue) for n in range(4) for queue in ("blue", "green")]
    async with reclaiming(*full(), *waiting) as stage:
        stage.see(a_node("h200-b").with_cards(H200, 8))
        stage.see(*(runs(f"s{n}", at=n).on_node("h200-b") for n in range(8)))
        for name in ("red", "blue", "green"):
            stage.see(a_queue(name).with_quota({H200: 16}))
        stage.grace = 100
        await asyncio.sleep(LONG + 20)
        for queue in ("blue", "green"):
            assert sum(stage.plan_of(f"w{n}{queue}") is not None for n in range(4)) == 3
        assert len(stage.evicted) == len({*stage.evicted}) == 6


async def test_while_others_are_looked_for_nothing_is_known_of_what_comes_of_a_plan() -> None:
    ledger = a_world(*BOTH.values())
    before = Course(PlanRecord("t", 0, "reclaim", H200, ("uid-gone",)), (), borrowed=3)
    before.asked, before.vacated = {"uid-gone": 0.0}, 0.0
    assert before.all_end(ledger)
    assert before.is_vacated(ledger)
    before.short = True
    assert not before.all_end(ledger)
    assert not before.is_vacated(ledger)
    course = Course(before.plan, ())
    course.take_over(before)
    assert course.borrowed == 3, "what was lost before is not forgotten"


async def test_where_others_have_its_room_theirs_is_waited_for() -> None:
    """x started first, where pods ended for w, which gets what ends for x, some minutes later."""
    async with reclaiming(*full(), unplaced("w").with_priority(5)) as stage:
        await asyncio.sleep(LONG)
        stage.grace = 500
        stage.see(unplaced("x"))
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r7", "r6"]
        stage.goes("r7")
        stage.see(runs("x", "blue"))
        await asyncio.sleep(400)
        assert v.RECLAIM_GAVE_UP not in stage.tells("w")
        stage.goes("r6")
        await asyncio.sleep(290)
        assert v.RECLAIM_GAVE_UP not in stage.tells("w")
        await asyncio.sleep(20)
        assert v.RECLAIM_GAVE_UP in stage.tells("w")
        assert stage.evicted == ["r7", "r6"]


async def test_one_that_still_ends_when_its_own_has_started_is_no_excuse() -> None:
    """x started elsewhere, and r6 still ends, which borrows no more."""
    async with reclaiming(*full(), unplaced("w").with_priority(5)) as stage:
        await asyncio.sleep(LONG)
        stage.grace = 500
        stage.see(unplaced("x"))
        await asyncio.sleep(LONG)
        stage.goes("r0", "r7")
        stage.see(runs("x", "blue"), runs("late"))
        await asyncio.sleep(10)
        stage.goes("r6")
        stage.see(runs("later"))
        await asyncio.sleep(320)
        assert v.RECLAIM_GAVE_UP in stage.tells("w")
        assert stage.evicted == ["r7", "r6"]


async def test_beside_another_plan_what_went_to_a_borrower_was_in_vain() -> None:
    """r6 has ended for x, so that fewer borrow: not for that may another one end for w."""
    async with reclaiming(*full(), unplaced("w").with_priority(5), unplaced("x")) as stage:
        await asyncio.sleep(LONG)
        assert stage.evicted == ["r7", "r6"]
        stage.goes("r7", "r6")
        stage.see(runs("x", "blue"), runs("late"))
        await asyncio.sleep(200)
        assert stage.evicted == ["r7", "r6"]
        await asyncio.sleep(110)
        assert v.RECLAIM_GAVE_UP in stage.tells("w")
