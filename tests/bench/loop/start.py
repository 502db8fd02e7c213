"""From nothing to ready with 100,000 pods: the real `cardquota run`, before a fake API server.

The process is started as in a container and asked for `/readyz` every 20 ms. The fake API server
(`fake_api`) is a process of its own on the same machine, so its work, shown apart, is part of the
time where there are few cores. Each round checks every card number on `/metrics` against what the
cluster was made to hold: a process that knew fewer pods could not pass. Nothing is left to decide
afterwards: all queues are full.
"""

import json
import os
import re
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cardquota_dev.plane.ports import free_ports

from ..bodies import big_cluster
from ..figure import Figure, Report, median
from ..processes.child import Child, Memory

PODS: Final = 100_000
_ROUNDS: Final = 3
_PATIENCE: Final = 120.0
_POLL: Final = 0.02
_AT_WORK: Final = 10.0
"""Seconds from leading to the last look: Kopf has started and every queue's status is written."""
_IMPORTS: Final = """
import cardquota.cli.app, cardquota.runtime.run, sys
print("there", flush=True)
sys.stdin.read()
"""
_SAMPLE: Final = re.compile(r"^(cardquota_\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')
Sample = tuple[str, str, str]
"""A metric with its queue and its card, or its kind of object; empty where it has none."""


@dataclass(frozen=True, slots=True)
class _Round:
    seconds: float
    cpu: float
    fake_cpu: float
    ready: Memory
    leading: Memory
    known: float
    gated: float


def run(report: Report) -> None:
    """Three starts; figures are their medians."""
    with tempfile.TemporaryDirectory(prefix="cardquota-bench-") as scratch:
        folder = Path(scratch)
        report(Figure("load of the machine over the last minute, before", os.getloadavg()[0], ""))
        imports = [_imports(folder) for _ in range(_ROUNDS)]
        fake_command = [sys.executable, "-m", "bench.processes.fake_api", scratch, str(PODS)]
        with Child(fake_command, folder / "fake.log") as fake:
            fake.says()
            rounds = [_start(folder, fake) for _ in range(_ROUNDS)]
    report(Figure("pods known when ready, by /metrics", min(r.known for r in rounds), ""))
    report(Figure("of these waiting at the gate", min(r.gated for r in rounds), ""))
    report(median("process start to /readyz 200", [r.seconds for r in rounds], "s", 15))
    report(median("its processor time until then", [r.cpu for r in rounds], "s"))
    report(median("the fake API server's until then", [r.fake_cpu for r in rounds], "s"))
    report(median("memory when ready", [r.ready.resident for r in rounds], "MB", 300))
    report(median("memory once it leads", [r.leading.resident for r in rounds], "MB", 300))
    report(median("most memory ever", [r.leading.peak for r in rounds], "MB"))
    report(median("memory of the imports alone", imports, "MB"))
    report(Figure("load of the machine over the last minute, after", os.getloadavg()[0], ""))


def _imports(folder: Path) -> float:
    """Resident memory of a process with the same modules that does nothing, MB."""
    with Child([sys.executable, "-c", _IMPORTS], folder / "imports.log") as idle:
        idle.says()
        return idle.memory().resident


def _start(folder: Path, fake: Child) -> _Round:
    """One life of the process, from its start to an orderly end."""
    metrics, webhook = free_ports(2)
    config = folder / "config.json"
    host = "127.0.0.1"
    settings = {
        "webhook": {"host": host, "port": webhook, "url": f"https://{host}:{webhook}"},
        "metrics": {"host": host, "port": metrics},
    }
    config.write_text(json.dumps(settings))
    fake_before = fake.cpu()
    command = [sys.executable, "-m", "cardquota.cli", "run", "--config", str(config)]
    env = {"KUBECONFIG": str(folder / "kubeconfig"), "PYTHONPATH": ""}
    with Child(command, folder / "product.log", env=env) as product:
        page = f"http://{host}:{metrics}"
        _until(product, f"{page}/readyz", "ok")
        seconds = time.monotonic() - product.began
        cpu, fake_cpu, ready = product.cpu(), fake.cpu() - fake_before, product.memory()
        samples = _samples(f"{page}/metrics")
        _check(samples)
        _until(product, f"{page}/metrics", "cardquota_leader 1.0")
        time.sleep(_AT_WORK)
        leading = product.memory()
        _check(_samples(f"{page}/metrics"))
        if (code := product.end()) != 0:
            raise RuntimeError(f"it ended with {code}: {product.last_words()}")
    known, gated = (_sum(samples, f"cardquota_{m}") for m in ("queue_card_requested", "gated_pods"))
    return _Round(seconds, cpu, fake_cpu, ready, leading, known, gated)


def _until(product: Child, url: str, text: str) -> None:
    """Return once the page is there and holds the text."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if product.ended:
            break
        try:
            if text in _page(url):
                return
        except OSError:  # not listening yet, or 503
            pass
        time.sleep(_POLL)
    raise RuntimeError(f"{url} never said {text!r}: {product.last_words()}")


def _page(url: str) -> str:
    with urllib.request.urlopen(url, timeout=_PATIENCE) as answer:  # noqa: S310
        return str(answer.read().decode())


def _samples(url: str) -> dict[Sample, float]:
    found: dict[Sample, float] = {}
    for name, labels, value in _SAMPLE.findall(_page(url)):
        of: dict[str, str] = dict(_LABEL.findall(labels))
        found[name, of.get("queue", ""), of.get("card") or of.get("kind", "")] = float(value)
    return found


def _sum(samples: dict[Sample, float], metric: str) -> float:
    return sum(value for (name, _, _), value in samples.items() if name == metric)


def _check(samples: dict[Sample, float]) -> None:
    """Raise unless every number is what the cluster was made to hold."""
    tens = big_cluster.tens_in(PODS)
    per_card = {
        "quota": tens * 9,
        "allocated": tens * 8,
        "inqueue": tens,
        "requested": tens * 10,
        "elastic": 0,
    }
    cards = [big_cluster.card(product) for product in big_cluster.PRODUCTS]
    queues = [big_cluster.queue_name(number) for number in range(big_cluster.QUEUES)]
    wanted: dict[Sample, float] = {
        (f"cardquota_queue_card_{total}", queue, card): value
        for queue in queues
        for card in cards
        for total, value in per_card.items()
    }
    for queue in queues:
        wanted["cardquota_gated_pods", queue, ""] = tens * len(cards)
        wanted["cardquota_unadmitted_pods", queue, ""] = 0
    nodes = big_cluster.NODES // len(cards)
    for card in cards:
        wanted["cardquota_cluster_card_allocatable", "", card] = nodes * big_cluster.PER_NODE
    wanted["cardquota_ledger_drift", "", ""] = wanted["cardquota_uncounted_nodes", "", ""] = 0
    wanted["cardquota_namespaces_with_unknown_mode", "", ""] = 0
    wrong = {key: (samples.get(key), value) for key, value in wanted.items()}
    wrong = {key: pair for key, pair in wrong.items() if pair[0] != pair[1]}
    undecodable = _sum(samples, "cardquota_undecodable_objects_total")
    if wrong or undecodable:
        shown = list(wrong.items())[:5]
        raise RuntimeError(f"{len(wrong)} numbers differ, {undecodable:g} undecodable: {shown}")
