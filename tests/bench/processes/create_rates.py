"""Creates per second with each kind of webhooks: ours, constant ones on aiohttp and in Go, none;
and what the API server allocates for a create. The one in Go stands there with HTTP/2, as Go does
by itself, and without: that is the difference of the protocols.

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
from typing import Any, Final, NamedTuple

from cardquota.quota import GATE, LEASE, OPERATOR_NAMESPACE, SERVICE_ACCOUNT
from cardquota_dev.testing import Cluster, eventually
from integration.asking import MERGE, ask, metric

from ..bodies.pod_bodies import held, queued
from ..figure import Report, median
from .crowd import Crowd, call
from .pod_price import PricedPlane
from .webhook_variants import AIOHTTP, GO, GO_HTTP1, NONE, OURS, labels

_VARIANTS: Final = (OURS, AIOHTTP, GO, GO_HTTP1, NONE)
_ROUNDS: Final = 5
_SLICES: Final = 4
_SLICE: Final = 120
_AT_A_TIME: Final = 24
"""Saturates; more would be unfair to all, as the API server keeps 25 idle connections to a host."""
_REVIEWS: Final = 1
"""Of each pod: in a queue with room for many more, the mutating one is enough."""
_CROWD: Final = 64
"""The same for a crowd: of those beyond 25, each opens a connection of its own by HTTP/1.1."""
_LARGE: Final = 16 * 1024
"""Bytes more of a large pod."""


class Rate(NamedTuple):
    """Of creates with one kind of webhooks."""

    per_second: float
    allocated: float
    """KiB that the API server allocates for one."""


async def create_rates(cluster: Cluster, crowd: Crowd, queue: str, report: Report) -> None:
    """Report creates per second of each variant, and what ours are of the others'."""
    _end_leadership(cluster)
    plane = PricedPlane(cluster, crowd)
    rounds = [await _round(plane, queue, number) for number in range(_ROUNDS)]
    said = {
        OURS: "our webhooks",
        AIOHTTP: "constant ones, aiohttp",
        GO: "constant ones, Go, HTTP/2",
        GO_HTTP1: "constant ones, Go, HTTP/1.1",
        NONE: "no webhooks, namespace off",
    }
    for variant in _VARIANTS:
        what = f"creates: {said[variant]}"
        report(median(what, [found[variant].per_second for found in rounds], "/s"))
        sizes = [found[variant].allocated for found in rounds]
        report(median(f"{what}: API server allocates", sizes, "KiB"))
    for variant in (AIOHTTP, GO, NONE):
        ratios = [found[OURS].per_second / found[variant].per_second for found in rounds]
        bound = 0.9 if variant == AIOHTTP else None
        report(median(f"creates: ours against {said[variant]}", ratios, "", bound, "at least"))
    ratios = [found[GO].per_second / found[GO_HTTP1].per_second for found in rounds]
    report(median("creates: HTTP/2 against HTTP/1.1, constant ones in Go", ratios, ""))
    for what in ("per_second", "allocated"):
        ratios = [
            getattr(found[f"crowded {GO}"], what) / getattr(found[f"crowded {GO_HTTP1}"], what)
            for found in rounds
        ]
        named = {"per_second": "creates", "allocated": "allocates"}[what]
        report(median(f"{named}: HTTP/2 against HTTP/1.1, {_CROWD} at a time", ratios, ""))
    for variant in (OURS, NONE):
        large = [found[f"large {variant}"].allocated for found in rounds]
        small = [found[variant].allocated for found in rounds]
        more = [(a - b) / (_LARGE / 1024) for a, b in zip(large, small, strict=True)]
        report(median(f"creates: {said[variant]}: allocates for each KiB of a pod", more, "KiB"))


async def _round(plane: PricedPlane, queue: str, number: int) -> dict[str, Rate]:
    """Rates by variant; `large` and a variant is of large pods, `crowded` of many at a time. Every
    second round goes the other way about.
    """
    cluster, crowd = plane.cluster, plane.crowd
    order: Sequence[str] = _VARIANTS if number % 2 == 0 else _VARIANTS[::-1]
    pods = {
        variant: await crowd.make_namespace(f"rate-{variant}-{number}", labels(variant))
        for variant in order
    }
    for variant in order:
        await _until_reviewed(cluster, crowd, pods[variant], queue, variant)
    seconds, allocated = dict.fromkeys(order, 0.0), dict.fromkeys(order, 0.0)

    async def slice_of(
        variant: str, bodies: list[dict[str, Any]], at_a_time: int = _AT_A_TIME
    ) -> tuple[float, float]:
        calls = [call("POST", pods[variant], body) for body in bodies]
        before = _reviews(cluster)
        size = await asyncio.to_thread(plane.allocated, len(calls))
        took = await crowd.send_all(calls, at_a_time)
        size = await asyncio.to_thread(plane.allocated, len(calls)) - size
        expected = _REVIEWS * len(calls) if variant == OURS else 0
        assert (found := _reviews(cluster) - before) == expected, f"{variant}: {found} reviews"
        return took, size

    for part in range(_SLICES):
        for variant in order:
            names = (f"p{part}-{number}" for number in range(_SLICE))
            took, size = await slice_of(variant, [held(queued(name, queue)) for name in names])
            seconds[variant] += took
            allocated[variant] += size
    found = {
        variant: Rate(_SLICES * _SLICE / seconds[variant], allocated[variant] / _SLICES)
        for variant in order
    }
    for variant in (OURS, NONE):
        took, size = await slice_of(variant, [_large(f"l{n}", queue) for n in range(_SLICE)])
        found[f"large {variant}"] = Rate(_SLICE / took, size)
    for variant in (GO, GO_HTTP1):
        crowded = [held(queued(f"c{n}", queue)) for n in range(2 * _SLICE)]
        took, size = await slice_of(variant, crowded, _CROWD)
        found[f"crowded {variant}"] = Rate(2 * _SLICE / took, size)
    for path in pods.values():
        await crowd.clear(path)
    return found


def _large(name: str, queue: str) -> dict[str, Any]:
    pod = held(queued(name, queue))
    notes = {**pod["metadata"]["annotations"], "example.com/text": "x" * _LARGE}
    return {**pod, "metadata": {**pod["metadata"], "annotations": notes}}


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
