"""L5: a gang that ends as a whole ends only if budgets allow all of it."""

import asyncio
from typing import Any

import pytest

from builders import H200, a_group
from builders.pod import PodBody
from cardquota.quota import vocabulary as v

from .stage import BOTH, reclaiming, runs, unplaced

pytestmark = pytest.mark.fake_clock

LONG = 75.0
GANG = ["g0", "g1", "g2", "g3"]


def a_budget(allowed: int, **selector: Any) -> dict[str, Any]:
    return {"spec": {"selector": selector}, "status": {"disruptionsAllowed": allowed}}


def a_gang() -> list[PodBody]:
    """It came last, so its turn is first."""
    return [runs(name, at=9).in_group("gang").labelled("app", "gang") for name in GANG]


OTHERS = [runs(f"r{n}", cards=2, at=n) for n in range(2)]


@pytest.mark.parametrize(
    ("budget", "keeps"),
    [
        (a_budget(1, matchLabels={"app": "gang"}), True),
        (a_budget(3), True),
        (a_budget(4), False),
        (a_budget(0, matchLabels={"app": "other"}), False),
        (a_budget(0, matchExpressions=[{"key": "app", "operator": "Exists"}]), True),
        (a_budget(0, matchExpressions=[{"key": "app", "operator": "DoesNotExist"}]), False),
        (
            a_budget(0, matchExpressions=[{"key": "app", "operator": "In", "values": ["gang"]}]),
            True,
        ),
        (
            a_budget(0, matchExpressions=[{"key": "app", "operator": "NotIn", "values": ["gang"]}]),
            False,
        ),
        ({"spec": {}, "status": {}}, False),
    ],
)
async def test_it_ends_if_each_allows_all_that_it_selects(
    budget: dict[str, Any], *, keeps: bool
) -> None:
    group = a_group("gang").in_queue("red").of(4)
    async with reclaiming(group, *a_gang(), *OTHERS, unplaced("w", cards=2)) as stage:
        stage.budgets = [a_budget(0, matchLabels={"app": "none"}), budget]
        await asyncio.sleep(LONG)
        assert sorted(stage.evicted) == (["r1"] if keeps else GANG)
        assert stage.counted("refused", queue="red") == (4 if keeps else 0)


async def test_no_part_of_it_ends_if_a_budget_is_tighter_than_when_the_plan_was_made() -> None:
    """It waits for a budget of ours meanwhile."""
    first = runs("r", at=20).with_priority(-1)
    others = [first, runs("k", cards=3), unplaced("w", cards=5)]
    things = [a_group("gang").in_queue("red").of(4), *a_gang(), *others]
    async with reclaiming(*things, reclaim={"evictionsPerQueue": 4}) as stage:
        stage.see(stage.bodies["k"].annotated(v.PREEMPTABLE, "false"))
        stage.see(BOTH["red"].deserving_cards({H200: 0}), BOTH["blue"].deserving_cards({H200: 8}))
        await asyncio.sleep(LONG)
        assert stage.victims("w") == [*GANG, "r"]
        assert stage.evicted == ["r"]
        stage.budgets = [a_budget(1, matchLabels={"app": "gang"})]
        await asyncio.sleep(90)
        assert stage.evicted == ["r"]
        assert stage.counted("refused", queue="red") == 4


async def test_for_pods_without_a_gang_no_budgets_are_read() -> None:
    async with reclaiming(*OTHERS, *map(runs, GANG), unplaced("w", cards=2)) as stage:
        await asyncio.sleep(LONG)
        assert stage.evicted
        assert stage.budgets_read == 0
