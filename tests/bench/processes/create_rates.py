"""Creates per second with each kind of webhooks: ours, constant ones on aiohttp and in Go, none.

The pods are the same for all: in a queue with plenty of quota, and with a foreign gate, so
that the scheduler leaves them alone. Without webhooks our policies are switched off too, but for
the one on our annotations, which holds everywhere.

What follows upon a create would blur the comparison: an opened gate costs the API server more
than a review. So somebody else holds our Lease meanwhile, and our replica reviews as one that does
not lead; it follows its watches all the same, whoever reviews. It has no core of its own: like the
constant webhooks it shares the machine with the API server, etcd and the clients.

A round takes a few slices of each variant in turn, so that what else the machine does meets all of
them alike.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from cardquota.quota.vocabulary import GATE, LEASE, OPERATOR_NAMESPACE, SERVICE_ACCOUNT
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, ask, metric

from ..bodies.pod_bodies import held, queued
from ..figure import Report, median
from .crowd import Crowd, call
from .webhook_variants import AIOHTTP, GO, NONE, OURS, labels

_VARIANTS: Final = (OURS, AIOHTTP, GO, NONE)
_ROUNDS: Final = 5
_SLICES: Final = 4
_SLICE: Final = 120
_AT_A_TIME: Final = 24
"""Saturates; more would be unfair to all, as the API server keeps 25 idle connections to a host."""
_REVIEWS: Final = 2
"""Of each pod: mutate and validate."""


async def create_rates(cluster: Cluster, crowd: Crowd, queue: str, report: Report) -> None:
    """Report creates per second of each variant, and what ours are of the others'."""
    _end_leadership(cluster)
    rounds = [await _round(cluster, crowd, queue, number) for number in range(_ROUNDS)]
    said = {
        OURS: "our webhooks",
        AIOHTTP: "constant ones, aiohttp",
        GO: "constant ones, Go",
        NONE: "no webhooks, no policies",
    }
    for variant in _VARIANTS:
        report(median(f"creates: {said[variant]}", [found[variant] for found in rounds], "/s"))
    for variant in (AIOHTTP, GO, NONE):
        ratios = [found[OURS] / found[variant] for found in rounds]
        bound = 0.9 if variant == AIOHTTP else None
        report(median(f"creates: ours against {said[variant]}", ratios, "", bound, "at least"))


async def _round(cluster: Cluster, crowd: Crowd, queue: str, number: int) -> dict[str, float]:
    """Pods per second by variant. Every second round goes the other way about."""
    order: Sequence[str] = _VARIANTS if number % 2 == 0 else _VARIANTS[::-1]
    pods = {
        variant: await crowd.make_namespace(f"rate-{variant}-{number}", labels(variant))
        for variant in order
    }
    for variant in order:
        await _until_reviewed(cluster, crowd, pods[variant], queue, variant)
    seconds = dict.fromkeys(order, 0.0)
    for part in range(_SLICES):
        for variant in order:
            names = (f"p{part}-{number}" for number in range(_SLICE))
            calls = [call("POST", pods[variant], held(queued(name, queue))) for name in names]
            before = _reviews(cluster)
            seconds[variant] += await crowd.send_all(calls, _AT_A_TIME)
            expected = _REVIEWS * _SLICE if variant == OURS else 0
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
