"""Where the pods are stored: what it answers to a Binding is what an API server would answer, and
sometimes no answer.
"""

import asyncio
from random import Random
from typing import Any

from builders.pod import PodBody
from cardquota.cluster.api import ApiError, OutcomeUnknown
from cardquota.quota import vocabulary as v
from fuzz.product import encoded
from harness.card_memory_count import CardHolder, CardMemoryCount

_CONFLICT = ApiError(409, "Conflict", "the object has been modified")
_DENIED = ApiError(403, "Forbidden", "a policy denied request: as one in so many")
_GONE = ApiError(404, "NotFound", "not found")


class PodsStore:
    """Pods by name. What lands is counted as decided until the watch tells of it."""

    def __init__(self, chance: Random, count: CardMemoryCount) -> None:
        self._chance, self._count = chance, count
        self.pods: dict[str, PodBody] = {}
        self.amounts: dict[str, tuple[int, bool]] = {}
        """By uid: memory, or cards (then True)."""
        self.revision = 100
        self.beyond: list[str] = []
        """Bindings that must not be sent."""
        self.landed = 0

    def put(self, pod: PodBody) -> PodBody:
        """A pod at the next revision."""
        self.revision += 1
        stored = self.pods[pod.name] = pod.at_revision(self.revision)
        return stored

    async def post(self, path: str, body: Any, **_: object) -> bytes:
        """A Binding."""
        name = path.split("/")[-2]
        meta, node = body["metadata"], body["target"]["name"]
        await asyncio.sleep(0)
        pod = self._same(name, meta)
        if node_of(pod):
            raise _CONFLICT
        fate = self._chance.random()
        if fate < 0.08:
            raise _DENIED
        if fate < 0.14:
            raise OutcomeUnknown("lost on its way")
        notes = meta["annotations"]
        self._judge(pod, node, notes)
        for key, text in notes.items():
            pod = pod.annotated(key, text)
        self.put(pod.on_node(node))
        amount, whole = self.amounts[pod.uid]
        self._count.decided[pod.uid] = CardHolder(
            node, notes.get(v.GPU_MEMORY_CARD), amount, whole, notes.get(v.GPU_MEMORY_OF_POD)
        )
        self.landed += 1
        if fate < 0.2:
            raise OutcomeUnknown("the answer was lost")
        return encoded({"kind": "Status", "status": "Success"})

    async def patch(self, path: str, body: Any, **_: object) -> bytes:
        """The settling write."""
        pod = self._same(path.rpartition("/")[2], body["metadata"])
        stored = self.put(pod)
        return encoded({"metadata": stored.body["metadata"]})

    async def get(self, path: str) -> bytes:
        pod = self.pods.get(path.rpartition("/")[2])
        if pod is None:
            raise _GONE
        return encoded(pod.body)

    def _same(self, name: str, named: dict[str, Any]) -> PodBody:
        pod = self.pods.get(name)
        if pod is None:
            raise _GONE
        meta = pod.body["metadata"]
        if any(named.get(key, meta[key]) != meta[key] for key in ("uid", "resourceVersion")):
            raise _CONFLICT
        return pod

    def _judge(self, pod: PodBody, node: str, notes: dict[str, str]) -> None:
        """By a plain count of all that was told, and of what landed."""
        amount, whole = self.amounts[pod.uid]
        if whole:
            if any(one.node == node and not one.whole for one in self._count.holders()):
                self.beyond.append(f"{pod.name} by card to {node}, where pods hold memory")
            return
        index = int(notes.get(v.GPU_MEMORY_CARD, "-1"))
        free = self._count.free(node)
        room = free[index] if 0 <= index < len(free) else -1
        if room < amount or not self._count.takes_memory(node):
            self.beyond.append(f"{pod.name} wants {amount} of card {index} of {node}, {free}")


def node_of(pod: PodBody) -> str:
    """Where it is stored that it runs; empty: nowhere yet."""
    return str(pod.body.get("spec", {}).get("nodeName") or "")
