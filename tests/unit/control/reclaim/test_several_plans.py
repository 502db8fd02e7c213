"""Several plans for a card beside each other: each begins once all of those before it end (L5)."""

import asyncio

import pytest

from builders import H200, a_node, a_queue
from cardquota.quota import vocabulary as v

from .stage import full, reclaiming, runs, unplaced

pytestmark = pytest.mark.fake_clock

LONG = 75.0
"""Seconds in which what waits long enough is served."""


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
