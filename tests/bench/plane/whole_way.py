"""From create to bound, by a watch: pods with our gate against pods that know nothing of us.

Those with the gate are reviewed, gated, let through and scheduled, in a queue with plenty of quota.
The others stand in a namespace that is switched off: no review, no gate, no policy but the one on
our annotations. They ask for the same card of the same node, by a node selector; that is what our
gate adds to the pod in its place.
"""

import asyncio
import statistics
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from ..bodies.pod_bodies import plain, queued
from ..figure import Figure, Report, median
from ..processes.crowd import Crowd, call
from ..processes.pod_watch import PodWatch
from ..processes.webhook_variants import NONE, OURS, labels

_ROUNDS: Final = 5
_SLICES: Final = 2
_SLICE: Final = 150
"""Fewer than the node has cards for, times slices."""
_AT_A_TIME: Final = 24
_TURNS: Final = 80
_PAUSE: Final = 0.05
"""Seconds between two pods when idle: what the one before left to do is done by then."""

Body = Callable[[str], dict[str, Any]]


async def saturated(crowd: Crowd, queue: str, report: Report) -> None:
    """Report pods bound per second, with the gate and without, from the first create on."""
    bodies: dict[str, Body] = {OURS: lambda name: queued(name, queue), NONE: plain}
    rounds = [await _round(crowd, bodies, number) for number in range(_ROUNDS)]
    gated, ungated = ([found[variant] for found in rounds] for variant in (OURS, NONE))
    report(median("create to bound: with our gate", gated, "/s"))
    report(median("create to bound: without", ungated, "/s"))
    ratios = [one / other for one, other in zip(gated, ungated, strict=True)]
    report(median("create to bound: with against without", ratios, "", 0.4, "at least"))


async def _round(crowd: Crowd, bodies: dict[str, Body], number: int) -> dict[str, float]:
    """Pods per second by variant; slices by turns, so that other load meets both alike."""
    order = list(bodies) if number % 2 == 0 else list(bodies)[::-1]
    pods = {
        variant: await crowd.make_namespace(f"way-{variant}-{number}", labels(variant))
        for variant in order
    }
    seconds = dict.fromkeys(order, 0.0)
    for part in range(_SLICES):
        for variant in order:
            names = [f"p{part}-{number}" for number in range(_SLICE)]
            calls = [call("POST", pods[variant], bodies[variant](name)) for name in names]
            async with crowd.watching(pods[variant]) as watch:
                begun = monotonic()
                await crowd.send_all(calls, _AT_A_TIME)
                await watch.until(lambda w=watch: len(w.bound) == _SLICE, "all bound")
                seconds[variant] += max(watch.bound.values()) - begun
                # Not this measurement's, but the next one would pay for it.
                await watch.until(lambda w=watch: len(w.running) == _SLICE, "all running")
    for path in pods.values():
        await crowd.clear(path)
    return {variant: _SLICES * _SLICE / took for variant, took in seconds.items()}


async def idle(crowd: Crowd, queue: str, report: Report) -> None:
    """Report the median from sending a create to the watch's event of the bound pod, by turns."""
    bodies: dict[str, Body] = {OURS: lambda name: queued(name, queue), NONE: plain}
    pods = {
        variant: await crowd.make_namespace(f"idle-{variant}", labels(variant))
        for variant in bodies
    }
    found: dict[str, list[float]] = {variant: [] for variant in bodies}
    async with crowd.watching(pods[OURS]) as ours, crowd.watching(pods[NONE]) as others:
        watches = {OURS: ours, NONE: others}
        for turn in range(_TURNS):
            for variant, body in bodies.items():
                create = call("POST", pods[variant], body(f"p{turn}"))
                took = await _one(crowd, watches[variant], create, f"p{turn}")
                found[variant].append(1000 * took)
    for path in pods.values():
        await crowd.clear(path)
    report(_middle("one pod, create to bound: with our gate", found[OURS]))
    report(_middle("one pod, create to bound: without", found[NONE]))
    more = statistics.median(found[OURS]) - statistics.median(found[NONE])
    report(Figure("one pod, create to bound: more with than without", more, "ms", 15))


async def _one(crowd: Crowd, watch: PodWatch, create: Any, name: str) -> float:
    begun = monotonic()
    await crowd.send(create)
    await watch.until(lambda: name in watch.bound, f"{name} bound")
    await watch.until(lambda: name in watch.running, f"{name} running")
    await asyncio.sleep(_PAUSE)
    return watch.bound[name] - begun


def _middle(what: str, times: list[float]) -> Figure:
    """The median, and between which values the middle half lies."""
    low, middle, high = statistics.quantiles(times, n=4)
    return Figure(what, middle, "ms", low=low, high=high)
