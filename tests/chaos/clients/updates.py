"""Deployments that are updated on a full queue, and workloads that sleep since a refusal."""

import asyncio
import time

from ..api import Api
from . import objects
from .clients import ServingClient, WorkloadClient
from .objects import A, B

UPDATED, SLEEPING = "roll", "sleep"
_HOLDS = "-holds-"
_PATIENCE = 20.0
"""Seconds that an update is waited for."""


class Updater(WorkloadClient):
    """A Deployment that gets another template again and again, sometimes with more or fewer pods. A
    new pod comes before an old one goes, on what the queue lends.
    """

    async def work(self) -> bool:
        if not self._made:
            body = objects.deployment(self.name, UPDATED, A, replicas=3, surge=True)
            made = await self._api.create(objects.DEPLOYMENTS, body)
            self._made = int(made.ok or made.code == 409)
            return bool(self._made)
        self._made += 1
        more = {"replicas": self._dice.choice((2, 3, 3, 4))} if self._dice.random() < 0.3 else {}
        change = objects.another_template(f"version-{self._made}")
        change["spec"] |= more
        path = f"{objects.DEPLOYMENTS}/{self.name}"
        reply = await self._api.patch(path, change)
        self.tally["updates begun"] += reply.ok
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            found = await self._api.get(path)
            status = found.status
            if found.ok and (
                status.get("updatedReplicas")
                == status.get("replicas")
                == status.get("readyReplicas")
            ):
                self.tally["updates that ended"] += 1
                break
            await asyncio.sleep(0.5)
        return reply.code != 0


class Visitor(ServingClient):
    """Pods of nobody beside them, for which nothing is lent."""

    most = 2
    queue = UPDATED
    cards = (A,)


class SleepingSets(WorkloadClient):
    """Two ReplicaSets, refused while somebody else holds the quota: of the one until all is over,
    of the other now and then.
    """

    async def work(self) -> bool:
        if not self._made:
            self._made = 1
            for card, name in ((A, "long"), (B, "short")):
                await self._until_held(name, card)
                body = objects.replica_set(f"{self.name}-{name}", SLEEPING, card)
                await self._api.create(objects.REPLICA_SETS, body)
        await asyncio.sleep(self._dice.uniform(3.0, 25.0))
        await self._api.delete(f"{objects.PODS}/{holder(self.name, 'short')}", now=True)
        self.tally["sleepers that may wake"] += 1
        await asyncio.sleep(self._dice.uniform(1.0, 8.0))
        await self._scale(0)
        await self._until_held("short", B)
        await self._scale(1)
        return True

    async def _scale(self, replicas: int) -> None:
        path = f"{objects.REPLICA_SETS}/{self.name}-short"
        await self._api.patch(path, {"spec": {"replicas": replicas}})

    async def _until_held(self, name: str, card: str) -> None:
        """Somebody else holds what it asks for."""
        body = objects.pod(holder(self.name, name), self.name, SLEEPING, card, 1)
        while (await self.create(body, SLEEPING, card, 1)).code not in (201, 409):
            await asyncio.sleep(0.5)


def holder(client: str, name: str) -> str:
    return f"{client}{_HOLDS}{name}"


async def wake_the_sleepers(api: Api) -> None:
    """What they wait for is free now."""
    pods = await api.get(objects.PODS)
    for pod in pods.body.get("items", ()):
        name = pod["metadata"]["name"]
        if _HOLDS in name:
            await api.delete(f"{objects.PODS}/{name}", now=True)
