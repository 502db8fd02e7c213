"""1,000 scale requests a second over TLS, and what a pod waits for its answer meanwhile.

They come at an even pace, whether or not those before them were answered, over at most 200
connections: as many changes as the API server works on at a time. They are of 100 Deployments of
one namespace and queue with 2,000 pods, of which one comes or goes a hundred times a second, so
that what was counted is soon old; every other one asks for far more than fits. Server and client
share the machine.
"""

import asyncio
import gc
import ssl
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import aiohttp

from builders.certificates import issue
from cardquota_dev.plane.ports import free_ports

from ..bodies.job_pod import create_review
from ..bodies.workload_bodies import scale_review
from ..figure import Figure, Report, median
from ..processes.admission_process import DEPLOYMENTS, FEW, PRODUCTS, queue_with
from ..processes.child import Child

_SCALES: Final = 1_000
"""A second."""
_PODS: Final = 50
"""The same."""
_AT_ONCE: Final = 200
"""The API server's default for requests that change something."""
_SECONDS: Final = 3
_ROUNDS: Final = 5
_HAS: Final = 20
_FAR_MORE: Final = 1_000_000
_TIMEOUT: Final = 10.0
"""Seconds: ours of the webhooks."""


class _Answer(NamedTuple):
    """Of one review."""

    seconds: float
    code: str
    """yes, no, or later."""


class _FloodRound(NamedTuple):
    alone: list[_Answer]
    """To pods, before."""
    scales: list[_Answer]
    beside: list[_Answer]
    """To pods, meanwhile."""
    cpu: float
    """Seconds of the server, for all but `alone`."""


def run(report: Report) -> None:
    """Five rounds; figures are their medians."""
    with tempfile.TemporaryDirectory(prefix="cardquota-bench-") as scratch:
        folder = Path(scratch)
        keys = issue(["127.0.0.1"], now=datetime.now(UTC), days=1)
        files = (folder / "certificate.pem", folder / "key.pem")
        for file, content in zip(files, (keys.cert_pem, keys.key_pem), strict=True):
            file.write_bytes(content)
        (port,) = free_ports(1)
        module = "bench.processes.admission_process"
        command = [sys.executable, "-m", module, str(port), *map(str, files), "busy"]
        with Child(command, folder / "ours.log") as child:
            child.says()
            tls = ssl.create_default_context(cadata=keys.ca_pem.decode())
            asyncio.run(_measure(report, f"https://127.0.0.1:{port}", tls, child))


async def _measure(report: Report, url: str, tls: ssl.SSLContext, child: Child) -> None:
    async with _client(tls, _AT_ONCE) as many, _client(tls) as other:
        pod = create_review(queue_with(FEW), PRODUCTS[0], named=True)

        async def ask(client: aiohttp.ClientSession, path: str, body: bytes) -> _Answer:
            begun = time.perf_counter()
            async with client.post(f"{url}{path}", data=body) as reply:
                text = await reply.read()
            if reply.status != 200:
                raise RuntimeError(f"{url}: {reply.status} {text!r}")
            code = "yes" if b'"allowed":true' in text else "no"
            if b"retryAfterSeconds" in text:
                code = "later"
            return _Answer(time.perf_counter() - begun, code)

        def scale(number: int) -> bytes:
            wanted = _FAR_MORE if number % 2 else _HAS + 1
            return scale_review(number % DEPLOYMENTS, wanted, now=_HAS)

        rounds = []
        gc.disable()
        for _ in range(_ROUNDS):
            gc.collect()
            alone = await _paced(lambda _: ask(other, "/mutate/", pod), _PODS, 1)
            cpu = child.cpu()
            scales, beside = await asyncio.gather(
                _paced(lambda n: ask(many, "/validate/", scale(n)), _SCALES, _SECONDS),
                _paced(lambda _: ask(other, "/mutate/", pod), _PODS, _SECONDS),
            )
            rounds.append(_FloodRound(alone, scales, beside, child.cpu() - cpu))
        gc.enable()
    _tell(report, rounds)


def _client(tls: ssl.SSLContext, connections: int = 0) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(ssl=tls, limit=connections)
    headers = {"Content-Type": "application/json"}
    return aiohttp.ClientSession(connector=connector, headers=headers)


def _tell(report: Report, rounds: list[_FloodRound]) -> None:
    codes = Counter(answer.code for one in rounds for answer in one.scales)
    total = sum(codes.values())
    for code, what in (("yes", "granted"), ("no", "refused"), ("later", "told to try again")):
        report(Figure(f"scale requests {what}, of all", codes[code] / total, ""))
    cpu = [one.cpu / len(one.scales) * 1e6 for one in rounds]
    report(median("processor time of the server, for each", cpu, "us"))
    for hundredths in (50, 99):
        found = [_quantile(one.scales, hundredths) for one in rounds]
        report(median(f"p{hundredths} of a scale request", found, "ms"))
    slowest = [max(answer.seconds for answer in one.scales) * 1e3 for one in rounds]
    report(median("the slowest of them", slowest, "ms", _TIMEOUT * 1e3))
    before, meanwhile = [one.alone for one in rounds], [one.beside for one in rounds]
    for what, answers in (("before", before), ("meanwhile", meanwhile)):
        for hundredths in (50, 99):
            found = [_quantile(one, hundredths) for one in answers]
            report(median(f"p{hundredths} of a pod's review, {what}", found, "ms"))


def _quantile(answers: list[_Answer], hundredths: int) -> float:
    """Milliseconds."""
    return statistics.quantiles([a.seconds for a in answers], n=100)[hundredths - 1] * 1e3


async def _paced(
    ask: Callable[[int], Coroutine[Any, Any, _Answer]], rate: int, seconds: int
) -> list[_Answer]:
    """As many a second, whether or not those before them were answered."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with asyncio.TaskGroup() as group:
        tasks = []
        for number in range(rate * seconds):
            if (wait := begun + number / rate - loop.time()) > 0:
                await asyncio.sleep(wait)
            tasks.append(group.create_task(ask(number)))
    return [task.result() for task in tasks]
