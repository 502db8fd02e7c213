"""Pods per second through a real kube-scheduler that asks us, against one as it comes.

The one has the configuration that the product prints, the other none but the plane's: both have the
same binary and client QPS. All pods exist before their scheduler starts, and it ends before the
next one starts: so one works at a time. A rate is of the time from the first pod that a watch shows
bound to the last; what a scheduler does before, as reading the cluster, is not in it. The product
runs and follows the pods all the while.

On few cores the second rate says more: to the last pod that runs. The slower pods are bound, the
more of the node agent's writes for them fall into the time of the first rate, though they are as
many; the second one, and the processor time of a pod, have them all on both sides.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from cardquota_dev.testing import Cluster

from ..figure import Report, median
from .card_nodes import memory_pod
from .child import Child, processor_time
from .crowd import Crowd, call
from .extender_client import ExtenderClient

_MEMORY: Final = 1024
"""MiB that each pod asks for."""
_PODS: Final = 600
_ROUNDS: Final = 3
_AT_A_TIME: Final = 16
_WITH: Final = "with-extender"
_WITHOUT: Final = "without-extender"
_OF_THE_PLANE: Final = ("clientConnection", "leaderElection")
_PATIENCE: Final = 300.0
"""Seconds for all pods of a round."""


async def scheduled_rates(
    cluster: Cluster, crowd: Crowd, extender: ExtenderClient, nodes: int, report: Report
) -> None:
    """Report pods per second of both, and their ratio. There are so many nodes."""
    measured = _ScheduledRates(cluster, crowd, extender, nodes)
    found = [await measured.one_round(number) for number in range(_ROUNDS)]
    what = f"{_PODS:,} pods through kube-scheduler, {nodes:,} nodes"
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

    def __init__(
        self, cluster: Cluster, crowd: Crowd, extender: ExtenderClient, nodes: int
    ) -> None:
        assert cluster.folder is not None
        self._folder = cluster.folder.path
        self._pids = [process.pid for process in cluster.state.processes]
        self._binary = Path(cluster.state.bin_dir) / "kube-scheduler"
        printed = json.loads((cluster.folder.private / "scheduler.json").read_text())
        self._printed: dict[str, Any] = printed
        self._crowd, self._extender = crowd, extender
        self._nodes = nodes

    async def one_round(self, number: int) -> dict[str, _Scheduled]:
        """By scheduler."""
        order = (_WITH, _WITHOUT) if number % 2 == 0 else (_WITHOUT, _WITH)
        return {name: await self._one(name, number) for name in order}

    async def _one(self, scheduler: str, number: int) -> _Scheduled:
        crowd = self._crowd
        pods = await crowd.make_namespace(f"{scheduler}-{self._nodes}-{number}", {})
        bodies = (memory_pod(f"p{i}", _MEMORY, scheduler) for i in range(_PODS))
        await crowd.send_all([call("POST", pods, body) for body in bodies], _AT_A_TIME)
        await self._extender.until_known(self._nodes, pending=_PODS)
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
        await self._extender.until_known(self._nodes, pending=0)
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
