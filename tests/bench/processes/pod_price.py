"""What the API server pays for a pod, step by step of its life: processor time, milliseconds.

The steps are taken one after the other for all pods of a slice, so that each can be told from the
others: create, open the gate, bind, write the status as a kubelet does, delete. No scheduler and no
node agent has a part in it: the pods are left to nobody, and are bound to a node that is not there,
which the API server does not mind. Pods are garbage 40 s after their node was first missed; so each
slice has a node of its own, and is deleted long before. Reads, watches and etcd's writes that
belong to a step are in its figure.
"""

import asyncio
import re
from collections.abc import Awaitable, Collection
from time import monotonic
from typing import Any, Final, NamedTuple

from cardquota.quota import QUOTA
from cardquota_dev.testing import Cluster
from integration.roomy_nodes import T1000
from integration.team import QUEUES, Team

from ..bodies.pod_bodies import plain, queued, without_cards
from .child import processor_time
from .crowd import MERGE, Crowd, call

SLICE: Final = 200
"""Pods of one figure."""
_AT_A_TIME: Final = 8
_LOOK: Final = 0.2
"""Seconds."""
_IDLE: Final = 0.1
"""The part of one processor that the API server takes at most when nothing is to be done."""
_QUIET: Final = 3
"""Looks, one after the other, that find it idle."""
_PATIENCE: Final = 60.0
"""Seconds."""
_SCHEDULER: Final = {"schedulerName": "nobody"}
_STATUS: Final = "application/strategic-merge-patch+json"


class StepPrices(NamedTuple):
    """Milliseconds of a processor for one pod, in the API server."""

    create: float
    gate: float
    """From raised quota to the last open gate. Next to nothing where there is none."""
    bind: float
    status: float
    """Two writes: it has started, it is ready."""
    delete: float
    rest: float
    """Between the steps, until nothing is to be done: events, and what the queue's status says."""


class PricedPlane:
    """One plane whose API server is measured."""

    def __init__(self, cluster: Cluster, crowd: Crowd) -> None:
        self.cluster, self.crowd = cluster, crowd
        self._pid = cluster.state.process("kube-apiserver").pid
        self._pids = [process.pid for process in cluster.state.processes]

    def paid(self, pods: int = SLICE) -> float:
        """Milliseconds of processor time of the API server so far, for each of so many pods."""
        return processor_time([self._pid]) * 1e3 / pods

    def all_paid(self, pods: int = SLICE) -> float:
        """The same of all processes of the plane; the product's too."""
        return processor_time(self._pids) * 1e3 / pods

    def allocated(self, pods: int = SLICE) -> float:
        """KiB that the API server has allocated so far, for each of so many pods. To tell it costs
        the API server some MiB itself.
        """
        text = self.cluster.kubectl("get", "--raw", "/metrics").stdout
        found = re.search(r"^go_memstats_alloc_bytes_total (\S+)$", text, flags=re.MULTILINE)
        if found is None:
            raise RuntimeError("the API server does not say how much it has allocated")
        return float(found[1]) / 1024 / pods

    async def steps(
        self, name: str, labels: dict[str, str], *, of_cards: bool, managed: bool
    ) -> StepPrices:
        """The life of a slice of pods in a new namespace of that name: whether they ask for cards,
        and whether we are there to gate them.
        """
        crowd, pods = self.crowd, await self.crowd.make_namespace(name, labels)
        queue = ""
        if managed:
            team = Team(self.cluster, name, name)
            queue = team.has_queue(team.a_queue({T1000: SLICE}).with_policy("Gate"))
            await self._fill(pods, queue)
        names = [f"p{number}" for number in range(SLICE)]
        prices, rest = dict[str, float](), 0.0

        async with crowd.watching(pods) as watch:

            async def step(what: str, work: Awaitable[object], seen: Collection[str]) -> None:
                nonlocal rest
                before = self.paid()
                await work
                await watch.until(lambda: len(seen) == SLICE, what)
                prices[what] = self.paid() - before
                rest += await self._settled()

            created = self._all(
                "POST", [(pods, _body(one, queue, of_cards=of_cards)) for one in names]
            )
            await step("create", created, watch.gated if managed else watch.opened)
            await step("gate", self._raise(queue), watch.opened)
            bindings = [(f"{pods}/{one}/binding", _binding(one, f"gone-{name}")) for one in names]
            await step("bind", self._all("POST", bindings), watch.bound)
            await step("status", self._statuses(pods, names), watch.running)
            grace = {"gracePeriodSeconds": 0}
            deletes = [(f"{pods}/{one}", grace) for one in names]
            await step("delete", self._all("DELETE", deletes), watch.deleted)
        return StepPrices(**prices, rest=rest)

    async def _raise(self, queue: str) -> None:
        if queue:
            quota = {"metadata": {"annotations": {QUOTA: f'{{"{T1000}": {2 * SLICE}}}'}}}
            await self.crowd.send(call("PATCH", f"{QUEUES}/{queue}", quota, MERGE))

    async def _statuses(self, pods: str, names: list[str]) -> None:
        for ready in (False, True):
            status = _status(ready=ready)
            await self._all("PATCH", [(f"{pods}/{one}/status", status) for one in names], _STATUS)

    async def _settled(self) -> float:
        """Return once the API server has next to nothing to do: what that cost for each pod."""
        before, quiet, deadline = self.paid(), 0, monotonic() + _PATIENCE
        while quiet < _QUIET:
            begun = self.paid()
            await asyncio.sleep(_LOOK)
            quiet = quiet + 1 if (self.paid() - begun) * SLICE < _IDLE * _LOOK * 1e3 else 0
            if monotonic() > deadline:
                raise RuntimeError(f"the API server is never idle within {_PATIENCE:.0f} s")
        return self.paid() - before

    async def _fill(self, pods: str, queue: str) -> None:
        """One pod has all that the queue may have: so the others wait."""
        pod = _body("first", queue, of_cards=True)
        pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = str(SLICE)
        async with self.crowd.watching(pods) as watch:
            await self.crowd.send(call("POST", pods, pod))
            await watch.until(lambda: "first" in watch.opened, "the queue is full")

    async def _all(
        self, method: str, wanted: list[tuple[str, Any]], content_type: str = "application/json"
    ) -> None:
        calls = [call(method, path, body, content_type) for path, body in wanted]
        await self.crowd.send_all(calls, _AT_A_TIME)


def _body(name: str, queue: str, *, of_cards: bool) -> dict[str, Any]:
    pod = queued(name, queue) if queue else plain(name) if of_cards else without_cards(name)
    return {**pod, "spec": {**pod["spec"], **_SCHEDULER}}


def _binding(name: str, node: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }


def _status(*, ready: bool) -> dict[str, Any]:
    """The patch of a kubelet: conditions, and the state of the container."""
    when = f"2026-01-01T00:00:{int(monotonic()) % 60:02d}Z"
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    conditions = [
        {"type": kind, "status": str(ready or kind == "PodScheduled"), "lastTransitionTime": when}
        for kind in kinds
    ]
    state = {"running": {"startedAt": when}} if ready else {"waiting": {"reason": "Creating"}}
    container = {
        "name": "main",
        "image": "i",
        "imageID": "i",
        "ready": ready,
        "restartCount": 0,
        "state": state,
    }
    phase = "Running" if ready else "Pending"
    return {"status": {"phase": phase, "conditions": conditions, "containerStatuses": [container]}}
