"""50 Volcano Jobs of 10 pods on a quota of 100 cards, beside the stand-in for Volcano.

All Jobs are created at once; each pod runs for a second, so ten Jobs run at a time. Measured from
sending the first Job to its last binding, and to the moment when all Jobs are Completed: with us,
with us where Volcano asks which groups to enqueue, and without us, where Volcano's own rule (the
plugin `capacity`, and `capability` of the queue) limits the cards; each on a plane of its own. Its
sessions come once a second, as they do by default. The rounds go by turns.
"""

import asyncio
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple

from cardquota_dev.testing import Cluster, running_plane
from integration.asking import ask
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import QUEUES, Team
from integration.volcano.volcano_jobs import volcano_job

from ..figure import Figure, Report, median
from ..processes.crowd import Crowd, call

_JOBS: Final = 50
_PODS: Final = 10
_QUOTA: Final = 100
_ROUNDS: Final = 3
_RUNS: Final = 1
"""Seconds of each pod."""
_POLL: Final = 0.25
_PATIENCE: Final = 300.0
_VOLCANO: Final = "volcano-system"
_CONFIG: Final = "scheduler: volcano\n"
_WITH, _ASKED, _WITHOUT = "with us", "with us, asked", "without"


def run(report: Report) -> None:
    """Report seconds with us and without."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    options: dict[str, Any] = {"crds": "volcano", "volcano": _VOLCANO}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as planes:
        config = Path(folder, "config.yaml")
        config.write_text(_CONFIG)
        kinds: dict[str, dict[str, Any]] = {
            _WITH: {"config": config},
            _ASKED: {"config": config, "volcano_asks": True},
            _WITHOUT: {"replicas": 0},
        }
        clusters = {
            name: planes.enter_context(running_plane(Path(folder, str(n)), **more, **options))
            for n, (name, more) in enumerate(kinds.items())
        }
        for cluster in clusters.values():
            add_roomy_nodes(cluster)
        found: dict[str, list[_JobsRound]] = {name: [] for name in kinds}
        for number in range(_ROUNDS):
            for name, cluster in clusters.items():
                one = _round(cluster, number, with_us=name != _WITHOUT)
                found[name].append(asyncio.run(one))
    for name, rounds in found.items():
        report(
            median(f"{_JOBS} jobs of {_PODS}: all bound, {name}", [r.bound for r in rounds], "s")
        )
        done = [one.completed for one in rounds]
        report(median(f"{_JOBS} jobs of {_PODS}: all completed, {name}", done, "s"))
    for kind in (_WITH, _ASKED):
        for name in ("completed", "bound"):
            ratios = [
                getattr(one, name) / getattr(other, name)
                for one, other in zip(found[kind], found[_WITHOUT], strict=True)
            ]
            report(median(f"{kind} against without, until all are {name}", ratios, ""))


class _JobsRound(NamedTuple):
    """Seconds from sending the first Job."""

    bound: float
    completed: float


async def _round(cluster: Cluster, number: int, *, with_us: bool) -> _JobsRound:
    team = Team(cluster, f"jobs-{number}", f"jobs-{number}")
    body = team.wire(team.a_queue({T1000: _QUOTA} if with_us else {}))
    if not with_us:
        body["metadata"].pop("annotations", None)
        body["spec"] = {**body.get("spec", {}), "capability": {"nvidia.com/gpu": str(_QUOTA)}}
    assert (made := ask(cluster, "POST", QUEUES, body)).ok, made
    async with Crowd(cluster) as crowd:
        await crowd.make_namespace(team.namespace, {})
        path = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{team.namespace}/jobs"
        jobs = [volcano_job(team, f"job-{n}", _PODS, T1000, runs=_RUNS) for n in range(_JOBS)]
        pods = f"/api/v1/namespaces/{team.namespace}/pods"
        async with crowd.watching(pods, patience=_PATIENCE) as watch:
            begun = monotonic()
            await crowd.send_all([call("POST", path, job) for job in jobs], 16)
            await watch.until(lambda: len(watch.bound) == _JOBS * _PODS, "all bound")
            while not all(_is_completed(job) for job in (await crowd.get(path))["items"]):
                if monotonic() > begun + _PATIENCE:
                    raise TimeoutError(f"not all jobs are completed within {_PATIENCE:g} s")
                await asyncio.sleep(_POLL)
            completed = monotonic() - begun
        await crowd.clear(pods)
    return _JobsRound(max(watch.bound.values()) - begun, completed)


def _is_completed(job: dict[str, Any]) -> bool:
    return bool(job.get("status", {}).get("state", {}).get("phase") == "Completed")
