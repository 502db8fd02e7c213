"""However much is sent at once, a replica stays far below its memory limit, and answers others.

On three ways: creates that the API server asks about, and connections of whoever reaches the port,
with half a body each or with nothing at all.
"""

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from chaos.api import Api
from harness.floods import MIB, Peak, connections, half_a_body, limited, whole

from .running import OperatorProcess, install_base, running

pytestmark = [
    pytest.mark.plane,
    pytest.mark.disruptive,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:Sending a large body"),
]

LIMIT = 300 * MIB
"""Half of what the manifests give the container."""
GROWS = 150 * MIB
"""At most, under all of them at once."""
PODS = "/api/v1/namespaces/default/pods?dryRun=All"
CREATES, SCRAPES = 20, 250
LARGE = 1_400_000
READ = "at most <524288> are read"
BUSY = "too many requests"
"""What the API server makes of our 429: the bodies in work have a budget."""
PATIENCE = 5.0
"""Seconds for an answer: as long as the API server waits for one."""


@pytest.fixture(scope="module", name="operator")
def an_operator(
    bare: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OperatorProcess]:
    install_base(bare)
    folder = tmp_path_factory.mktemp("memory") / "operator"
    with running(bare, folder, {}) as found, limited(found.process.pid, LIMIT) as real:
        assert real or os.getuid(), "root can make a cgroup"
        yield found


def a_pod(name: str, size: int, *, queue: str | None = "nobody-knows") -> dict[str, object]:
    notes = {} if queue is None else {v.QUEUE_NAME: queue}
    asks = {"limits": {"nvidia.com/gpu": "1"}}
    text = [{"name": f"e{n}", "value": "x" * 100_000} for n in range(size // 100_000)]
    container = {"name": "c", "image": "i", "resources": asks, "env": text}
    return {"metadata": {"name": name, "annotations": notes}, "spec": {"containers": [container]}}


async def dry_runs(api: Api, size: int) -> Counter[str]:
    """How all the creates at once were answered: by its beginning, or the whole of what is new."""
    pods = [a_pod(f"p{n}", size) for n in range(CREATES)]
    replies = await asyncio.gather(*(api.create(PODS, pod) for pod in pods))
    return Counter(
        next((known for known in (READ, BUSY) if known in reply.message), reply.message)
        for reply in replies
    )


async def honest(api: Api) -> float:
    """Seconds until a small pod has our answer: there is no queue of this name."""
    began = time.monotonic()
    reply = await api.create(PODS, a_pod("honest", 0))
    assert reply.code == 403, reply.message
    assert "Queue <nobody-knows> does not exist" in reply.message
    return time.monotonic() - began


def path_of(cluster: Cluster) -> str:
    """Of the webhook of pods, as the API server calls it."""
    where = "jsonpath={.webhooks[0].clientConfig.url}"
    done = cluster.kubectl("get", "mutatingwebhookconfiguration", "cardquota", "-o", where)
    return urlsplit(done.stdout).path


def a_review(size: int) -> bytes:
    """Of a pod in a namespace that nobody has seen: its answer waits."""
    request = {
        "uid": "u",
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "namespace": "not-seen",
        "object": a_pod("p", size),
    }
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(body).encode()


def test_large_creates_at_once(bare: Cluster, operator: OperatorProcess) -> None:
    """Those that are too large are refused with the sentence, unless they are none of ours."""
    peak = Peak(operator.process.pid)

    async def flood() -> Counter[str]:
        async with Api(bare.kubeconfig) as api:
            answers = await dry_runs(api, LARGE)
            reply = await api.create(PODS, a_pod("large", LARGE))
            assert READ in reply.message
            reply = await api.create(PODS, a_pod("others", LARGE, queue=None))
            assert reply.code == 201, reply.message
        return answers

    answers = asyncio.run(flood())
    assert set(answers) <= {READ, BUSY}, answers
    assert answers[READ]
    assert peak.grown < GROWS


FLOODS: dict[str, tuple[int, Callable[[str], bytes]]] = {
    "idle": (1_500, lambda _: b""),
    "unfinished": (90, lambda path: half_a_body(path, 4_000_000)),
    "nowhere": (400, lambda _: half_a_body("/", 60_000)),
    "large": (300, lambda path: whole(path, a_review(LARGE))),
    "waiting": (300, lambda path: whole(path, a_review(400_000))),
}


@pytest.mark.parametrize("name", FLOODS)
def test_connections_of_strangers(bare: Cluster, operator: OperatorProcess, name: str) -> None:
    peak = Peak(operator.process.pid)
    number, sent = FLOODS[name]

    async def flood() -> None:
        body = sent(path_of(bare))
        async with Api(bare.kubeconfig) as api, connections(operator.webhook_port, number, body):
            assert await honest(api) < PATIENCE

    asyncio.run(flood())
    assert peak.grown < GROWS
    assert operator.process.poll() is None


def test_all_of_them_at_once(bare: Cluster, operator: OperatorProcess) -> None:
    peak, path = Peak(operator.process.pid), path_of(bare)

    async def flood() -> None:
        async with Api(bare.kubeconfig) as api, AsyncExitStack() as floods:
            await asyncio.gather(
                *(
                    floods.enter_async_context(
                        connections(operator.webhook_port, min(number, 400), sent(path))
                    )
                    for number, sent in FLOODS.values()
                )
            )
            await honest(api)

    asyncio.run(flood())
    assert peak.grown < GROWS
    assert operator.process.poll() is None


def test_scrapes_hold_up_nobody(bare: Cluster, operator: OperatorProcess) -> None:
    """250 connections that do nothing else: the leader leads on, and creates are answered."""
    operator.until_leading()
    term = operator.get("/readyz")
    url = f"http://127.0.0.1:{operator.metrics_port}/metrics"

    async def scrape(api: Api, until: float) -> None:
        while time.monotonic() < until:
            await api.ask("GET", url, timeout=10)

    async def flood() -> list[float]:
        async with Api(bare.kubeconfig) as api, Api(bare.kubeconfig) as other:
            until = time.monotonic() + 6
            scrapes = [asyncio.create_task(scrape(other, until)) for _ in range(SCRAPES)]
            try:
                return [await honest(api) for _ in range(10)]
            finally:
                await asyncio.gather(*scrapes)

    assert max(asyncio.run(flood())) < PATIENCE
    assert operator.get("/readyz") == term
