"""One mutating review over TLS: our admission server against a constant answer from aiohttp.

Both are processes of their own on 127.0.0.1 and are driven at 100 reviews a second over kept
connections, as the API server does, in turns of one second. What is compared is the processor
time of the server's process in its turns, less what it takes while nobody asks. Latencies are the
client's, from sending to the last byte of the answer, with the client's own work in them.
"""

import asyncio
import gc
import json
import os
import ssl
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import aiohttp

from builders.certificates import issue
from cardquota.quota import GATE
from cardquota_dev.plane.ports import free_ports

from ..bodies.job_pod import UID, create_review
from ..figure import Figure, Report, median
from ..processes.admission_process import FEW, MANY, PRODUCTS, queue_with
from ..processes.child import Child

RATE: Final = 100
"""Reviews a second."""
_ROUNDS: Final = 5
_TURNS: Final = 4
"""Of one second each, per round and contestant."""
_PATIENCE: Final = 30.0
_PATCH: Final = [{"op": "add", "path": "/spec/schedulingGates", "value": [{"name": GATE}]}]


@dataclass(slots=True)
class _Contestant:
    """One server with one body, and what it took in the turns of this round."""

    child: Child
    url: str
    body: bytes
    cpu: float = 0.0
    latencies: list[float] = field(default_factory=list)

    def percreate_review(self, idle: float) -> float:
        """Microseconds of processor time; `idle`: seconds it takes in a second of its own."""
        return (self.cpu - idle * _TURNS) / len(self.latencies) * 1e6

    def quantile(self, hundredths: int) -> float:
        """Milliseconds."""
        return statistics.quantiles(self.latencies, n=100)[hundredths - 1] * 1e3


def run(report: Report) -> None:
    """Five rounds; figures are their medians."""
    report(Figure("load of the machine over the last minute, before", os.getloadavg()[0], ""))
    with tempfile.TemporaryDirectory(prefix="cardquota-bench-") as scratch, ExitStack() as stack:
        folder = Path(scratch)
        keys = issue(["127.0.0.1"], now=datetime.now(UTC), days=1)
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        certificate.write_bytes(keys.cert_pem)
        key.write_bytes(keys.key_pem)
        port, constant_port = free_ports(2)
        files = [str(certificate), str(key)]
        module = [sys.executable, "-m", "bench.processes.admission_process", str(port), *files]
        ours = stack.enter_context(Child(module, folder / "ours.log"))
        constant = stack.enter_context(_constant(constant_port, files, folder))
        ours.says()
        url = f"https://127.0.0.1:{port}/mutate/"
        few, many = queue_with(FEW), queue_with(MANY)
        contestants = {
            "ours": _Contestant(ours, url, create_review(few, PRODUCTS[0], named=True)),
            "constant": _Contestant(
                constant,
                f"https://127.0.0.1:{constant_port}/mutate",
                create_review(few, PRODUCTS[0], named=True),
            ),
            "many": _Contestant(ours, url, create_review(many, PRODUCTS[0], named=True)),
            "few unnamed": _Contestant(ours, url, create_review(few, PRODUCTS[0], named=False)),
            "many unnamed": _Contestant(ours, url, create_review(many, PRODUCTS[0], named=False)),
        }
        found = asyncio.run(
            _drive(contestants, ssl.create_default_context(cadata=keys.ca_pem.decode()))
        )
    _tell(report, found, len(contestants["ours"].body))
    report(Figure("load of the machine over the last minute, after", os.getloadavg()[0], ""))


def _constant(port: int, files: list[str], folder: Path) -> Child:
    command = [sys.executable, "-m", "bench.processes.constant_webhook", str(port), *files]
    return Child([*command, json.dumps(_PATCH)], folder / "constant.log")


def _tell(report: Report, found: dict[str, list[float]], size: int) -> None:
    def ratios(one: str, other: str) -> list[float]:
        return [a / b for a, b in zip(found[one], found[other], strict=True)]

    report(Figure("size of a review's body", size / 1e3, "kB"))
    report(median("processor time of a review, ours", found["ours"], "us"))
    report(median("processor time of a review, constant answer", found["constant"], "us"))
    report(median("ours against the constant answer", ratios("ours", "constant"), "", 1.3))
    report(median("p50 of ours", found["ours p50"], "ms"))
    report(median("p99 of ours", found["ours p99"], "ms", 10))
    report(median("p50 of the constant answer", found["constant p50"], "ms"))
    report(median("p99 of the constant answer", found["constant p99"], "ms"))
    what = f"{MANY:,} rows in the quota against {FEW}"
    report(median(f"{what}, card named", ratios("many", "ours"), "", 1.2))
    report(median(f"{what}, no card named", ratios("many unnamed", "few unnamed"), "", 1.2))
    report(median(f"processor time, {FEW} rows, no card named", found["few unnamed"], "us"))
    report(median(f"processor time, {MANY:,} rows, no card named", found["many unnamed"], "us"))


async def _drive(
    contestants: dict[str, _Contestant], tls: ssl.SSLContext
) -> dict[str, list[float]]:
    """Per contestant the processor time of a review in each round, and some latencies."""
    found: dict[str, list[float]] = defaultdict(list)
    async with _client(tls) as client:
        for contestant in contestants.values():
            await _first(client, contestant)
            await _turn(client, contestant, 1)
        # The client's own collector would show up in the latencies of the servers.
        gc.collect()
        gc.disable()
        try:
            for number in range(_ROUNDS):
                await _round(client, contestants, found, number)
        finally:
            gc.enable()
    return found


async def _round(
    client: aiohttp.ClientSession,
    contestants: dict[str, _Contestant],
    found: dict[str, list[float]],
    number: int,
) -> None:
    children = {id(c.child): c.child for c in contestants.values()}
    before = {key: child.cpu() for key, child in children.items()}
    await asyncio.sleep(1.0)
    idle = {key: child.cpu() - before[key] for key, child in children.items()}
    for contestant in contestants.values():
        contestant.cpu = 0.0
        contestant.latencies.clear()
    names = list(contestants)
    for turn in range(_TURNS):
        # Nobody always comes after the same neighbour's first request.
        first = (number + turn) % len(names)
        for name in names[first:] + names[:first]:
            await _turn(client, contestants[name], 1)
    for name, contestant in contestants.items():
        found[name].append(contestant.percreate_review(idle[id(contestant.child)]))
        for hundredths in (50, 99):
            found[f"{name} p{hundredths}"].append(contestant.quantile(hundredths))


async def _turn(client: aiohttp.ClientSession, contestant: _Contestant, seconds: int) -> None:
    """Reviews at an even pace, whether or not those before them were answered."""
    loop = asyncio.get_running_loop()
    before, begun = contestant.child.cpu(), loop.time()
    async with asyncio.TaskGroup() as group:
        for number in range(RATE * seconds):
            await asyncio.sleep(begun + number / RATE - loop.time())
            uid = f"{time.monotonic_ns():032x}"
            body = contestant.body.replace(UID.encode(), uid.encode())
            group.create_task(_ask(client, contestant, uid, body))
    contestant.cpu += contestant.child.cpu() - before


async def _ask(
    client: aiohttp.ClientSession, contestant: _Contestant, uid: str, body: bytes
) -> None:
    begun = time.perf_counter()
    async with client.post(contestant.url, data=body) as answer:
        text = await answer.read()
    contestant.latencies.append(time.perf_counter() - begun)
    # The gate was added, in answer to this very review.
    if answer.status != 200 or uid.encode() not in text or b'"patch":' not in text:
        raise RuntimeError(f"{contestant.url}: {answer.status} {text!r}")


async def _first(client: aiohttp.ClientSession, contestant: _Contestant) -> None:
    """Wait until it answers."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            await _ask(client, contestant, UID, contestant.body)
        except aiohttp.ClientConnectionError:
            if time.monotonic() > deadline:
                raise RuntimeError(f"never served: {contestant.child.last_words()}") from None
            await asyncio.sleep(0.1)
        else:
            return


@asynccontextmanager
async def _client(tls: ssl.SSLContext) -> AsyncIterator[aiohttp.ClientSession]:
    connector = aiohttp.TCPConnector(ssl=tls, keepalive_timeout=_PATIENCE * 10)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    async with aiohttp.ClientSession(
        connector=connector, headers=headers, cookie_jar=aiohttp.DummyCookieJar()
    ) as client:
        yield client
