"""A day of queues whose demand changes, in virtual time: cards go to and fro with demand alone (L3,
L4).

What release, kube-scheduler and the leader do is done here in plain lines: gates open for what
is owed, else only while cards are there; pods get the node with the least room that is enough; one
plan is carried out at a time.
"""

import random
from dataclasses import dataclass, field

import pytest

from builders import H200, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota.ledger import Ledger
from cardquota.quota.reclaim import Plan, plans, reclaim_waiters

from .reclaiming import unschedulable

TICK, HOUR = 30, 3_600
DAY = 24 * HOUR
NODES, CARDS = 10, 8
TOTAL = NODES * CARDS
AFTER = 60.0
GRACE = 30
PATIENCE = 600
"""Seconds until a plan that did not help is forgotten."""


@dataclass
class DayJob:
    """A pod, and the next one of its kind if it is ended."""

    name: str
    queue: str
    cards: int
    node: str = ""
    released: int = -1
    bound: int = -1
    ends: int = -1
    """When it is gone."""


@dataclass
class Day:
    ledger: Ledger
    queues: list[str]
    chance: random.Random
    sizes: tuple[int, ...]
    now: int = 0
    jobs: dict[str, DayJob] = field(default_factory=dict)
    wanted: dict[str, int] = field(default_factory=dict)
    """By queue: how many cards its jobs are to have together."""
    since: dict[str, float] = field(default_factory=dict)
    course: tuple[str, int] | None = None
    """For whom a plan is carried out, and since when."""
    made: int = 0
    evicted: list[int] = field(default_factory=list)
    """Cards, by each pod that ended."""
    evicted_at: list[int] = field(default_factory=list)
    lost: int = 0
    """Card-seconds of pods that ended."""
    grown: int = 0
    """Cards by which what queues are owed has grown."""

    @property
    def share(self) -> int:
        return TOTAL // len(self.queues)

    def held(self, queue: str = "", *, bound: bool = False) -> int:
        return sum(
            job.cards
            for job in self.jobs.values()
            if (job.bound if bound else job.released) >= 0 and queue in ("", job.queue)
        )

    def owed(self, queue: str) -> int:
        return min(self.share, self.wanted.get(queue, 0))

    # --- what happens -------------------------------------------------------------------------

    def demand(self, queue: str, cards: int) -> None:
        """From now on it wants so many."""
        before = self.owed(queue)
        self.wanted[queue] = cards
        self.grown += max(0, self.owed(queue) - before)
        mine = [job for job in self.jobs.values() if job.queue == queue and job.ends < 0]
        asked = sum(job.cards for job in mine)
        for job in sorted(mine, key=lambda job: job.name, reverse=True):
            if asked <= cards:
                break
            asked -= job.cards
            self.end(job)
        while asked < cards:
            size = min(self.chance.choice(self.sizes), cards - asked)
            self.make(queue, size)
            asked += size

    def make(self, queue: str, cards: int) -> None:
        self.made += 1
        job = DayJob(f"j{self.made:05}", queue, cards)
        self.jobs[job.name] = job

    def end(self, job: DayJob) -> None:
        if job.released < 0:
            del self.jobs[job.name]
            return
        job.ends = self.now + GRACE
        self.show(job)

    def tick(self) -> None:
        for job in [job for job in self.jobs.values() if 0 <= job.ends <= self.now]:
            del self.jobs[job.name]
            self.ledger.pod_gone(f"uid-{job.name}")
        self.release()
        self.place()
        self.reclaim()
        self.now += TICK

    def release(self) -> None:
        """What is owed at once; else only what is there, and nobody while room is made."""
        for job in sorted(self.jobs.values(), key=lambda job: job.name):
            if job.released >= 0 or job.ends >= 0:
                continue
            owed = self.held(job.queue) + job.cards <= self.share
            there = self.course is None and self.held() + job.cards <= TOTAL
            if owed or there:
                job.released = self.now
                self.show(job)

    def place(self) -> None:
        rooms = {f"n{n}": CARDS for n in range(NODES)}
        for job in self.jobs.values():
            if job.node:
                rooms[job.node] -= job.cards
        waiting = [job for job in self.jobs.values() if job.released >= 0 and not job.node]
        for job in sorted(waiting, key=lambda job: (job.released, job.name)):
            fit = [(room, node) for node, room in rooms.items() if room >= job.cards]
            if job.ends < 0 and fit:
                job.node, job.bound = min(fit)[1], self.now
                rooms[job.node] -= job.cards
                self.show(job)
            else:
                self.show(job)

    def reclaim(self) -> None:
        if self.course is not None:
            job = self.jobs.get(self.course[0])
            if job is None or job.node or self.now - self.course[1] > PATIENCE:
                self.course = None
        for uid in self.ledger.unplaced:
            self.since.setdefault(uid, self.now)
        if self.course is not None or not self.ledger.unplaced:
            return
        found = to_its_end(reclaim_waiters(self.ledger, self.since, self.now, AFTER))
        results = to_its_end(plans(self.ledger, found))
        plan = next((one for one in results if isinstance(one, Plan)), None)
        if plan is None:
            return
        self.course = plan.beneficiary.name, self.now
        for victim in plan.victims:
            job = self.jobs[victim.name]
            self.evicted.append(job.cards)
            self.evicted_at.append(self.now)
            self.lost += job.cards * (self.now - job.bound)
            self.end(job)
            self.make(job.queue, job.cards)  # its controller makes another

    def show(self, job: DayJob) -> None:
        """As a watch tells it."""
        pod = a_pod(job.name).in_queue(job.queue).naming(H200).asking_for(job.cards)
        pod = pod.stamped(job.queue, {H200: job.cards}).at_revision(self.now // TICK + 2)
        pod = self._on_its_node(pod, job) if job.node else unschedulable(pod)
        see(self.ledger, pod.terminating() if job.ends >= 0 else pod)

    def _on_its_node(self, pod: PodBody, job: DayJob) -> PodBody:
        hours, rest = divmod(job.bound, HOUR)
        at = f"2026-01-0{1 + hours // 24}T{hours % 24:02}:{rest // 60:02}:{rest % 60:02}Z"
        return pod.on_node(job.node, at)


def a_day(queues: int, seed: int, sizes: tuple[int, ...], changes: int) -> Day:
    ledger = a_ledger(a_namespace("team"))
    names = [f"q{n}" for n in range(queues)]
    see(ledger, *(a_node(f"n{n}").with_cards(H200, CARDS) for n in range(NODES)))
    see(ledger, *(a_queue(name).with_quota({H200: TOTAL}) for name in names))
    day = Day(ledger, names, random.Random(seed), sizes)
    chance = random.Random(seed)
    moments = sorted(chance.sample(range(0, DAY - 4 * HOUR, TICK), changes * queues))
    due = {moment: names[number % queues] for number, moment in enumerate(moments)}
    for name in names:
        day.demand(name, chance.choice((0, day.share // 2, TOTAL)))
    while day.now < DAY:
        if day.now in due:
            name = due[day.now]
            day.demand(name, chance.choice((0, day.share // 2, day.share, 2 * day.share)))
        day.tick()
    return day


@pytest.mark.slow
@pytest.mark.parametrize(
    ("queues", "seed", "sizes"),
    [(2, 1, (1,)), (2, 2, (1, 2, 4)), (10, 3, (1,)), (10, 4, (1, 2, 4))],
)
def test_l4_cards_go_to_and_fro_with_demand_alone(
    queues: int, seed: int, sizes: tuple[int, ...]
) -> None:
    day = a_day(queues, seed, sizes, changes=6 if queues == 2 else 3)
    print(  # noqa: T201
        f"{queues} queues: {len(day.evicted)} pods of {sum(day.evicted)} cards ended, owed grew by "
        f"{day.grown}, {day.lost / HOUR:.0f} card-hours were lost of {TOTAL * 24}"
    )
    assert day.evicted
    # No ping-pong: nothing ends twice for one card that is owed, but for what a pod's size forces.
    forced = (max(sizes) - 1) * len(day.evicted)
    assert sum(day.evicted) <= day.grown + forced
    assert day.lost < TOTAL * DAY
    # Four hours after the last change nobody who is owed waits, and nobody ends any more.
    assert max(day.evicted_at) < DAY - HOUR
    for queue in day.queues:
        assert day.held(queue, bound=True) >= day.owed(queue) - (max(sizes) - 1)
