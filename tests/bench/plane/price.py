"""What a pod costs the API server, against one of a plane that has nothing of ours.

Five planes run at the same time: a bare one, one with our policies and nothing else of ours, one
for each way to set the gate, and one where the namespaces of the pods are not covered. A plane that
is not measured does next to nothing. Each slice of a life stands between two of the bare plane, and
is held against their mean: a shared machine may be twice as fast a minute later.

First the whole life, through kube-scheduler and kwok: pods bound per second at saturation, and the
processor time until they run, of the API server and of all processes of the plane. What the API
server allocates meanwhile is told beside: it says the same of work, and does not depend on how fast
the machine is. Then one pod at a time: from sending its create to the event of its open gate.
"""

import asyncio
import os
import re
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple

import yaml

from builders.rendered import render_policies
from cardquota.quota import NAMESPACE_ENFORCED, NAMESPACE_MODE
from cardquota.settings import GateSetter, Settings, Webhook
from cardquota_dev.testing import Cluster, running_plane
from integration.roomy_nodes import T1000, add_roomy_nodes
from integration.team import Team

from ..bodies.pod_bodies import plain, queued, without_cards
from ..figure import Figure, Report, median
from ..processes.child import processor_time
from ..processes.crowd import Crowd, call

_ROUNDS: Final = 5
_PODS: Final = 300
_WARM: Final = 100
"""Pods that live before those that count: a plane that has rested for half a minute is slower."""
_AT_A_TIME: Final = 24
_TURNS: Final = 60
_PAUSE: Final = 0.05
"""Seconds between two pods when idle: what the one before left to do is done by then."""
_PLENTY: Final = {T1000: 1_000_000}
_BARE, _ALONE, _POLICY, _WEBHOOK = "bare", "policies alone", "gate: policy", "gate: webhook"
_LABELLED = "namespaces: labelled"
_MODES: Final[Mapping[str, dict[str, str]]] = {
    "no label": {},
    "label enforced": {NAMESPACE_MODE: NAMESPACE_ENFORCED},
    "label off": {NAMESPACE_MODE: "off"},
}


class Variant(NamedTuple):
    """Pods of one kind, on one plane, in namespaces with these labels."""

    plane: str
    mode: str
    managed: bool

    @property
    def said(self) -> str:
        kind = "managed pod" if self.managed else "pod without cards"
        return f"{kind}, {self.plane}" + ("" if self.plane == _BARE else f", {self.mode}")


_BARE_CARD: Final = Variant(_BARE, "no label", managed=True)
_BARE_PLAIN: Final = Variant(_BARE, "no label", managed=False)
VARIANTS: Final = (
    _BARE_CARD,
    *(Variant(plane, "no label", managed=True) for plane in (_POLICY, _WEBHOOK)),
    _BARE_PLAIN,
    Variant(_ALONE, "no label", managed=False),
    *(Variant(_POLICY, mode, managed=False) for mode in _MODES),
    Variant(_WEBHOOK, "no label", managed=False),
    Variant(_LABELLED, "no label", managed=False),
)

_FIRST: Final = {True: _BARE_CARD, False: _BARE_PLAIN}
"""What others are held against."""
_RATES: Final = {(_POLICY, True): 0.65, (_WEBHOOK, True): 0.55, (_POLICY, False): 0.97}
_PRICES: Final = {True: 1.5, False: 1.05}


class Life(NamedTuple):
    rate: float
    """Pods bound per second."""
    price: float
    """Milliseconds of the API server's processor time, from create until the pod runs."""
    all: float
    """The same of all processes of the plane."""
    allocated: float
    """KiB that the API server has allocated until then."""

    def against(self, *others: "Life") -> "Life":
        """Each figure as a part of the mean of the others'."""
        return Life(
            *(one / statistics.mean(many) for one, *many in zip(self, *others, strict=True))
        )


class PricedPlane:
    """One plane whose API server is measured."""

    def __init__(self, cluster: Cluster, crowd: Crowd) -> None:
        self.cluster, self.crowd = cluster, crowd
        self._pid = cluster.state.process("kube-apiserver").pid
        self._pids = [process.pid for process in cluster.state.processes]

    def paid(self, pods: int) -> float:
        """Milliseconds of processor time of the API server so far, for each of so many pods."""
        return processor_time([self._pid]) * 1e3 / pods

    def all_paid(self, pods: int) -> float:
        """The same of all processes of the plane; the product's too."""
        return processor_time(self._pids) * 1e3 / pods

    def allocated(self, pods: int) -> float:
        """KiB that the API server has allocated so far, for each of so many pods. To tell it costs
        the API server some MiB itself.
        """
        text = self.cluster.kubectl("get", "--raw", "/metrics").stdout
        found = re.search(r"^go_memstats_alloc_bytes_total (\S+)$", text, flags=re.MULTILINE)
        if found is None:
            raise RuntimeError("the API server does not say how much it has allocated")
        return float(found[1]) / 1024 / pods


def run(report: Report) -> None:
    """All figures."""
    report(Figure("load average before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory() as folder, planes(Path(folder)) as clusters:
        asyncio.run(_measure(clusters, report))
    report(Figure("load average after", os.getloadavg()[0], ""))


@contextmanager
def planes(folder: Path) -> Iterator[dict[str, Cluster]]:
    """The planes, by name, until the end."""
    by_policy = folder / "policy.yaml"
    by_policy.write_text(yaml.safe_dump({"webhook": {"gate": "policy"}}))
    labelled = folder / "labelled.yaml"
    labelled.write_text(yaml.safe_dump({"namespaces": "labelled"}))
    options: dict[str, dict[str, Any]] = {
        _BARE: {"replicas": 0},
        _ALONE: {"replicas": 0},
        _POLICY: {"config": by_policy},
        _WEBHOOK: {},
        _LABELLED: {"config": labelled},
    }
    with ExitStack() as stack:
        clusters = {
            name: stack.enter_context(running_plane(folder / f"plane-{number}", **some))
            for number, (name, some) in enumerate(options.items())
        }
        for cluster in clusters.values():
            add_roomy_nodes(cluster)
        clusters[_ALONE].apply(render_policies(Settings(webhook=Webhook(gate=GateSetter.POLICY))))
        yield clusters


async def _measure(clusters: Mapping[str, Cluster], report: Report) -> None:
    async with AsyncExitStack() as stack:
        priced = {
            name: PricedPlane(cluster, await stack.enter_async_context(Crowd(cluster)))
            for name, cluster in clusters.items()
        }
        await _lives(priced, report)
        await _idle(priced, report)


def _by_turns(number: int, variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
    return variants if number % 2 == 0 else variants[::-1]


async def _lives(planes: Mapping[str, PricedPlane], report: Report) -> None:
    found: dict[Variant, list[Life]] = {variant: [] for variant in VARIANTS}
    ratios: dict[Variant, list[Life]] = {variant: [] for variant in VARIANTS}
    names = map("life-{}".format, count())

    async def one(variant: Variant) -> Life:
        found[variant].append(await life(planes[variant.plane], variant, next(names)))
        return found[variant][-1]

    for number in range(_ROUNDS):
        for managed, first in _FIRST.items():
            others = tuple(v for v in VARIANTS if v.managed == managed and v != first)
            before = await one(first)
            for variant in _by_turns(number, others):
                between, after = await one(variant), await one(first)
                ratios[variant].append(between.against(before, after))
                before = after
    for variant, lives in found.items():
        report(median(f"{variant.said}: created to bound", [one.rate for one in lives], "/s"))
        prices = [one.price for one in lives]
        report(median(f"{variant.said}: API server, until it runs", prices, "ms"))
        prices = [one.all for one in lives]
        report(median(f"{variant.said}: all processes, until it runs", prices, "ms"))
        sizes = [one.allocated for one in lives]
        report(median(f"{variant.said}: API server allocates, until it runs", sizes, "KiB"))
    for variant, lives in ratios.items():
        if not lives:
            continue
        bound = _RATES.get((variant.plane, variant.managed))
        rates = [one.rate for one in lives]
        report(median(f"{variant.said}: rate against bare", rates, "", bound, "at least"))
        bound, prices = _PRICES[variant.managed], [one.price for one in lives]
        report(median(f"{variant.said}: API server against bare", prices, "", bound))
        prices = [one.all for one in lives]
        report(median(f"{variant.said}: all processes against bare", prices, ""))
        sizes = [one.allocated for one in lives]
        report(median(f"{variant.said}: API server allocates against bare", sizes, ""))


async def life(plane: PricedPlane, variant: Variant, name: str) -> Life:
    """The lives of some pods in a new namespace, after some that do not count."""
    pods = await plane.crowd.make_namespace(name, _MODES[variant.mode])
    queue = ""
    if variant.managed and variant.plane != _BARE:
        queue = Team(plane.cluster, name, name).has_queue(_PLENTY)
    await _live(plane, variant, pods, queue, _WARM)
    return await _live(plane, variant, pods, queue, _PODS)


async def _live(plane: PricedPlane, variant: Variant, pods: str, queue: str, many: int) -> Life:
    crowd, names = plane.crowd, [f"p{many}-{i}" for i in range(many)]
    calls = [call("POST", pods, _body(one, variant, queue)) for one in names]
    async with crowd.watching(pods) as watch:
        allocated = await asyncio.to_thread(plane.allocated, many)
        begun, paid, all_paid = monotonic(), plane.paid(many), plane.all_paid(many)
        await crowd.send_all(calls, _AT_A_TIME)
        await watch.until(lambda: len(watch.running) == many, "all running")
        price, whole = plane.paid(many) - paid, plane.all_paid(many) - all_paid
        rate = many / (max(watch.bound.values()) - begun)
        allocated = await asyncio.to_thread(plane.allocated, many) - allocated
    await crowd.clear(pods)
    return Life(rate, price, whole, allocated)


def _body(name: str, variant: Variant, queue: str) -> dict[str, Any]:
    if not variant.managed:
        return without_cards(name)
    return queued(name, queue) if queue else plain(name)


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
