"""From quota that becomes free to the gate that opens, by a watch; one at a time, and many.

One at a time: a queue of one card, held by a running pod for which another one waits. The running
one is deleted; measured from its DELETED event to the waiting pod's event without our gate, both
of the same watch (ms).

Many: pods wait for a quota that is then raised; gates opened per second, from sending the new
quota to the last pod's event. Held against the pod patches which the API server takes from this
process in the same run: on the same pods, under the uid and resourceVersion of each, as many in
flight as the operator has. A foreign gate keeps the scheduler out of both. The slices of a round
are taken by turns, so that what else the machine does meets both alike.
"""

import asyncio
import json
import os
import statistics
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any, Final

from cardquota.quota import QUOTA
from cardquota.settings import Release
from cardquota_dev.testing import Cluster, running_plane
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import QUEUES, Team

from ..bodies.pod_bodies import held, queued
from ..figure import Figure, Report, median
from ..processes.crowd import MERGE, Crowd, EncodedRequest, call
from ..processes.pod_watch import PodWatch

_DELETIONS: Final = 220
_PAUSE: Final = 0.08
"""Seconds before each deletion: the operator has told the waiting pod why by then."""
_ROUNDS: Final = 5
_SLICES: Final = 2
_SLICE: Final = 600
"""Raising the quota takes some 30 ms: beside that of a slice it must not count."""
_NOTE: Final = "bench.cardquota.dev/note"
_AT_A_TIME: Final = Release().in_flight


def run(report: Report) -> None:
    """Report p50 and p99 of one at a time (ms), and gates opened per second."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as folder, running_plane(Path(folder, "plane")) as cluster:
        add_roomy_nodes(cluster)
        asyncio.run(_measure(cluster, report))


async def _measure(cluster: Cluster, report: Report) -> None:
    async with Crowd(cluster) as crowd:
        await _one_at_a_time(cluster, crowd, report)
        await _many(cluster, crowd, report)


async def _one_at_a_time(cluster: Cluster, crowd: Crowd, report: Report) -> None:
    team = Team(cluster, "single", "single")
    queue = team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    pods = await crowd.make_namespace(team.namespace, {})
    times = []
    async with crowd.watching(pods) as watch:
        await crowd.send(call("POST", pods, queued("p0", queue)))
        for turn in range(_DELETIONS):
            now, following = f"p{turn}", f"p{turn + 1}"
            await watch.until(lambda n=now: n in watch.running, f"{now} running")
            await crowd.send(call("POST", pods, queued(following, queue)))
            await asyncio.sleep(_PAUSE)
            await watch.until(lambda n=following: n in watch.gated, f"{following} waits")
            assert following not in watch.opened
            await crowd.send(call("DELETE", f"{pods}/{now}", {"gracePeriodSeconds": 0}))
            await watch.until(
                lambda n=now, f=following: n in watch.deleted and f in watch.opened,
                f"{following} open",
            )
            times.append(1000 * (watch.opened[following] - watch.deleted[now]))
    await crowd.clear(pods)
    cuts = statistics.quantiles(times, n=100)
    report(Figure("one freed to one opened: p50", cuts[49], "ms", low=min(times), high=max(times)))
    report(Figure("one freed to one opened: p99", cuts[98], "ms", 50))


async def _many(cluster: Cluster, crowd: Crowd, report: Report) -> None:
    rounds = [await _round(cluster, crowd, number) for number in range(_ROUNDS)]
    opened, patched = zip(*rounds, strict=True)
    report(median("many freed: gates opened", opened, "/s"))
    report(median("many freed: plain patches of the same pods", patched, "/s"))
    ratios = [one / other for one, other in rounds]
    report(median("many freed: gates against patches", ratios, "", 0.8, "at least"))


async def _round(cluster: Cluster, crowd: Crowd, number: int) -> tuple[float, float]:
    """Gates opened and patches taken, per second. All pods wait; each slice opens some."""
    team = Team(cluster, f"many-{number}", f"many-{number}")
    # A pod that could never fit would be refused, and a quota that fits one is held by one.
    queue = team.has_queue(team.a_queue({T1000: 1}).with_policy("Gate"))
    pods = await crowd.make_namespace(team.namespace, {})
    names = [f"p{part}-{number}" for part in range(_SLICES) for number in range(_SLICE)]
    async with crowd.watching(pods) as watch:
        await crowd.send(call("POST", pods, held(queued("holder", queue))))
        await watch.until(lambda: "holder" in watch.opened, "holder open")
        calls = [call("POST", pods, held(queued(name, queue))) for name in names]
        await crowd.send_all(calls, _AT_A_TIME)
        events = len(names)  # why it waits
        await _until_told(crowd, team.namespace, events)
        opening = patching = 0.0
        for part in range(_SLICES):
            turns = [True, False] if (number + part) % 2 == 0 else [False, True]
            for to_open in turns:
                if to_open:
                    opening += await _open(crowd, watch, queue, part)
                    events += _SLICE  # that it was released
                    await _until_told(crowd, team.namespace, events)
                else:
                    patching += await _patch(crowd, pods, part)
    await crowd.clear(pods)
    return _SLICES * _SLICE / opening, _SLICES * _SLICE / patching


async def _open(crowd: Crowd, watch: PodWatch, queue: str, part: int) -> float:
    """Seconds from sending a quota with room for one slice more to the last of it opened."""
    wanted = 1 + (part + 1) * _SLICE
    change = {"metadata": {"annotations": {QUOTA: json.dumps({T1000: wanted})}}}
    begun = monotonic()
    await crowd.send(call("PATCH", f"{QUEUES}/{queue}", change, MERGE))
    await watch.until(lambda: len(watch.opened) == wanted, f"{wanted} gates open")
    return max(watch.opened.values()) - begun


async def _patch(crowd: Crowd, pods: str, part: int) -> float:
    """Seconds for as many plain patches."""
    found = (await crowd.get(pods))["items"]
    of_slice = [pod for pod in found if pod["metadata"]["name"].startswith(f"p{part}-")]
    assert len(of_slice) == _SLICE
    return await crowd.send_all([_patched(pods, pod) for pod in of_slice], _AT_A_TIME)


def _patched(pods: str, pod: dict[str, Any]) -> EncodedRequest:
    meta = {key: pod["metadata"][key] for key in ("uid", "resourceVersion")}
    change = {"metadata": {**meta, "annotations": {_NOTE: "noted"}}}
    return call("PATCH", f"{pods}/{pod['metadata']['name']}", change, MERGE)


async def _until_told(crowd: Crowd, namespace: str, count: int) -> None:
    """Return once so many events were written: what is still to be written would be measured."""
    path = f"/api/v1/namespaces/{namespace}/events?limit=1"
    for _ in range(600):
        found = await crowd.get(path)
        if len(found["items"]) + found["metadata"].get("remainingItemCount", 0) >= count:
            return
        await asyncio.sleep(0.1)
    raise RuntimeError(f"fewer than {count} events in {namespace}")
