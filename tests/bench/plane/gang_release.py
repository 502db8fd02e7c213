"""A gang of 1,000 released against 1,000 plain patches that open a gate, in the same run.

The gang waits whole at its gates; then there is room. Measured from sending the quota with that
room to the last of the gates seen open, by a watch: judging, a dry run (so that no webhook refuses
one gate while the others run), the reservation, and the gates. The members are alike and of one
controller, as those of a training job are: one is asked about. Of a gang whose pods have no
controller each is, which costs as much again as the patches.

The plain patches are JSON patches of the same 1,000 pods, each of which takes a foreign gate of its
own away under the pod's uid and resourceVersion; as many in flight as the operator has, by one
client. They are sent before the release in every other round, and after it in the others. A second
foreign gate keeps the scheduler out.
"""

import asyncio
import json
import os
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any, Final

from cardquota.quota import GROUP_NAME, QUOTA
from cardquota.settings import Release
from cardquota_dev.testing import Cluster, running_plane
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import QUEUES, Team

from ..bodies.pod_bodies import HOLD, queued
from ..figure import Figure, Report, median
from ..processes.crowd import MERGE, Crowd, EncodedRequest, call
from ..processes.pod_watch import PodWatch

_MEMBERS: Final = 1_000
_ROUNDS: Final = 4
_AT_A_TIME: Final = Release().in_flight
_PLAIN: Final = "bench.cardquota.dev/plain"
"""The gate that the plain patches open."""
_JSON_PATCH: Final = "application/json-patch+json"
_GANG: Final = "gang"
_BOUND: Final = 1.25


def run(report: Report) -> None:
    """Report seconds for the gang and for the patches, and their ratio."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as folder, running_plane(Path(folder, "plane")) as cluster:
        add_roomy_nodes(cluster)
        asyncio.run(_measure(cluster, report))


async def _measure(cluster: Cluster, report: Report) -> None:
    async with Crowd(cluster) as crowd:
        rounds = [await _round(cluster, crowd, number) for number in range(_ROUNDS)]
    until_first, gates, patched = zip(*rounds, strict=True)
    released = [asked + opened for asked, opened, _ in rounds]
    report(median(f"a gang of {_MEMBERS:,} released", released, "s"))
    report(median("of that until the first gate: judging, dry runs, reservation", until_first, "s"))
    report(median("of that the gates", gates, "s"))
    report(median(f"{_MEMBERS:,} plain patches that open a gate", patched, "s"))
    alone = [one / other for one, other in zip(gates, patched, strict=True)]
    report(median("the gates of a gang against plain patches", alone, "", _BOUND))
    whole = [one / other for one, other in zip(released, patched, strict=True)]
    report(median("a gang released against plain patches", whole, "", _BOUND))


async def _round(cluster: Cluster, crowd: Crowd, number: int) -> tuple[float, float, float]:
    """Seconds until the first gate of the gang, from there to the last, and for the patches."""
    team = Team(cluster, f"gang-{number}", f"gang-{number}")
    queue = team.has_queue(team.a_queue({T1000: _MEMBERS}).with_policy("Gate"))
    pods = await crowd.make_namespace(team.namespace, {})
    # What could never fit would be refused: so a pod of no gang holds one card too many for it.
    async with crowd.watching(pods) as watch:
        await crowd.send(call("POST", pods, _gated(queued("holder", queue))))
        await watch.until(lambda: "holder" in watch.opened, "holder open")
        assert team.create(team.a_gang(_GANG, _MEMBERS)).ok
        owner = await _owner(crowd, team.namespace)
        names = [f"p{member}" for member in range(_MEMBERS)]
        calls = [call("POST", pods, _member(name, queue, owner)) for name in names]
        await crowd.send_all(calls, _AT_A_TIME)
        await watch.until(lambda: len(watch.gated) > _MEMBERS, "all wait")
        await asyncio.to_thread(team.until_told, _GANG, "InsufficientCardQuota")
        patched, released = 0.0, (0.0, 0.0)
        for to_release in (True, False) if number % 2 == 0 else (False, True):
            assert len(watch.opened) in (1, 1 + _MEMBERS)
            if to_release:
                released = await _release(crowd, watch, queue)
            else:
                patched = await _patch(crowd, pods)
    await crowd.clear(pods)
    return *released, patched


async def _release(crowd: Crowd, watch: PodWatch, queue: str) -> tuple[float, float]:
    """Seconds until the first gate, and from there to the last."""
    wanted = 1 + _MEMBERS
    change = {"metadata": {"annotations": {QUOTA: json.dumps({T1000: wanted})}}}
    begun = monotonic()
    await crowd.send(call("PATCH", f"{QUEUES}/{queue}", change, MERGE))
    await watch.until(lambda: len(watch.opened) == wanted, f"{wanted} gates open")
    times = [at for name, at in watch.opened.items() if name != "holder"]
    return min(times) - begun, max(times) - min(times)


async def _patch(crowd: Crowd, pods: str) -> float:
    every = (await crowd.get(pods))["items"]
    members = [pod for pod in every if pod["metadata"]["name"] != "holder"]
    assert len(members) == _MEMBERS
    return await crowd.send_all([_opening(pods, pod) for pod in members], _AT_A_TIME)


def _opening(pods: str, pod: dict[str, Any]) -> EncodedRequest:
    meta = pod["metadata"]
    place = [gate["name"] for gate in pod["spec"]["schedulingGates"]].index(_PLAIN)
    path = f"/spec/schedulingGates/{place}"
    steps = [
        {"op": "test", "path": "/metadata/uid", "value": meta["uid"]},
        {"op": "test", "path": "/metadata/resourceVersion", "value": meta["resourceVersion"]},
        {"op": "test", "path": f"{path}/name", "value": _PLAIN},
        {"op": "remove", "path": path},
    ]
    return call("PATCH", f"{pods}/{meta['name']}", steps, _JSON_PATCH)


async def _owner(crowd: Crowd, namespace: str) -> dict[str, Any]:
    """Stands for the object of a training job: the garbage collector deletes pods of none."""
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": _GANG}}
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    await crowd.send(call("POST", path, thing))
    found = next(
        one for one in (await crowd.get(path))["items"] if one["metadata"]["name"] == _GANG
    )
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": _GANG, "controller": True}
    return {**owner, "uid": found["metadata"]["uid"]}


def _member(name: str, queue: str, owner: dict[str, Any]) -> dict[str, Any]:
    pod = _gated(queued(name, queue))
    pod["metadata"]["ownerReferences"] = [owner]
    pod["metadata"]["annotations"][GROUP_NAME] = _GANG
    return pod


def _gated(pod: dict[str, Any]) -> dict[str, Any]:
    gates = [{"name": HOLD}, {"name": _PLAIN}]
    return {**pod, "spec": {**pod["spec"], "schedulingGates": gates}}
