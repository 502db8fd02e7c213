"""Certificates are changed under load: no create fails, no replica is started again."""

import asyncio
import base64
import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509

from builders.queue import QueueBody
from cardquota.cluster.certificates import read_certificates, trusted_through
from cardquota.quota import vocabulary as v
from cardquota_dev.plane.ports import free_ports
from cardquota_dev.plane.product.balancer import Backend, Balancer
from cardquota_dev.testing import Cluster, eventually, fresh_namespace
from harness.loop_in_thread import loop_in_thread
from harness.short_lived import nearly_ended
from integration.asking import MERGE, Object, ask, credentials
from integration.roomy_nodes import T1000
from integration.team import Team

from .running import (
    OperatorProcess,
    apply_webhooks,
    install_base,
    json_lines,
    published_ca,
    tracebacks,
)

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.long]

RATE = 40
"""Creates per second."""
SECRET = "/api/v1/namespaces/cardquota-system/secrets/cardquota-webhook"


class SteadyCreates:
    """Creates pods that are gated by the webhook, at a steady rate, and counts the answers.

    As `dryRun`: admission is all of it, and nothing has to be scheduled. Every create is reviewed
    by a mutating and a validating webhook, which fail closed.
    """

    def __init__(self, team: Team) -> None:
        self._team = team
        self.ok = 0
        self.failed: list[str] = []
        self.seconds = 0.0

    async def run(self) -> None:
        cluster, namespace = self._team.cluster, self._team.namespace
        url = f"{cluster.admin.configuration.host}/api/v1/namespaces/{namespace}/pods?dryRun=All"
        pod = json.dumps(self._team.wire(self._team.a_pod("load", 1, T1000)))
        tls = ssl.create_default_context(cafile=cluster.admin.configuration.ssl_ca_cert)
        connector = aiohttp.TCPConnector(limit=64, ssl=tls)
        headers = {"Content-Type": "application/json", **credentials(cluster)}
        slots = asyncio.Semaphore(64)
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

            async def create() -> None:
                try:
                    async with session.post(url, data=pod) as answer:
                        text = await answer.text()
                finally:
                    slots.release()
                if answer.status == 201 and v.GATE in text:
                    self.ok += 1
                else:
                    self.failed.append(f"{answer.status} {text[:300]}")

            began, count = time.monotonic(), 0
            async with asyncio.TaskGroup() as creates:
                while True:
                    count += 1
                    self.seconds = time.monotonic() - began
                    await asyncio.sleep(max(0.0, count / RATE - self.seconds))
                    await slots.acquire()
                    creates.create_task(create())


def secret(cluster: Cluster) -> dict[str, bytes]:
    reply = ask(cluster, "GET", SECRET)
    assert reply.ok, reply
    return {key: base64.b64decode(value) for key, value in reply.body["data"].items()}


def put(cluster: Cluster, values: Mapping[str, bytes | None]) -> None:
    data = {k: x if x is None else base64.b64encode(x).decode() for k, x in values.items()}
    assert ask(cluster, "PATCH", SECRET, {"data": data}, content_type=MERGE).ok


def served(operator: OperatorProcess) -> x509.Certificate:
    """What a new connection to this replica sees."""
    address = ("127.0.0.1", operator.webhook_port)
    return x509.load_pem_x509_certificate(ssl.get_server_certificate(address).encode())


def bundles(cluster: Cluster) -> list[list[x509.Certificate]]:
    """What each webhook trusts."""
    group = "/apis/admissionregistration.k8s.io/v1"
    configurations: list[Object] = [
        ask(cluster, "GET", f"{group}/{kind}webhookconfigurations/cardquota").body
        for kind in ("mutating", "validating")
    ]
    return [
        read_certificates(base64.b64decode(webhook["clientConfig"]["caBundle"]))
        for configuration in configurations
        for webhook in configuration["webhooks"]
    ]


@contextmanager
def two_replicas(
    cluster: Cluster, folder: Path, loop: asyncio.AbstractEventLoop
) -> Iterator[list[OperatorProcess]]:
    """Behind a balancer, as behind a Service; both ready, and trusted."""
    assert cluster.folder is not None
    front = free_ports(1)[0]
    operators = []
    for number in range(2):
        (own := folder / str(number)).mkdir()
        operators.append(OperatorProcess(own, cluster.folder.product_kubeconfig, front=front))
    install_base(cluster)
    apply_webhooks(cluster, operators[0])
    ready = [f"http://127.0.0.1:{one.metrics_port}/readyz" for one in operators]
    ports = [one.webhook_port for one in operators]
    balancer = Balancer(list(map(Backend, ports, ready)))
    with ExitStack() as stack:
        asyncio.run_coroutine_threadsafe(balancer.start(front), loop).result(10)
        stack.callback(lambda: asyncio.run_coroutine_threadsafe(balancer.stop(), loop).result(10))
        for one in operators:
            stack.callback(one.kill)
            one.start()
        for one in operators:
            eventually(lambda one=one: one.get("/readyz")[0] == 200, "ready", 60)
        eventually(lambda: published_ca(cluster), "caBundle")
        yield operators


def test_serving_certificate_and_ca_are_changed_under_load(
    bare: Cluster, tmp_path: Path, unique: str
) -> None:
    with (
        fresh_namespace(bare, unique) as namespace,
        loop_in_thread() as loop,  # what the test must not hold up: balancer and load
        two_replicas(bare, tmp_path, loop) as operators,
    ):
        team = Team(bare, namespace, unique)
        eventually(lambda: team.create(a_gate_queue(team)).ok, "the queue's webhook")
        pids = [one.process.pid for one in operators]
        load = SteadyCreates(team)
        loading = asyncio.run_coroutine_threadsafe(load.run(), loop)
        try:
            change_everything(bare, operators, load)
        finally:
            loading.cancel()
        print(f"{load.ok} creates in {load.seconds:.0f} s")  # noqa: T201
        assert load.failed == []
        assert load.ok > RATE / 5 * load.seconds, "hardly a load"
        assert [one.process.pid for one in operators] == pids
        assert [one.process.poll() for one in operators] == [None, None]
        for one in operators:
            assert tracebacks(one.log) == []
            assert "PRIVATE KEY" not in one.log.read_text()
            assert [line for line in json_lines(one.log) if line["level"] == "error"] == []


def a_gate_queue(team: Team) -> QueueBody:
    return team.a_queue({T1000: 100}).with_policy("Gate")


def change_everything(bare: Cluster, operators: list[OperatorProcess], load: SteadyCreates) -> None:
    """First the serving certificate, then the CA."""

    def until(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
        def holds() -> bool:
            assert load.failed == [], what
            return condition()

        eventually(holds, what, seconds)

    def serials() -> set[int]:
        return {served(one).serial_number for one in operators}

    until(lambda: load.ok > RATE, "creates")
    first = serials()
    assert len(first) == 1, "both serve the same"

    # The serving certificate has little left: it is renewed, under the same CA.
    held = secret(bare)
    (old,) = read_certificates(held["ca.crt"])
    little_left = nearly_ended(held)
    short = {read_certificates(little_left["tls.crt"])[0].serial_number}
    put(bare, little_left)
    until(lambda: len(serials()) == 1 and not serials() & (first | short), "renewed")
    assert read_certificates(secret(bare)["ca.crt"]) == [old]

    # The CA cannot sign any more, and what it has signed has little left.
    put(bare, {**nearly_ended(secret(bare)), "ca.key": None})
    until(lambda: all(old in b and len(b) == 2 for b in bundles(bare)), "both CAs in caBundle")
    (new,) = read_certificates(secret(bare)["ca.crt"])
    until(lambda: all(trusted_through([served(one)], [new]) for one in operators), "the new CA's")
    assert all(old in bundle for bundle in bundles(bare)), "others may be slower"
    so_far = load.ok
    until(lambda: load.ok > so_far + RATE, "creates go on")
