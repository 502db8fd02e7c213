"""The extender on a real API server: pods through a real kube-scheduler, and binds by our leader.

On one plane with one replica. Bounds are on ratios within the run; rates alone say little about
another machine. The pods are alike, and ask for a part of a card. Processor time is that of all
processes of the plane and the product, until the pods run: what the node agent writes for them is
the same for all, wherever it falls.

First pods per second through a real kube-scheduler that asks us, against one as it comes. The one
has the configuration that the product prints, the other none but the plane's: both have the same
binary and client QPS. All pods exist before their scheduler starts, and it ends before the next one
starts: so one works at a time. A rate is of the time from the first pod that a watch shows bound to
the last; what a scheduler does before, as reading the cluster, is not in it. The product runs and
follows the pods all the while. On few cores the second rate says more: to the last pod that runs.
The slower pods are bound, the more of the node agent's writes for them fall into the time of the
first rate, though they are as many.

Then binds per second by our leader, against plain Bindings. The pods wait without a scheduler. A
call of ours is kube-scheduler's: over TLS, by its client certificate; the leader chooses the card,
charges it and posts the Binding. So a bind has two ways over TLS, and the plain Binding one. Plain
ones are posted by kube-scheduler's own user, as they are where there is no extender. As many
callers at once, by turns.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from cardquota_dev.testing import Cluster, running_plane

from ..figure import Figure, Report, median
from ..processes.card_nodes import add_nodes, card_node, memory_pod, node_name
from ..processes.child import Child, processor_time
from ..processes.crowd import Crowd, EncodedRequest, call
from ..processes.extender_client import ExtenderClient

_NODES: Final = 100
_MEMORY: Final = 1024
"""MiB that each pod asks for."""
_AT_A_TIME: Final = 16
_PODS: Final = 600
_ROUNDS: Final = 3
_PATIENCE: Final = 300.0
"""Seconds for all pods of a round."""
_WITH: Final = "with-extender"
_WITHOUT: Final = "without-extender"
_OF_THE_PLANE: Final = ("clientConnection", "leaderElection")
_NOBODY: Final = "nobody"
"""The scheduler of pods that we bind ourselves."""
_BIND_ROUNDS: Final = 6
_SLICE: Final = 250
_OURS: Final = "binds by our leader"
_THEIRS: Final = "plain Bindings by kube-scheduler's user"
_VARIANTS: Final = (_OURS, _THEIRS)


def run(report: Report) -> None:
    """Report rates, and ratios within the run."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = folder / "node.json"
        first.write_text(json.dumps(card_node(0)))
        config = folder / "config.yaml"
        config.write_text("extender: {memoryNeedsQuota: false}\n")
        plane = folder / "plane"
        with running_plane(plane, nodes=(first,), extender=True, config=config) as cluster:
            asyncio.run(_measure(cluster, report))
    report(Figure("load average after", os.getloadavg()[0], ""))


async def _measure(cluster: Cluster, report: Report) -> None:
    assert cluster.folder is not None
    theirs = cluster.folder.private / "kubeconfig-kube-scheduler"
    async with (
        Crowd(cluster) as crowd,
        Crowd(cluster, kubeconfig=theirs) as scheduler,
        ExtenderClient(cluster) as extender,
    ):
        await add_nodes(crowd, 1, _NODES)
        scheduled = _ScheduledRates(cluster, crowd, extender)
        _tell_scheduled([await scheduled.one_round(n) for n in range(_ROUNDS)], report)
        bound = _BindRates(cluster, crowd, scheduler, extender)
        _tell_bound([await bound.one_round(n) for n in range(_BIND_ROUNDS)], report)


class _Scheduled(NamedTuple):
    """What pods of one scheduler took."""

    rate: float
    """Pods bound per second."""
    started: float
    """Pods per second, until all run."""
    cost: float
    """Milliseconds of a processor for one pod, of all processes of the plane, the product and this
    scheduler, from its start until all run."""


class _ScheduledRates:
    """One plane whose own kube-scheduler has nothing to do."""

    def __init__(self, cluster: Cluster, crowd: Crowd, extender: ExtenderClient) -> None:
        assert cluster.folder is not None
        self._folder = cluster.folder.path
        self._pids = [process.pid for process in cluster.state.processes]
        self._binary = Path(cluster.state.bin_dir) / "kube-scheduler"
        printed = json.loads((cluster.folder.private / "scheduler.json").read_text())
        self._printed: dict[str, Any] = printed
        self._crowd, self._extender = crowd, extender

    async def one_round(self, number: int) -> dict[str, _Scheduled]:
        """By scheduler."""
        order = (_WITH, _WITHOUT) if number % 2 == 0 else (_WITHOUT, _WITH)
        return {name: await self._one(name, number) for name in order}

    async def _one(self, scheduler: str, number: int) -> _Scheduled:
        crowd = self._crowd
        pods = await crowd.make_namespace(f"{scheduler}-{number}", {})
        bodies = (memory_pod(f"p{i}", _MEMORY, scheduler) for i in range(_PODS))
        await crowd.send_all([call("POST", pods, body) for body in bodies], _AT_A_TIME)
        await self._extender.until_known(_NODES, pending=_PODS)
        async with crowd.watching(pods, patience=_PATIENCE) as watch:
            begun = processor_time(self._pids)
            with self._running(scheduler) as child:
                await watch.until(lambda: len(watch.bound) == _PODS, "all bound")
                scheduler_used = child.cpu()
            await watch.until(lambda: len(watch.running) == _PODS, "all running")
            used = processor_time(self._pids) - begun + scheduler_used
            first, last = min(watch.bound.values()), max(watch.bound.values())
            run = max(watch.running.values())
        await crowd.clear(pods)
        await self._extender.until_known(_NODES, pending=0)
        return _Scheduled(
            (_PODS - 1) / (last - first),
            (_PODS - 1) / (run - first),
            used / _PODS * 1e3,
        )

    def _running(self, name: str) -> Child:
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps(_configuration(self._printed, name)))
        command = [str(self._binary), f"--config={file}", "--secure-port=0"]
        return Child(command, self._folder / f"{name}.log")


def _configuration(printed: Mapping[str, Any], name: str) -> dict[str, Any]:
    if name == _WITHOUT:
        kept = {key: printed[key] for key in ("apiVersion", "kind", *_OF_THE_PLANE)}
        return {**kept, "profiles": [{"schedulerName": name}]}
    (profile,) = printed["profiles"]
    return {**printed, "profiles": [{**profile, "schedulerName": name}]}


def _tell_scheduled(found: list[dict[str, _Scheduled]], report: Report) -> None:
    what = f"{_PODS:,} pods through kube-scheduler, {_NODES:,} nodes"
    for name, said in ((_WITH, "with the extender"), (_WITHOUT, "without")):
        report(median(f"{what}: {said}", [one[name].rate for one in found], "/s"))
        rates = [one[name].started for one in found]
        report(median(f"{what}: until they run, {said}", rates, "/s"))
        costs = [one[name].cost for one in found]
        report(median(f"{what}: processor time of a pod, {said}", costs, "ms"))
    ratios = [one[_WITH].rate / one[_WITHOUT].rate for one in found]
    report(median(f"{what}: rate with against without", ratios, "", 0.7, "at least"))
    ratios = [one[_WITH].started / one[_WITHOUT].started for one in found]
    report(median(f"{what}: until they run, with against without", ratios, ""))
    ratios = [one[_WITHOUT].cost / one[_WITH].cost for one in found]
    report(median(f"{what}: processor time without against with", ratios, ""))


class _Bound(NamedTuple):
    """What pods of one variant took."""

    rate: float
    """Pods bound per second."""
    cost: float
    """Milliseconds of a processor for one pod."""


class _BindRates:
    """One plane with nothing else to bind."""

    def __init__(
        self, cluster: Cluster, admin: Crowd, scheduler: Crowd, extender: ExtenderClient
    ) -> None:
        self._admin, self._extender = admin, extender
        self._pids = [process.pid for process in cluster.state.processes]
        self._scheduler = scheduler

    async def one_round(self, number: int) -> dict[str, _Bound]:
        """By variant."""
        pods = await self._admin.make_namespace(f"binds-{number}", {})
        order = _VARIANTS if number % 2 == 0 else _VARIANTS[::-1]
        return {variant: await self._slice(pods, variant) for variant in order}

    async def _slice(self, pods: str, variant: str) -> _Bound:
        crowd, extender = self._admin, self._extender
        names = [f"p{number}" for number in range(_SLICE)]
        bodies = [memory_pod(name, _MEMORY, _NOBODY) for name in names]
        await crowd.send_all([call("POST", pods, body) for body in bodies], _AT_A_TIME)
        await extender.until_known(_NODES, pending=_SLICE)
        found = (await crowd.get(pods))["items"]
        pairs = [(pod, node_name(place % _NODES)) for place, pod in enumerate(found)]
        async with crowd.watching(pods) as watch:
            begun = processor_time(self._pids)
            if variant == _OURS:
                took = await extender.bind_all([_bind(*pair) for pair in pairs], _AT_A_TIME)
            else:
                plain = [_plain(pods, *pair) for pair in pairs]
                took = await self._scheduler.send_all(plain, _AT_A_TIME)
            # Not this measurement's, but the next one would pay for it.
            await watch.until(lambda: len(watch.running) == _SLICE, "all running")
            used = processor_time(self._pids) - begun
        await crowd.clear(pods)
        await extender.until_known(_NODES, pending=0)
        return _Bound(_SLICE / took, used / _SLICE * 1e3)


def _bind(pod: dict[str, Any], node: str) -> bytes:
    meta = pod["metadata"]
    body = {
        "PodName": meta["name"],
        "PodNamespace": meta["namespace"],
        "PodUID": meta["uid"],
        "Node": node,
    }
    return json.dumps(body).encode()


def _plain(pods: str, pod: dict[str, Any], node: str) -> EncodedRequest:
    """What kube-scheduler sends where there is no extender."""
    meta = pod["metadata"]
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {key: meta[key] for key in ("name", "namespace", "uid")},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    return call("POST", f"{pods}/{meta['name']}/binding", binding)


def _tell_bound(rounds: list[dict[str, _Bound]], report: Report) -> None:
    for variant in _VARIANTS:
        rates = [found[variant].rate for found in rounds]
        report(median(f"{variant}, {_AT_A_TIME} at a time", rates, "/s"))
        costs = [found[variant].cost for found in rounds]
        report(median(f"{variant}: processor time of a pod, until it runs", costs, "ms"))
    ratios = [found[_OURS].rate / found[_THEIRS].rate for found in rounds]
    report(median(f"{_OURS} against {_THEIRS}", ratios, "", 0.8, "at least"))
    costs = [found[_THEIRS].cost / found[_OURS].cost for found in rounds]
    report(median(f"{_THEIRS}: processor time against {_OURS}", costs, ""))
