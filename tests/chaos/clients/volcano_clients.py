"""Those whose pods Volcano binds: its Jobs, and a service."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from ..api import Reply
from . import objects
from .clients import GangClient, Scaler
from .objects import URGENT, A, B
from .volcano_objects import COMMANDS, JOBS, MIXED, SINGLE, command, pod_names, volcano_job

_EITHER = f"{A}|{B}"
_SHARED = "gangs"
"""Of other gangs too, over whose elastic pods a Job may be enqueued; its quota changes."""
_QUEUES = (MIXED, MIXED, SINGLE, _SHARED)
_PATIENCE = 25.0
"""Seconds that a Job is waited for."""
_ENDED = ("Completed", "Failed", "Terminated")


class VolcanoJobClient(GangClient):
    """Jobs of one to four pods: they run to their end, are deleted in the middle, lose a pod, are
    aborted and go on, or are left to themselves.
    """

    async def work(self) -> bool:
        self._job, self._pods = self._new(), self._dice.choice((1, 2, 2, 3, 4))
        self._queue = self._dice.choice(_QUEUES)
        whole = self._dice.random() < 0.5
        self._minimum = self._pods if whole else self._dice.randint(1, self._pods)
        fate: Callable[[], Awaitable[None]] = self._dice.choice(
            (self._to_its_end, self._to_its_end, self._deleted, self._loses_a_pod,
             self._loses_a_pod, self._aborted, self._left)
        )  # fmt: skip
        long = fate in (self._loses_a_pod, self._aborted)
        reply = await self._submit(12 if long else self._dice.choice((1, 2, 4)))
        if not reply.ok:
            await asyncio.sleep(0.5)
            return reply.code != 0
        self.tally["Jobs"] += 1
        await fate()
        return True

    async def _submit(self, seconds: int) -> Reply:
        cards = A if self._queue == SINGLE else self._dice.choice((A, A, B, _EITHER))
        body = volcano_job(
            self._job,
            self.name,
            self._queue,
            cards,
            self._pods,
            self._minimum,
            seconds=seconds,
            says=self._dice.random() < 0.5,
            priority=self._dice.choice(("", "", URGENT)),
        )
        return await self.create(body, self._queue, cards, self._minimum, JOBS)

    @property
    def _path(self) -> str:
        return f"{JOBS}/{self._job}"

    # --- what becomes of it -----------------------------------------------------------------------

    async def _to_its_end(self) -> None:
        if await self._until("Jobs given up", self._in_phase("Completed")):
            self.tally["Jobs completed"] += 1
        await self._gone(self._path)

    async def _deleted(self) -> None:
        """Wherever it is by then."""
        await asyncio.sleep(self._dice.uniform(0.3, 6.0))
        await self._gone(self._path)
        self.tally["Jobs deleted in the middle"] += 1

    async def _left(self) -> None:
        """Nobody looks at it any more; it must end by itself."""
        self.tally["Jobs left to themselves"] += 1

    async def _loses_a_pod(self) -> None:
        """Volcano makes another one, which goes before others (E6)."""
        if await self._until("Jobs given up", self._in_phase("Running")):
            name = self._dice.choice(pod_names(self._job, self._pods))
            before = await self._bound_uid(name)
            path = f"{objects.PODS}/{name}"
            if before and (await self._api.delete(path, now=True)).ok:
                self.tally["pods of Jobs killed"] += 1
                await self._replaced(name, before)
        await self._gone(self._path)

    async def _replaced(self, name: str, before: str) -> None:
        async def another() -> bool:
            return await self._bound_uid(name) not in ("", before)

        self.tally["pods of Jobs replaced"] += await self._until("replacements given up", another)

    async def _aborted(self) -> None:
        await asyncio.sleep(self._dice.uniform(0.3, 4.0))
        if await self._order("AbortJob", "Aborted"):
            self.tally["Jobs aborted"] += 1
            await asyncio.sleep(self._dice.uniform(0.0, 2.0))
            if await self._order("ResumeJob", "Running"):
                self.tally["Jobs resumed"] += 1
        await self._gone(self._path)

    async def _order(self, action: str, then: str) -> bool:
        """Tell Volcano what to do with it. Whether it is so in time."""
        job = await self._api.get(self._path)
        if not job.ok or not (await self._api.create(COMMANDS, command(job.body, action))).ok:
            return False
        return await self._until("Jobs given up", self._in_phase(then))

    # --- looking ----------------------------------------------------------------------------------

    def _in_phase(self, wanted: str) -> Callable[[], Awaitable[bool]]:
        async def there() -> bool:
            return wanted == await self._phase()

        return there

    async def _phase(self) -> str:
        status = (await self._api.get(self._path)).status
        return str((status.get("state") or {}).get("phase") or "")

    async def _bound_uid(self, pod: str) -> str:
        """The uid of the pod of that name, if it is there and bound."""
        found = await self._api.get(f"{objects.PODS}/{pod}")
        bound = found.ok and found.body["spec"].get("nodeName")
        return str(found.body["metadata"]["uid"]) if bound else ""

    async def _until(self, given_up: str, condition: Callable[[], Awaitable[bool]]) -> bool:
        """Whether it is so before the patience is over, or the Job. `given_up`: counts if not."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            if await condition():
                return True
            if await self._phase() in _ENDED:
                return False
            await asyncio.sleep(0.4)
        self.tally[given_up] += 1
        return False


class VolcanoService(Scaler):
    """A Deployment that Volcano binds: its pods get their group only after they are made."""

    scheduler = "volcano"
