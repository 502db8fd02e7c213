"""L2 to L5 after any history of a small cluster, and once it has become quiet. Each plan and each
Eviction is judged by the cluster itself: see `live_cluster`.

By dice: what meets has to meet often.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardquota.quota.reclaim import PAUSE
from harness.fake_clock_loop import FakeClockLoop
from unit.control.fakes import Call
from unit.control.reclaim.stage import no_disruption

from .live_cluster import TICK, TIMEOUT, LiveCluster, living

QUEUES = ("a", "b", "c")
GANGS = {"g": "a", "h": "b", "i": "c"}
"""With their queues."""
EVENTS = 60
QUIET = 2 * 3_600 + 1_800


class ReclaimHistory:
    """What others do."""

    def __init__(self, cluster: LiveCluster, seed: int) -> None:
        self.cluster, self.dice = cluster, random.Random(seed)
        for queue in QUEUES:
            self.a_queue_is_written(queue)
        for group, queue in GANGS.items():
            cluster.group_comes(group, queue, self.dice.randint(1, 3))
        self.happenings = (
            *6 * (self.pods_come,),
            *3 * (self.a_pod_goes,),
            *2 * (self.a_gang_comes,),
            *2 * (self.a_budget_refuses,),
            lambda: self.a_queue_is_written(self.dice.choice(QUEUES)),
            self.a_node_goes_or_comes,
        )

    async def goes_on(self) -> None:
        for _ in range(self.dice.randint(1, 3)):
            self.dice.choice(self.happenings)()
        await self.cluster.passes(TICK * self.dice.choice((1, 1, 2, 5)))
        if self.dice.random() < 0.1:
            await self.cluster.stage.fail_over()

    async def becomes_quiet(self) -> None:
        self.cluster.stage.refuses.clear()
        self.cluster.stage.lost.clear()
        await self.cluster.passes(QUIET)

    # --- what happens -------------------------------------------------------------------------

    def a_queue_is_written(self, name: str) -> None:
        dice = self.dice
        owed = dice.choice((None, None, dice.randint(0, 6)))
        lends = dice.choice((None, None, dice.randint(0, 3)))
        quota = dice.choice((12, 12, dice.randint(2, 8)))
        self.cluster.queue_says(name, quota, dice.randint(1, 3), owed=owed, lends=lends)

    def pods_come(self) -> None:
        queue, priority = self.dice.choice(QUEUES), self.dice.choice((0, 0, 0, 5))
        may_end = self.dice.random() < 0.8
        for _ in range(self.dice.randint(1, 4)):
            size = self.dice.choice((1, 1, 2, 3))
            self.cluster.make(queue, size, priority, preemptable=may_end)

    def a_gang_comes(self) -> None:
        group = self.dice.choice([*GANGS])
        for _ in range(self.dice.randint(1, 3)):
            self.cluster.make(GANGS[group], self.dice.choice((1, 1, 2)), 0, group)

    def a_pod_goes(self) -> None:
        pods = [one for one in self.cluster.pods.values() if one.leaves is None]
        if pods:
            self.cluster.delete(self.dice.choice(pods))

    def a_budget_refuses(self) -> None:
        """Of pods without a gang: of a gang others end nevertheless, once one of it has."""
        stage, names = self.cluster.stage, [p.name for p in self.cluster.pods.values() if p.node]
        names = [name for name in names if not self.cluster.pods[name].group]
        stage.refuses = dict.fromkeys(self.dice.sample(names, len(names) // 3), no_disruption)
        stage.refuses_late = {name for name in stage.refuses if self.dice.random() < 0.5}
        stage.lost = {name for name in names if self.dice.random() < 0.2}

    def a_node_goes_or_comes(self) -> None:
        name = self.dice.choice(("n0", "n1", "n2"))
        if name in self.cluster.plain.nodes:
            self.cluster.node_goes(name)
        else:
            self.cluster.node_comes(name, self.dice.choice((3, 4, 6)))


async def a_history(seed: int) -> None:
    nodes, budget = {"n0": 4, "n1": 4, "n2": 4}, 1 + 9 * (seed % 2)
    async with living(nodes, seed, in_turn=False, budget=budget) as cluster:
        history = ReclaimHistory(cluster, seed)
        for _ in range(EVENTS):
            await history.goes_on()
        await history.becomes_quiet()
        cluster.all_have_what_is_theirs()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_l5_nobody_waits_who_is_owed_it_and_nobody_ends_without_need(seed: int) -> None:
    loop = FakeClockLoop()
    try:
        loop.run_until_complete(a_history(seed))
    finally:
        loop.close()


# --- some that teach something --------------------------------------------------------------------


@pytest.mark.fake_clock
@pytest.mark.parametrize("owed", [None, 4])
async def test_l4_who_deserves_more_meanwhile_loses_no_more_and_has_it_back(
    owed: int | None,
) -> None:
    """Red's words come while the first of four pods is asked to end. Who waits is owed its cards
    still, by its queue's own words, or not.
    """
    async with living({"n0": 8}, seed=1) as cluster:
        cluster.queue_says("red", 8)
        cluster.queue_says("blue", 8, owed=owed)
        for _ in range(8):
            cluster.make("red", 1)
        await cluster.tick()
        cluster.make("blue", 4)
        judge = cluster.stage.script.on_call

        def and_then(call: Call) -> None:
            judge(call)
            if call.path.endswith("/eviction"):
                cluster.queue_says("red", 8, owed=8)

        cluster.stage.script.on_call = and_then
        await cluster.passes(120)
        assert len(cluster.ended) == 1
        await cluster.passes(TIMEOUT + 120)
        assert cluster.held("red", bound=True) == 8
        await cluster.passes(2 * PAUSE)
        assert len(cluster.ended) == 1


@pytest.mark.fake_clock
async def test_l3_two_queues_have_back_what_is_theirs_one_after_the_other() -> None:
    async with living({"n0": 4, "n1": 4}, seed=1) as cluster:
        for queue in ("red", "blue", "green"):
            cluster.queue_says(queue, 8)
        for _ in range(8):
            cluster.make("red", 1)
        await cluster.tick()
        for queue in ("blue", "green"):
            cluster.make(queue, 2)
        await cluster.passes(600)
        assert [plan.queue for plan in cluster.plans] == ["blue", "green"]
        assert all(plan.started for plan in cluster.plans)
        assert sum(pod.cards for pod in cluster.ended) == 4
        cluster.all_have_what_is_theirs()
