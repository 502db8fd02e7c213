"""A leader's reclaimer over a real ledger, and an API server that stores what it writes."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from builders import H200, Body, a_pod, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.cluster.api import ApiError, OutcomeUnknown
from cardquota.cluster.writes import FencedWriter
from cardquota.control.reclaim import Reclaimer
from cardquota.metrics import Metrics
from cardquota.quota import time_text
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.plan_record import PlanRecord, read_plan
from cardquota.quota.reclaim import ReclaimNotes
from cardquota.settings import Settings
from harness.open_fence import OpenFence
from unit.quota.releasing import release

from ..fakes import TERM, Answer, Call, Script, Told, a_world, a_writer, refused, stored

NOW = 1_800_000_000
"""Seconds since 1970 when the loop's clock is at 0."""
BUDGET = b'{"details": {"causes": [{"reason": "DisruptionBudget"}]}}'
BOTH = {"red": a_queue("red").with_quota({H200: 8}), "blue": a_queue("blue").with_quota({H200: 8})}
"""Two queues that share eight cards: each deserves four."""


def no_disruption() -> ApiError:
    """A PodDisruptionBudget keeps it."""
    return ApiError(
        429, "TooManyRequests", "would violate the pod's disruption budget", body=BUDGET
    )


def a_card(name: str, queue: str = "red", cards: int = 1) -> PodBody:
    return a_pod(name).in_queue(queue).naming(H200).asking_for(cards)


def runs(name: str, queue: str = "red", cards: int = 1, at: int = 0) -> PodBody:
    pod = a_card(name, queue, cards).stamped(queue, {H200: cards})
    return pod.on_node("h200-a", f"2026-01-01T01:00:{at:02d}Z")


def unplaced(name: str, queue: str = "blue", cards: int = 1) -> PodBody:
    """Released, and no node has room."""
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    pod = a_card(name, queue, cards).stamped(queue, {H200: cards})
    return pod.put([said], "status", "conditions")


def full(number: int = 8) -> list[PodBody]:
    """Red holds all cards. The last one came last."""
    return [runs(f"r{n}", at=n) for n in range(number)]


class ReclaimStage:
    """What the API server has, and one leader after the other."""

    def __init__(
        self,
        *things: Body,
        ledger: Ledger | None = None,
        reclaim: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        """`ledger`: another one than of the two queues."""
        self.ledger = a_world(*BOTH.values()) if ledger is None else ledger
        self.bodies: dict[str, PodBody | GroupBody] = {}
        """By the last part of its path."""
        self._revision = 10
        self.see(*things)
        self.script = Script()
        self.script.answer_to = self._answer
        self.script.would_answer = self._would
        self.refuses: dict[str, Callable[[], Exception]] = {}
        """By name of a pod: why its eviction is refused."""
        self.refuses_late: set[str] = set()
        """Those of which a dry run says nothing."""
        self.lost: set[str] = set()
        """Names of pods whose eviction is done, and not answered."""
        self.silent: set[str] = set()
        """Those of which the watch does not tell that they end."""
        self.budgets: list[dict[str, Any]] = []
        """PodDisruptionBudgets of the namespace, as far as they are read."""
        self.budgets_read = 0
        self.term = TERM
        self.grace = 30
        self.told = Told()
        self.metrics = Metrics()
        self.fence = OpenFence()
        self.notes = ReclaimNotes()
        self.unsure = False
        self.changes = 0
        chosen = {"mode": "on", "after": 60, **(reclaim or {})}
        self.settings = Settings(**{"reclaim": chosen, "reservationTimeout": 300, **settings})
        self.reclaimer = self.a_reclaimer()

    def a_reclaimer(self) -> Reclaimer:
        def writer() -> FencedWriter:
            return a_writer(self.script, guard=self.fence)

        return Reclaimer(
            self.ledger,
            writer,
            self.told,
            self.metrics,
            self.settings,
            self.notes,
            unsure=lambda: self.unsure,
            changed=self._changed,
            clock=asyncio.get_running_loop().time,
            wall_clock=self.wall,
        )

    def _changed(self) -> None:
        self.changes += 1

    @staticmethod
    def wall() -> float:
        return NOW + asyncio.get_running_loop().time()

    # --- what the API server has

    def see(self, *things: Body) -> None:
        """Written by somebody: the watch brings it."""
        for thing in things:
            self._revision += 1
            newest = thing.at_revision(self._revision)
            if isinstance(newest, PodBody | GroupBody):
                self.bodies[newest.name] = newest
            see(self.ledger, newest)

    def goes(self, *names: str) -> None:
        for name in names:
            self.ledger.pod_gone(self.bodies.pop(name).uid)

    def opens(self, queue: str = "red") -> list[str]:
        """Judge who waits at the gate; what goes has no node yet."""
        opened = [name for some in release(self.ledger, queue)[0] for name in some]
        for name in opened:
            pod = self.bodies[name]
            assert isinstance(pod, PodBody)
            stamp = self.ledger.pods[pod.uid].assumed
            assert stamp is not None
            self.see(pod.ungated().stamped(queue, dict(stamp.cards)))
        return opened

    def plan_of(self, name: str) -> PlanRecord | None:
        notes = self.bodies[name].body["metadata"].get("annotations") or {}
        text = notes.get(v.RECLAIM_PLAN)
        return read_plan(text) if text is not None else None

    def victims(self, name: str) -> list[str]:
        plan = self.plan_of(name)
        return sorted(uid.removeprefix("uid-") for uid in plan.victims) if plan else []

    def _answer(self, call: Call) -> Answer:
        if call.method == "GET":
            return self._read(call.path)
        if call.path.endswith("/eviction"):
            return self._evict(call)
        name = call.path.rpartition("/")[2]
        body, wanted = self.bodies.get(name), call.body["metadata"]
        if body is None or wanted["uid"] != body.uid:
            return refused(404)
        if wanted["resourceVersion"] != body.body["metadata"]["resourceVersion"]:
            return refused(409)
        for key, value in wanted["annotations"].items():
            body = body.annotated(key, value)
        for key, value in wanted.get("labels", {}).items():
            body = body.labelled(key, value)
        self.see(body)
        return stored(self._revision)

    def _read(self, path: str) -> Answer:
        if "/poddisruptionbudgets" in path:
            self.budgets_read += 1
            return json.dumps({"metadata": {}, "items": self.budgets}).encode()
        found = self.bodies.get(path.rpartition("/")[2])
        return json.dumps(found.body).encode() if found is not None else refused(404)

    def _evict(self, call: Call) -> Answer:
        name = call.path.split("/")[-2]
        body = self.bodies.get(name)
        if body is None:
            return refused(404)
        assert call.body["metadata"]["annotations"] == {v.TERM: self.term}
        assert call.body["deleteOptions"]["preconditions"]["uid"] == body.uid
        if name in self.refuses:
            return self.refuses[name]()
        if name in self.silent:
            return b"{}"
        gone_by = time_text(int(self.wall()) + self.grace)
        self.see(body.put(gone_by, "metadata", "deletionTimestamp"))
        return OutcomeUnknown("no answer") if name in self.lost else b"{}"

    def _would(self, call: Call) -> Answer:
        name = call.path.split("/")[-2]
        if name in self.refuses and name not in self.refuses_late:
            return self.refuses[name]()
        return b"{}"

    async def look(self) -> None:
        """As each replica does."""
        while True:
            self.notes.look(self.ledger.unplaced, asyncio.get_running_loop().time())
            await asyncio.sleep(1)

    # --- what was done

    @property
    def kept(self) -> set[str]:
        """Cards that are not released to everybody."""
        return {card for room in self.ledger.kept_rooms.values() for card in room.cards}

    @property
    def evicted(self) -> list[str]:
        """Names of pods that were asked to end, in order."""
        return [
            call.path.split("/")[-2]
            for call in self.script.calls
            if call.path.endswith("/eviction")
        ]

    def tells(self, name: str) -> list[str]:
        return [reason for who, reason, _ in self.told.events if who == name]

    def text(self, name: str, reason: str) -> str:
        (found,) = [text for who, why, text in self.told.events if (who, why) == (name, reason)]
        return found

    def counted(self, metric: str, **labels: str) -> float:
        name = f"cardquota_reclaim_{metric}_total"
        return self.metrics.registry.get_sample_value(name, labels) or 0.0

    async def fail_over(self) -> None:
        """Another leader, of the next term."""
        await self.reclaimer.end()
        self.reclaimer = self.a_reclaimer()
        self.term += "1"
        self.reclaimer.begin(self.term)


@asynccontextmanager
async def reclaiming(*things: Body, **settings: Any) -> AsyncIterator[ReclaimStage]:
    stage = ReclaimStage(*things, **settings)
    looks = asyncio.create_task(stage.look())
    stage.reclaimer.begin(TERM)
    try:
        yield stage
    finally:
        looks.cancel()
        await stage.reclaimer.end()
        assert stage.ledger.kept_rooms == {}
