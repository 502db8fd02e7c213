"""Binds per second by our leader, against plain Bindings on the same plane.

The pods are alike, ask for a part of a card, and wait without a scheduler. A call of ours is
kube-scheduler's: over TLS, by its client certificate; the leader chooses the card, charges it and
posts the Binding. So a bind has two ways over TLS, and the plain Binding one. Plain ones are posted
by kube-scheduler's own user, as they are where there is no extender. As many callers at once, by
turns.

Processor time is that of all processes of the plane and the product, until the pods run: what the
node agent writes for them is the same for all, wherever it falls.
"""

import json
from typing import Any, Final, NamedTuple

from cardquota_dev.testing import Cluster

from ..figure import Report, median
from .card_nodes import memory_pod, node_name
from .child import processor_time
from .crowd import Crowd, EncodedRequest, call
from .extender_client import ExtenderClient

_MEMORY: Final = 1024
"""MiB that each pod asks for."""
_NOBODY: Final = "nobody"
"""The scheduler of pods that we bind ourselves."""
_AT_A_TIME: Final = 16
_ROUNDS: Final = 6
_SLICE: Final = 250
_OURS: Final = "binds by our leader"
_THEIRS: Final = "plain Bindings by kube-scheduler's user"
_VARIANTS: Final = (_OURS, _THEIRS)


async def bind_rates(
    cluster: Cluster, crowd: Crowd, extender: ExtenderClient, nodes: int, report: Report
) -> None:
    """Report binds per second, and ours against the others'. There are so many nodes."""
    assert cluster.folder is not None
    theirs = cluster.folder.private / "kubeconfig-kube-scheduler"
    async with Crowd(cluster, kubeconfig=theirs) as scheduler:
        measured = _BindRates(cluster, crowd, scheduler, extender, nodes)
        rounds = [await measured.one_round(number) for number in range(_ROUNDS)]
    for variant in _VARIANTS:
        rates = [found[variant].rate for found in rounds]
        report(median(f"{variant}, {_AT_A_TIME} at a time", rates, "/s"))
        costs = [found[variant].cost for found in rounds]
        report(median(f"{variant}: processor time of a pod, until it runs", costs, "ms"))
    ratios = [found[_OURS].rate / found[_THEIRS].rate for found in rounds]
    report(median(f"{_OURS} against {_THEIRS}", ratios, "", 0.8, "at least"))
    costs = [found[_THEIRS].cost / found[_OURS].cost for found in rounds]
    report(median(f"{_THEIRS}: processor time against {_OURS}", costs, ""))


class _Bound(NamedTuple):
    """What pods of one variant took."""

    rate: float
    """Pods bound per second."""
    cost: float
    """Milliseconds of a processor for one pod."""


class _BindRates:
    """One plane with nothing else to bind."""

    def __init__(
        self, cluster: Cluster, admin: Crowd, scheduler: Crowd, extender: ExtenderClient, nodes: int
    ) -> None:
        self._admin, self._extender, self._nodes = admin, extender, nodes
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
        await extender.until_known(self._nodes, pending=_SLICE)
        found = (await crowd.get(pods))["items"]
        pairs = [(pod, node_name(place % self._nodes)) for place, pod in enumerate(found)]
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
        await extender.until_known(self._nodes, pending=0)
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
