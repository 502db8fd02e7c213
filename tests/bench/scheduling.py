"""The extender on a real API server: Bindings per second, and pods per second.

Binds: pods that ask for a part of a card, bound by our leader, which chooses the card and charges
it, against plain Bindings of pods alike, which the administrator posts. As many callers at once,
and by turns. A call of ours is kube-scheduler's: over TLS, by its client certificate. So a bind has
two ways over TLS, and the plain Binding one.
"""

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from cardquota_dev.testing import Cluster, running_plane

from .figure import Figure, Report, median
from .processes.card_nodes import add_nodes, card_node, memory_pod, node_name
from .processes.crowd import Crowd, EncodedRequest, call
from .processes.extender_client import ExtenderClient

_NODES: Final = 100
_MEMORY: Final = 1024
"""MiB that each pod asks for."""
_NOBODY: Final = "nobody"
"""The scheduler of pods that we bind ourselves."""
_AT_A_TIME: Final = 16
_ROUNDS: Final = 5
_SLICES: Final = 2
_SLICE: Final = 250


def run(report: Report) -> None:
    """Report rates, and ratios within the run."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = folder / "node.json"
        first.write_text(json.dumps(card_node(0)))
        with running_plane(folder / "plane", nodes=(first,), extender=True) as cluster:
            asyncio.run(_measure(cluster, report))


async def _measure(cluster: Cluster, report: Report) -> None:
    async with Crowd(cluster) as crowd, ExtenderClient(cluster) as extender:
        await add_nodes(crowd, 1, _NODES)
        rounds = [await _binds(crowd, extender, number) for number in range(_ROUNDS)]
        ours, plain = zip(*rounds, strict=True)
        report(median(f"binds by our leader, {_AT_A_TIME} at a time", ours, "/s"))
        report(median(f"plain Bindings, {_AT_A_TIME} at a time", plain, "/s"))
        ratios = [one / other for one, other in rounds]
        report(median("binds against plain Bindings", ratios, "", 0.8, "at least"))


async def _binds(crowd: Crowd, extender: ExtenderClient, number: int) -> tuple[float, float]:
    """Binds and plain Bindings per second, slice by slice in turn."""
    pods = await crowd.make_namespace(f"binds-{number}", {})
    seconds = {True: 0.0, False: 0.0}
    for part in range(_SLICES):
        for ours in (True, False) if (number + part) % 2 == 0 else (False, True):
            seconds[ours] += await _slice(crowd, extender, pods, ours=ours)
    return _SLICES * _SLICE / seconds[True], _SLICES * _SLICE / seconds[False]


async def _slice(crowd: Crowd, extender: ExtenderClient, pods: str, *, ours: bool) -> float:
    """Seconds from the first bind to the last answer."""
    names = [f"p{number}" for number in range(_SLICE)]
    bodies = (memory_pod(name, _MEMORY, _NOBODY) for name in names)
    await crowd.send_all([call("POST", pods, body) for body in bodies], _AT_A_TIME)
    await extender.until_known(_NODES, pending=_SLICE)
    found = {pod["metadata"]["name"]: pod for pod in (await crowd.get(pods))["items"]}
    nodes = [node_name(number % _NODES) for number in range(_SLICE)]
    pairs = [(found[name], node) for name, node in zip(names, nodes, strict=True)]
    async with crowd.watching(pods) as watch:
        if ours:
            took = await extender.bind_all([_bind(*pair) for pair in pairs], _AT_A_TIME)
        else:
            took = await crowd.send_all([_plain(pods, *pair) for pair in pairs], _AT_A_TIME)
        # Not this measurement's, but the next one would pay for it.
        await watch.until(lambda: len(watch.running) == _SLICE, "all running")
    await crowd.clear(pods)
    await extender.until_known(_NODES, pending=0)
    return took


def _bind(pod: dict[str, Any], node: str) -> bytes:
    meta = pod["metadata"]
    return json.dumps(
        {
            "PodName": meta["name"],
            "PodNamespace": meta["namespace"],
            "PodUID": meta["uid"],
            "Node": node,
        }
    ).encode()


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
