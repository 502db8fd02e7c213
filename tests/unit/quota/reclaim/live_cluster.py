"""A cluster that goes on by itself in virtual time: real ledger, release, planner and reclaimer.

Three things stand in for others, each in a few lines. The API server stores what is written (the
stage of the reclaimer). kube-scheduler gives a released pod the node with the least room that is
enough. Controllers make a pod again that was ended, under another name. What they all do is counted
here once more, from pods and nodes alone, and each plan and Eviction is judged by that.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

from builders import H200, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.control.reclaim import reclaimer
from cardquota.quota import time_text, to_its_end
from cardquota.quota import vocabulary as v
from cardquota.quota.plan_record import PlanRecord, read_plan
from cardquota.quota.reclaim import PAUSE, Plan, plans, preempt_waiters, reclaim_waiters
from cardquota.quota.release.release_order import QueueOrder
from cardquota.quota.reports.drift import drift
from unit.control.fakes import TERM, Call
from unit.control.reclaim.stage import ReclaimStage

from .plain_plans import PlanCluster, PlanPod, gives, placeable
from .reclaiming import unschedulable

TICK: Final = 30
"""Seconds from one turn of those that stand in to the next."""
GRACE: Final = 30
AFTER: Final = 60
TIMEOUT: Final = 300


@dataclass
class LivePod:
    name: str
    queue: str
    cards: int
    priority: int = 0
    group: str = ""
    preemptable: bool = True
    node: str = ""
    bound: float = 0.0
    """When it got its node."""
    released: int = 0
    """How many were before it, itself included; 0: it is at the gate."""
    leaves: float | None = None
    """When it is gone."""
    sought: bool = False
    """Whether kube-scheduler has found no node for it."""


@dataclass
class MadePlan:
    """What was written for one that waits, and what came of it."""

    key: str
    """The pod, or the PodGroup."""
    record: PlanRecord
    queue: str
    asked: int
    victims: frozenset[str]
    """Names: those of now, as others may come in place of some."""
    started: bool = False
    in_vain: float = 0.0
    """When it was given up."""
    over: bool = False

    @property
    def way(self) -> str:
        return self.record.way

    @property
    def standing(self) -> bool:
        return not (self.started or self.over)


class LiveCluster:
    def __init__(
        self, nodes: Mapping[str, int], seed: int, *, in_turn: bool = True, budget: int = 10
    ) -> None:
        """`in_turn`: who was released first gets a node first; else anybody does. `budget`: pods of
        one queue that end in a minute.
        """
        ledger = a_ledger(a_namespace("team"), lends_what_is_there=True)
        reclaim = {"after": AFTER, "evictionsPerQueue": budget}
        self.stage = ReclaimStage(ledger=ledger, reclaim=reclaim, reservationTimeout=TIMEOUT)
        self.stage.grace, self.stage.script.on_call = GRACE, self._is_asked
        self.dice = random.Random(seed)
        self.plain = PlanCluster({}, {}, {}, {})
        """Its nodes, queues and groups. Its pods are made when they are asked for."""
        self.lends: dict[str, int] = {}
        """Of queues that say it."""
        self.pods: dict[str, LivePod] = {}
        self.plans: list[MadePlan] = []
        self.ended: list[LivePod] = []
        """Those that ended for others."""
        self.lost = 0.0
        """Card-seconds of these."""
        self.whole: set[str] = set()
        """Names of pods that end, as another of their gang does."""
        self.helped = 0
        """Cards of those who had waited for a node, or for quota, and got it: as they are owed it,
        or as a plan was made for them."""
        self.faults: list[AssertionError] = []
        """What is raised in the next turn: a leader that meets an error goes on."""
        self._in_turn = in_turn
        self._order = QueueOrder(ledger)
        self._made = self._released = 0
        for name, cards in nodes.items():
            self.node_comes(name, cards)

    # --- what is there ------------------------------------------------------------------------

    @property
    def now(self) -> float:
        return self.stage.wall()

    def held(self, queue: str = "", *, bound: bool = False) -> int:
        """Cards of those that are released, or have nodes."""
        return sum(
            pod.cards
            for pod in self.pods.values()
            if pod.queue == (queue or pod.queue) and (pod.node if bound else pod.released)
        )

    def cluster(self) -> PlanCluster:
        """Of now."""
        found = replace(self.plain, pods=[])
        for p in filter(lambda one: one.released, self.pods.values()):
            leaving, bound = p.leaves is not None, int(p.bound)
            of = p.queue, p.cards, p.node, p.priority, p.group, bound, leaving, p.preemptable
            found.pods.append(PlanPod(p.name, *of))
        return found

    def without_node(self) -> list[LivePod]:
        """In the order of their release."""
        found = [one for one in self.pods.values() if one.released and not one.node]
        return sorted((p for p in found if p.leaves is None), key=lambda one: one.released)

    # --- what others do -----------------------------------------------------------------------

    def node_comes(self, name: str, cards: int) -> None:
        self.plain.nodes[name] = cards
        self.stage.see(a_node(name).with_cards(H200, cards))

    def node_goes(self, name: str) -> None:
        """And with it its pods, which are made again."""
        del self.plain.nodes[name]
        self.stage.ledger.node_gone(name)
        for pod in [one for one in self.pods.values() if one.node == name]:
            self.again(pod)
            self.goes(pod)

    def queue_says(self, name: str, quota: int, weight: int = 1, **says: int | None) -> None:
        """`owed`: what it is owed; `lends`: how much of what it deserves others may use."""
        plain, queue = self.plain, a_queue(name).with_quota({H200: quota}).weighing(weight)
        plain.quotas[name], plain.weights[name] = quota, weight
        plain.owed.pop(name, None)
        self.lends.pop(name, None)
        if (owed := says.get("owed")) is not None:
            plain.owed[name] = min(quota, owed)
            queue = queue.deserving_cards({H200: owed})
        if (lends := says.get("lends")) is not None:
            self.lends[name] = lends
            queue = queue.lending({H200: lends})
        self.stage.see(queue)

    def group_comes(self, name: str, queue: str, members: int) -> None:
        self.plain.minimums[name] = members
        self.stage.see(a_group(name).in_queue(queue).of(members))

    def make(
        self,
        queue: str,
        cards: int,
        priority: int = 0,
        group: str = "",
        *,
        preemptable: bool = True,
    ) -> None:
        self._made += 1
        name = f"p{self._made:05}"
        self.pods[name] = LivePod(name, queue, cards, priority, group, preemptable)
        body = a_pod(name).naming(H200).asking_for(cards).gated().with_priority(priority)
        body = body.in_group(group) if group else body.in_queue(queue)
        body = body if preemptable else body.annotated(v.PREEMPTABLE, "false")
        self.stage.see(body.created(time_text(int(self.now))))

    def again(self, pod: LivePod) -> None:
        of = pod.queue, pod.cards, pod.priority, pod.group
        self.make(*of, preemptable=pod.preemptable)

    def delete(self, pod: LivePod) -> None:
        if pod.node:
            self._leaves(pod)
            body = self.stage.bodies[pod.name]
            gone_by = time_text(int(self.now) + GRACE)
            self.stage.see(body.put(gone_by, "metadata", "deletionTimestamp"))
        else:
            self.goes(pod)

    def _leaves(self, pod: LivePod) -> None:
        pod.leaves = self.now + GRACE

    def goes(self, pod: LivePod) -> None:
        for plan in self.plans:
            plan.over = plan.over or (plan.standing and plan.key == pod.name)
        del self.pods[pod.name]
        self.stage.goes(pod.name)

    # --- time goes on -------------------------------------------------------------------------

    async def passes(self, seconds: float) -> None:
        for _ in range(round(seconds / TICK)):
            await self.tick()

    async def tick(self) -> None:
        self._take_in_evictions()
        for pod in [p for p in self.pods.values() if p.leaves is not None and p.leaves <= self.now]:
            self.goes(pod)
        self._release()
        self._schedule()
        self.stage.notes.look(self.stage.ledger.unplaced, asyncio.get_running_loop().time())
        await asyncio.sleep(TICK)
        for fault in self.faults:
            raise fault

    def _take_in_evictions(self) -> None:
        """Who was ended is made again."""
        for name in dict.fromkeys(self.stage.evicted):
            pod, body = self.pods.get(name), self.stage.bodies.get(name)
            if pod is None or body is None or pod.leaves is not None:
                continue
            if "deletionTimestamp" in body.body["metadata"]:
                self._leaves(pod)
                self.ended.append(pod)
                self.lost += pod.cards * (self.now - pod.bound) if pod.node else 0
                self.again(pod)
        self.stage.script.calls.clear()

    def _release(self) -> None:
        ledger = self.stage.ledger
        while True:
            self._order.add(ledger.dirty.pending.take())
            while self._order.place_one():
                pass
            queue = self._order.take()
            if queue is None:
                return
            opened = [self.pods[name] for name in self.stage.opens(queue)]
            for pod in opened:
                self._released += 1
                pod.released = self._released
            for pod in opened:
                self._may_be_released(pod)

    def _may_be_released(self, pod: LivePod) -> None:
        """L2: what is owed; beyond that only what is there. L5: while pods end for another nobody
        else is. What is reserved for a gang is not counted here, and passes.
        """
        if pod.group:
            return
        assert self.held(pod.queue) <= self.deserved(pod.queue) or self.is_there(), pod
        standing = [plan for plan in self.plans if plan.standing]
        closing = [plan for plan in standing if plan.way == "reclaim" or plan.queue == pod.queue]
        own = next((plan for plan in standing if plan.key == pod.name), None)
        assert own is not None or not closing, (pod, closing)
        if own is not None and any(plan.way == "reclaim" for plan in closing if plan is not own):
            assert not any(self.pods[name].node for name in own.victims if name in self.pods), own

    def _schedule(self) -> None:
        rooms = self.cluster().free(comes=False)
        waiting = self.without_node()
        if not self._in_turn:
            self.dice.shuffle(waiting)
        for pod in waiting:
            fit = [(room, node) for node, room in rooms.items() if room >= pod.cards]
            body = self.stage.bodies[pod.name]
            assert isinstance(body, PodBody)
            if fit:
                pod.node, pod.bound = min(fit)[1], self.now
                rooms[pod.node] -= pod.cards
                self.stage.see(body.on_node(pod.node, time_text(int(self.now))))
                self._starts(pod)
            elif not pod.sought:
                pod.sought = True
                self.stage.see(unschedulable(body))

    def _starts(self, pod: LivePod) -> None:
        owed = self.held(pod.queue, bound=True) <= self.deserved(pod.queue)
        planned = [one for one in self.plans if one.standing and one.key in (pod.name, pod.group)]
        self.helped += pod.cards if planned or (pod.sought and owed) else 0
        for plan in planned:
            plan.started = not self._lacking(plan.key)

    def _lacking(self, key: str) -> list[LivePod]:
        """The pod, or of a gang those that are missing on nodes for its minimum."""
        if key in self.pods:
            return [one for one in [self.pods[key]] if not one.node]
        members = [one for one in self.pods.values() if one.group == key]
        waiting = [one for one in members if not one.node]
        waiting.sort(key=lambda one: not one.released)
        missing = self.plain.minimums.get(key, 0) - sum(bool(one.node) for one in members)
        return waiting[: max(0, missing)]

    # --- what is asked of the API server ------------------------------------------------------

    def _is_asked(self, call: Call) -> None:
        try:
            self._judge(call)
        except AssertionError as fault:
            self.faults.append(fault)

    def _judge(self, call: Call) -> None:
        if call.path.endswith("/eviction"):
            self._may_end(self.pods[call.path.split("/")[-2]])
        elif call.method == "PATCH":
            text = call.body["metadata"]["annotations"][v.RECLAIM_PLAN]
            self._plan_is_written(call.path.rpartition("/")[2], text and read_plan(text))

    def _plan_is_written(self, key: str, record: PlanRecord | None) -> None:
        before = [one for one in self.plans if one.key == key]
        if record is None or record.gave_up:
            before[-1].over = True
            before[-1].in_vain = record.gave_up if record is not None else 0.0
            return
        victims = frozenset(uid.removeprefix("uid-") for uid in record.victims)
        if before and before[-1].record.since == record.since:
            before[-1].victims = victims
            return
        waiting = self._lacking(key)
        assert waiting
        standing = [one for one in self.plans if one.standing]
        between = [one for one in standing if one.way == "reclaim"]
        own = [one for one in standing if one.queue == waiting[0].queue]
        if record.way == "preempt":
            assert not between
            assert not own, "a second plan for a card inside a queue"
        else:
            there = [self.pods[name] for one in between for name in one.victims & {*self.pods}]
            assert all(one.leaves for one in there), "a second plan before all of the first end"
            assert sum(one in between for one in own) < 3, "a fourth plan of a queue for a card"
        assert all(record.since - one.in_vain >= PAUSE for one in before), "no pause"
        asked = sum(one.cards for one in waiting)
        self.plans.append(MadePlan(key, record, waiting[0].queue, asked, victims))
        self._is_right(self.plans[-1], waiting)

    def _is_right(self, plan: MadePlan, waiting: list[LivePod]) -> None:
        """L3, L4."""
        cluster = self.cluster()
        if plan.record.way == "reclaim":
            has = cluster.bound(plan.queue)
            assert has + plan.asked <= self.deserved(plan.queue), "it is not owed"
            sizes = [one.cards for one in self.without_node()]
            assert not could_start(cluster.free(), sizes), "it needs nobody to end"
            assert cluster.keeps_deserved(plan.victims)
            ends = [self.pods[name] for name in plan.victims]
            if not any([plan.key in self.plain.minimums, *(one.group for one in ends)]):
                sizes = [one.cards for one in ends]
                assert sum(sizes) < plan.asked + max(sizes), "more ends than is needed"
        else:
            least = min(one.priority for one in waiting)
            assert all(self.pods[name].priority < least for name in plan.victims)
            assert {self.pods[name].queue for name in plan.victims} == {plan.queue}
        assert all(self.pods[name].preemptable for name in plan.victims)
        assert cluster.keeps_minimums(plan.victims), "a part of a gang ends"

    def _may_end(self, pod: LivePod) -> None:
        """Now, by the plan that stands."""
        standing = [one for one in self.plans if one.standing and pod.name in one.victims]
        assert len(standing) == 1, (pod, standing)
        assert pod.leaves is None
        (plan,) = standing
        if plan.record.way == "reclaim":
            cluster, deserved = self.cluster(), self.plain.deserved()
            left = cluster.bound(pod.queue, staying=True, without=[pod.name])
            assert left >= deserved[pod.queue], "below what its queue deserves"
            gets = cluster.bound(plan.queue) + sum(one.cards for one in self._lacking(plan.key))
            assert gets <= deserved[plan.queue] or pod.name in self.whole, "it is owed no more"
        gang = {p.name for p in self.pods.values() if p.group and p.group == pod.group}
        if gang <= plan.victims:
            self.whole |= gang

    def deserved(self, queue: str) -> int:
        return self.plain.deserved()[queue]

    def is_there(self) -> bool:
        """Whether no more is held, or kept, than the cluster has; or the card is not lent (L2)."""
        total, deserved = sum(self.plain.nodes.values()), self.plain.deserved()
        kept = {name: max(0, deserved[name] - lends) for name, lends in self.lends.items()}
        if not any(kept.values()) and not 0 < total < sum(self.plain.quotas.values()):
            return True
        return total >= sum(max(self.held(name), kept.get(name, 0)) for name in deserved)

    # --- at last ------------------------------------------------------------------------------

    def all_have_what_is_theirs(self) -> None:
        """Nobody who is owed it has no node while pods of others could end for it, by sets of these
        or by the planner; nobody waits at a gate that may open; no card is closed, and no gang is
        half ended. Who did not start in the room that was made may wait for an hour (L5): where
        nodes went, others that were released may take it, and are not held back.
        """
        paused = {one.key for one in self.plans if self.now - one.in_vain < PAUSE + 2 * TICK}
        ledger = self.stage.ledger
        assert drift(ledger) == {}
        assert ledger.kept_rooms == {}
        assert self.whole.isdisjoint(self.pods)
        assert not any(map(self.stage.opens, self.plain.quotas))
        cluster, deserved = self.cluster(), self.plain.deserved()
        units = cluster.reclaimable()
        for pod in self.without_node():
            if pod.group or pod.name in paused:
                continue
            if cluster.bound(pod.queue) + pod.cards <= deserved[pod.queue]:
                for node in cluster.nodes:
                    assert not gives(cluster, units, node, pod.cards), (pod, node)
        since = dict.fromkeys(ledger.unplaced, 0.0)
        waiting = to_its_end(reclaim_waiters(ledger, since, AFTER, AFTER))
        waiting += to_its_end(preempt_waiters(ledger, time_text(int(self.now) - AFTER)))
        for found in to_its_end(plans(ledger, waiting)):
            assert not isinstance(found, Plan) or found.beneficiary.name in paused, found


def could_start(rooms: Mapping[str, int], sizes: list[int]) -> bool:
    """Whether all of these have room. Of several that are not alike no more than five are tried."""
    if len(set(sizes)) == 1:
        return sum(room // sizes[0] for room in rooms.values()) >= len(sizes)
    return len(sizes) <= 5 and placeable(rooms, sizes)


class _LoggedErrors(logging.Handler):
    def __init__(self, faults: list[AssertionError]) -> None:
        super().__init__(logging.ERROR)
        self._faults = faults

    def emit(self, record: logging.LogRecord) -> None:
        self._faults.append(AssertionError(self.format(record)))


@asynccontextmanager
async def living(*args: Any, **options: Any) -> AsyncIterator[LiveCluster]:
    """Where the leader looks once in each turn."""
    cluster = LiveCluster(*args, **options)
    log, errors = logging.getLogger(reclaimer.__name__), _LoggedErrors(cluster.faults)
    log.addHandler(errors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reclaimer, "EVERY", TICK)
        cluster.stage.reclaimer.begin(TERM)
        try:
            yield cluster
        finally:
            await cluster.stage.reclaimer.end()
            log.removeHandler(errors)
