"""Pods created through the real API server, per second: with our webhooks, with constant ones, and
with none. Bounds are on ratios within the run; rates alone say little about another machine.

The pods are the same for all: in a queue with plenty of quota, and with a foreign gate, so
that the scheduler leaves them alone. Without webhooks our policies are switched off too, but for
the one on our annotations, which holds everywhere.

What follows upon a create would blur the comparison: an opened gate costs the API server more
than a review. So somebody else holds our Lease meanwhile, and our replica reviews as one that does
not lead; it follows its watches all the same, whoever reviews. It has no core of its own: like the
constant webhook it shares the machine with the API server, etcd and the clients.

A round takes a few slices of each variant in turn, so that what else the machine does meets all of
them alike.
"""

import asyncio
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cardquota.quota import GATE, LEASE, OPERATOR_NAMESPACE, SERVICE_ACCOUNT
from cardquota_dev.testing import Cluster, eventually, running_plane
from integration.asking import MERGE, ask, metric
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team

from ..bodies.pod_bodies import held, queued
from ..figure import Figure, Report, median
from ..processes.crowd import Crowd, call
from ..processes.webhook_variants import CONSTANT, NONE, OURS, labels, webhook_variants

_VARIANTS: Final = {
    OURS: "our webhooks",
    CONSTANT: "constant ones",
    NONE: "no webhooks, namespace off",
}
_PLENTY: Final = {T1000: 1_000_000}
_ROUNDS: Final = 5
_SLICES: Final = 4
_SLICE: Final = 120
_AT_A_TIME: Final = 24
"""Saturates; more would be unfair to all, as the API server keeps 25 idle connections to a host."""


def run(report: Report) -> None:
    """Report creates per second of each variant, and what ours are of the others'."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as folder, running_plane(Path(folder, "plane")) as cluster:
        add_roomy_nodes(cluster)
        queue = Team(cluster, "default", "bench").has_queue(_PLENTY)
        with webhook_variants(cluster):
            rounds = asyncio.run(_rounds(cluster, queue))
    for variant, said in _VARIANTS.items():
        report(median(f"creates: {said}", [found[variant] for found in rounds], "/s"))
    for variant, bound in ((CONSTANT, 0.9), (NONE, None)):
        ratios = [found[OURS] / found[variant] for found in rounds]
        report(median(f"creates: ours against {_VARIANTS[variant]}", ratios, "", bound, "at least"))


async def _rounds(cluster: Cluster, queue: str) -> list[dict[str, float]]:
    _end_leadership(cluster)
    async with Crowd(cluster) as crowd:
        return [await _round(cluster, crowd, queue, number) for number in range(_ROUNDS)]


async def _round(cluster: Cluster, crowd: Crowd, queue: str, number: int) -> dict[str, float]:
    """Rates by variant. Every second round goes the other way about."""
    order = list(_VARIANTS) if number % 2 == 0 else list(_VARIANTS)[::-1]
    pods = {
        variant: await crowd.make_namespace(f"rate-{variant}-{number}", labels(variant))
        for variant in order
    }
    for variant in order:
        await _until_reviewed(cluster, crowd, pods[variant], queue, variant)
    seconds = dict.fromkeys(order, 0.0)
    for part in range(_SLICES):
        for variant in order:
            bodies = (held(queued(f"p{part}-{number}", queue)) for number in range(_SLICE))
            calls = [call("POST", pods[variant], body) for body in bodies]
            before = _reviews(cluster)
            seconds[variant] += await crowd.send_all(calls, _AT_A_TIME)
            # In a queue with room for many more one review of each is enough.
            expected = len(calls) if variant == OURS else 0
            assert (found := _reviews(cluster) - before) == expected, f"{variant}: {found} reviews"
    for path in pods.values():
        await crowd.clear(path)
    return {variant: _SLICES * _SLICE / took for variant, took in seconds.items()}


async def _until_reviewed(
    cluster: Cluster, crowd: Crowd, pods: str, queue: str, variant: str
) -> None:
    """Return once the API server calls that variant: the gate is set, and by whom it should be."""
    probe = call("POST", f"{pods}?dryRun=All", held(queued("probe", queue)))
    for _ in range(100):
        before = _reviews(cluster)
        gated = GATE.encode() in await crowd.send(probe)
        asked = _reviews(cluster) > before
        if gated == (variant != NONE) and asked == (variant == OURS):
            return
        await asyncio.sleep(0.1)
    raise RuntimeError(f"pods of {pods} are not reviewed by {variant}")


def _reviews(cluster: Cluster) -> float:
    return metric(cluster, "cardquota_admission_reviews_total", kind="pods")


def _end_leadership(cluster: Cluster) -> None:
    """Our replica leads no more: in its own name, as nobody else may, the Lease is given away."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{OPERATOR_NAMESPACE}/leases/{LEASE}"
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    change = {
        "spec": {
            "holderIdentity": "bench",
            "leaseDurationSeconds": 3600,
            "acquireTime": now,
            "renewTime": now,
        }
    }
    us = f"system:serviceaccount:{OPERATOR_NAMESPACE}:{SERVICE_ACCOUNT}"
    reply = ask(cluster, "PATCH", path, change, content_type=MERGE, as_user=us)
    assert reply.ok, reply
    eventually(lambda: metric(cluster, "cardquota_leader") == 0, "no leader")
