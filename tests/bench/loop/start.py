"""From nothing to ready with 100,000 pods: the real `cardquota run`, before a fake API server.

The process is started as in a container and asked for `/readyz` every 20 ms. The fake API server
(`fake_api`) is a process of its own on the same machine, so its work, shown apart, is part of the
time where there are few cores. Each round checks the sums on `/metrics` against what the
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
_SAMPLE: Final = re.compile(r"^(cardquota_\w+)(?:\{.*\})? (\S+)$", re.MULTILINE)


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
        sums = _sums(f"{page}/metrics")
        _check(sums)
        _until(product, f"{page}/metrics", "cardquota_leader 1.0")
        time.sleep(_AT_WORK)
        leading = product.memory()
        _check(_sums(f"{page}/metrics"))
        if (code := product.end()) != 0:
            raise RuntimeError(f"it ended with {code}: {product.last_words()}")
    known, gated = (sums[f"cardquota_{name}"] for name in ("queue_card_requested", "gated_pods"))
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


def _sums(url: str) -> dict[str, float]:
    """Of each metric, over all queues and cards."""
    found: dict[str, float] = {}
    for name, value in _SAMPLE.findall(_page(url)):
        found[name] = found.get(name, 0.0) + float(value)
    return found


def _check(sums: dict[str, float]) -> None:
    """Raise unless it knows all that the cluster was made to hold."""
    tens = PODS // big_cluster.TEN
    every = {"queue_card_quota": 9, "queue_card_allocated": 8, "queue_card_inqueue": 1}
    every |= {"queue_card_requested": big_cluster.TEN, "gated_pods": 1, "unadmitted_pods": 0}
    wanted = {f"cardquota_{name}": number * tens for name, number in every.items()}
    nodes = big_cluster.NODES * big_cluster.PER_NODE
    wanted |= {"cardquota_cluster_card_allocatable": nodes, "cardquota_ledger_drift": 0}
    wanted |= {"cardquota_uncounted_nodes": 0, "cardquota_undecodable_objects": 0}
    wrong = {name: sums.get(name) for name, value in wanted.items() if sums.get(name, 0) != value}
    if wrong:
        raise RuntimeError(f"it says {wrong}, not {wanted}")
