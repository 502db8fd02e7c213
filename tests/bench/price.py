"""What a pod costs the API server, against one of a plane that has nothing of ours.

Four planes run at the same time: a bare one, one with our policies and nothing else of ours, and
one for each way to set the gate. The slices of a round are taken by turns, so that what else the
machine does meets all of them alike; a plane that is not measured does next to nothing.

First the whole life, through kube-scheduler and kwok: pods bound per second at saturation, and the
processor time until they run, of the API server and of all processes of the plane. Then the steps
of a life, each by itself. Last, one pod at a time: from sending its create to the event of its open
gate.
"""

import asyncio
import os
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple

import yaml

from cardquota.install.manifests import render_policies
from cardquota.quota.vocabulary import NAMESPACE_ENFORCED, NAMESPACE_MODE
from cardquota.settings import GateSetter, Settings, Webhook
from cardquota_dev.testing import Cluster, running_plane
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team

from .bodies.pod_bodies import plain, queued, without_cards
from .figure import Figure, Report, median
from .processes.crowd import Crowd, call
from .processes.pod_price import PricedPlane, StepPrices

_ROUNDS: Final = 3
_PODS: Final = 300
_AT_A_TIME: Final = 24
_TURNS: Final = 60
_PAUSE: Final = 0.05
"""Seconds between two pods when idle: what the one before left to do is done by then."""
_PLENTY: Final = {T1000: 1_000_000}
_BARE, _ALONE, _POLICY, _WEBHOOK = "bare", "policies alone", "gate: policy", "gate: webhook"
_MODES: Final[Mapping[str, dict[str, str]]] = {
    "no label": {},
    "label enforced": {NAMESPACE_MODE: NAMESPACE_ENFORCED},
    "label off": {NAMESPACE_MODE: "off"},
}


class _Variant(NamedTuple):
    """Pods of one kind, on one plane, in namespaces with these labels."""

    plane: str
    mode: str
    managed: bool

    @property
    def said(self) -> str:
        kind = "managed pod" if self.managed else "pod without cards"
        return f"{kind}, {self.plane}" + ("" if self.plane == _BARE else f", {self.mode}")


_BARE_CARD: Final = _Variant(_BARE, "no label", managed=True)
_BARE_PLAIN: Final = _Variant(_BARE, "no label", managed=False)
_VARIANTS: Final = (
    _BARE_CARD,
    *(_Variant(plane, "no label", managed=True) for plane in (_POLICY, _WEBHOOK)),
    _BARE_PLAIN,
    _Variant(_ALONE, "no label", managed=False),
    *(_Variant(_POLICY, mode, managed=False) for mode in _MODES),
    _Variant(_WEBHOOK, "no label", managed=False),
)

_FIRST: Final = {True: _BARE_CARD, False: _BARE_PLAIN}
"""What others are held against."""
_RATES: Final = {(_POLICY, True): 0.65, (_WEBHOOK, True): 0.55, (_POLICY, False): 0.97}
_PRICES: Final = {True: 1.5, False: 1.05}


class _Life(NamedTuple):
    rate: float
    """Pods bound per second."""
    price: float
    """Milliseconds of the API server's processor time, from create until the pod runs."""
    all: float
    """The same of all processes of the plane."""


def run(report: Report) -> None:
    """All figures."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as folder, _planes(Path(folder)) as clusters:
        for cluster in clusters.values():
            add_roomy_nodes(cluster)
        clusters[_ALONE].apply(render_policies(Settings(webhook=Webhook(gate=GateSetter.POLICY))))
        asyncio.run(_measure(clusters, report))
    report(Figure("load average after", os.getloadavg()[0], ""))


@contextmanager
def _planes(folder: Path) -> Iterator[dict[str, Cluster]]:
    by_policy = folder / "policy.yaml"
    by_policy.write_text(yaml.safe_dump({"webhook": {"gate": "policy"}}))
    options: dict[str, dict[str, Any]] = {
        _BARE: {"replicas": 0},
        _ALONE: {"replicas": 0},
        _POLICY: {"config": by_policy},
        _WEBHOOK: {},
    }
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(running_plane(folder / f"plane-{number}", **some))
            for number, (name, some) in enumerate(options.items())
        }


async def _measure(clusters: Mapping[str, Cluster], report: Report) -> None:
    async with AsyncExitStack() as stack:
        planes = {
            name: PricedPlane(cluster, await stack.enter_async_context(Crowd(cluster)))
            for name, cluster in clusters.items()
        }
        await _lives(planes, report)
        await _steps(planes, report)
        await _idle(planes, report)


def _by_turns(number: int) -> tuple[_Variant, ...]:
    return _VARIANTS if number % 2 == 0 else _VARIANTS[::-1]


async def _lives(planes: Mapping[str, PricedPlane], report: Report) -> None:
    found: dict[_Variant, list[_Life]] = {variant: [] for variant in _VARIANTS}
    for number in range(_ROUNDS):
        for variant in _by_turns(number):
            name = f"life-{_VARIANTS.index(variant)}-{number}"
            found[variant].append(await _life(planes[variant.plane], variant, name))
    for variant, lives in found.items():
        report(median(f"{variant.said}: created to bound", [one.rate for one in lives], "/s"))
        prices = [one.price for one in lives]
        report(median(f"{variant.said}: API server, until it runs", prices, "ms"))
        prices = [one.all for one in lives]
        report(median(f"{variant.said}: all processes, until it runs", prices, "ms"))
    for variant, lives in found.items():
        first = found[_FIRST[variant.managed]]
        if lives is first:
            continue
        rates = [one.rate / other.rate for one, other in zip(lives, first, strict=True)]
        bound = _RATES.get((variant.plane, variant.managed))
        report(median(f"{variant.said}: rate against bare", rates, "", bound, "at least"))
        prices = [one.price / other.price for one, other in zip(lives, first, strict=True)]
        bound = _PRICES[variant.managed]
        report(median(f"{variant.said}: API server against bare", prices, "", bound))


async def _life(plane: PricedPlane, variant: _Variant, name: str) -> _Life:
    crowd, pods = plane.crowd, await plane.crowd.make_namespace(name, _MODES[variant.mode])
    queue = ""
    if variant.managed and variant.plane != _BARE:
        queue = Team(plane.cluster, name, name).has_queue(_PLENTY)
    names = [f"p{i}" for i in range(_PODS)]
    calls = [call("POST", pods, _body(one, variant, queue)) for one in names]
    async with crowd.watching(pods) as watch:
        begun, paid, all_paid = monotonic(), plane.paid(_PODS), plane.all_paid(_PODS)
        await crowd.send_all(calls, _AT_A_TIME)
        await watch.until(lambda: len(watch.running) == _PODS, "all running")
        price, whole = plane.paid(_PODS) - paid, plane.all_paid(_PODS) - all_paid
        rate = _PODS / (max(watch.bound.values()) - begun)
    await crowd.clear(pods)
    return _Life(rate, price, whole)


def _body(name: str, variant: _Variant, queue: str) -> dict[str, Any]:
    if not variant.managed:
        return without_cards(name)
    return queued(name, queue) if queue else plain(name)


async def _steps(planes: Mapping[str, PricedPlane], report: Report) -> None:
    found: dict[_Variant, list[StepPrices]] = {variant: [] for variant in _VARIANTS}
    for number in range(_ROUNDS):
        for variant in _by_turns(number):
            plane, labels = planes[variant.plane], _MODES[variant.mode]
            name = f"step-{_VARIANTS.index(variant)}-{number}"
            gated = variant.managed and variant.plane != _BARE
            one = await plane.steps(name, labels, of_cards=variant.managed, managed=gated)
            found[variant].append(one)
    for variant, prices in found.items():
        for step in StepPrices._fields:
            figures = [getattr(one, step) for one in prices]
            report(median(f"{variant.said}: {step}", figures, "ms"))


async def _idle(planes: Mapping[str, PricedPlane], report: Report) -> None:
    """A pod is created once the one before runs: nothing else is to be done."""
    managed = {name: planes[name] for name in (_POLICY, _WEBHOOK)}
    times: dict[str, list[float]] = {name: [] for name in managed}
    async with AsyncExitStack() as stack:
        ways = {}
        for number, (name, plane) in enumerate(managed.items()):
            pods = await plane.crowd.make_namespace(f"idle-{number}", {})
            queue = Team(plane.cluster, f"idle-{number}", f"idle-{number}").has_queue(_PLENTY)
            watch = await stack.enter_async_context(plane.crowd.watching(pods))
            ways[name] = (plane.crowd, pods, queue, watch)
        for turn in range(_TURNS):
            for name, (crowd, pods, queue, watch) in ways.items():
                begun = monotonic()
                await crowd.send(call("POST", pods, queued(f"p{turn}", queue)))
                await watch.until(lambda w=watch, p=f"p{turn}": p in w.running, "running")
                times[name].append(1000 * (watch.opened[f"p{turn}"] - begun))
                await asyncio.sleep(_PAUSE)
    for name, found in times.items():
        low, middle, high = statistics.quantiles(found, n=4)
        what = f"one pod, {name}: create to open gate"
        report(Figure(what, middle, "ms", 15, low=low, high=high))
