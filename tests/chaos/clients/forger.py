"""Who would spend the quota of others from a namespace in which nothing is enforced (I3)."""

from . import objects
from .clients import WorkloadClient
from .objects import NOWHERE, QUEUES, A, B

LAX = "chaos-lax"
_PODS = f"/api/v1/namespaces/{LAX}/pods"
_NAMESPACES = "/api/v1/namespaces"
_MODE = "volcano.sh/card-quota"
_GATE = {"name": "volcano.sh/card-quota"}
_MOST = 12
"""Pods at any time. None of them ever gets a node, so none may count."""


class Forger(WorkloadClient):
    """Pods with far more cards than there are, in every queue, with the gate or without; in a
    namespace that is labelled `audit`, then `off`, then `audit` again.
    """

    async def work(self) -> bool:
        if self._dice.random() < 0.1:
            return await self._label(self._dice.choice(("audit", "off")))
        if self._made == 0 and not await self._label("audit"):
            return False
        name, cards = self._new(), self._dice.choice((A, B))
        queue = self._dice.choice(sorted(QUEUES))
        body = objects.pod(name, self.name, queue, cards, 50, where=NOWHERE)
        if self._dice.random() < 0.5:
            body["spec"]["schedulingGates"] = [_GATE]
        reply = await self._api.create(_PODS, body)
        self.tally["charges forged"] += reply.ok
        if self._made > _MOST:
            old = f"{_PODS}/{self.name}-{self._made - _MOST}"
            await self._api.delete(old, now=True)
        return reply.code != 0

    async def _label(self, mode: str) -> bool:
        meta = {"metadata": {"name": LAX, "labels": {_MODE: mode}}}
        await self._api.create(_NAMESPACES, meta)
        return (await self._api.patch(f"{_NAMESPACES}/{LAX}", meta)).ok
