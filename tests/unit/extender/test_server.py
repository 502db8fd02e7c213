"""The server over real sockets and real TLS: who may call, and what they get for what."""

import io
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest

from builders import Body, a_ledger, a_node, a_pod
from builders.certificates import Issued, issue
from cardquota.cluster.serving import PROTOCOLS, client_context, load, server_context
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import (
    LARGEST_BODY,
    BindArgs,
    ExtenderServer,
    LeaderCall,
    LeaderClient,
)
from cardquota.metrics import Metrics

NAME = "cardquota-extender.cardquota-system.svc"
NOW = datetime.now(UTC)
SERVER = issue([NAME, "127.0.0.1"], now=NOW, days=1)
CLIENT = issue(["client"], now=NOW, days=1)
STRANGER = issue(["client"], now=NOW, days=1)
POD = a_pod("p").asking_for_memory(8138)
CARD = 16276


class FixedBinder:
    """Says what it is told to say."""

    def __init__(self, *, leads: bool = True, says: str = "") -> None:
        self.leads = leads
        self.says = says
        self.asked: list[BindArgs] = []

    async def bind(self, args: BindArgs) -> str:
        self.asked.append(args)
        if self.says == "fail":
            raise RuntimeError(self.says)
        return self.says


def tls(client: Issued | None) -> ssl.SSLContext:
    """Of a scheduler that shows this certificate, or none."""
    if client is None:
        return ssl.create_default_context(cadata=SERVER.ca_pem.decode())
    return client_context(client.cert_pem, client.key_pem, servers=SERVER.ca_pem)


@asynccontextmanager
async def serving(
    *things: Body, binder: FixedBinder | None = None, leader: str = "", synced: bool = True
) -> AsyncIterator[str]:
    """The address of an extender over these nodes and pods."""
    client = LeaderClient(lambda: leader, lambda: tls(CLIENT), server_name=NAME, timeout=5)
    call = LeaderCall(binder or FixedBinder(), client)  # type: ignore[arg-type]
    server = ExtenderServer(
        a_ledger(*things), ChangeNotifier(), call, lambda: synced, Metrics(), unseen=0.01
    )
    context = server_context(
        SERVER.cert_pem, SERVER.key_pem, clients=CLIENT.ca_pem, protocols=PROTOCOLS
    )
    await server.http.start("127.0.0.1", 0, context)
    try:
        yield f"127.0.0.1:{server.http.addresses[0][1]}"
    finally:
        await client.close()
        await server.http.stop(0.1)


def of_an_empty_cluster() -> ExtenderServer:
    client = LeaderClient(str, lambda: None, server_name=NAME, timeout=1)
    call = LeaderCall(FixedBinder(), client)  # type: ignore[arg-type]
    return ExtenderServer(a_ledger(), ChangeNotifier(), call, lambda: True, Metrics())


@asynccontextmanager
async def scheduler(client: Issued | None = CLIENT) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls(client))) as session:
        yield session


async def post(address: str, verb: str, body: bytes | io.BytesIO | dict[str, Any]) -> Any:
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    async with (
        scheduler() as session,
        session.post(f"https://{address}/scheduler/{verb}", data=data) as response,
    ):
        assert response.status == 200
        answer = await response.read()
        assert response.headers["Content-Length"] == str(len(answer))
        return json.loads(answer)


NODES = a_node("n1").sharing_memory(2 * CARD, 2), a_node("n2").sharing_memory(8000, 1)
BINDING = {"PodName": "p", "PodNamespace": "team", "PodUID": "uid-p", "Node": "n1"}


async def test_the_verbs_of_kube_scheduler() -> None:
    call: dict[str, Any] = {"Pod": POD.body, "NodeNames": ["n1", "n2", "n3"]}
    holders = a_pod("a").on_card("n1", 0, 8138), a_pod("b").on_card("n1", 1, 8138)
    async with serving(*NODES, *holders) as address:
        unknown, small = "node is not known to cardquota", "no healthy card has 8138 MiB"
        wrong = {"n2": small, "n3": unknown}
        found = {"NodeNames": ["n1"], "FailedNodes": {}, "FailedAndUnresolvableNodes": wrong}
        assert await post(address, "filter", call) == {**found, "Error": ""}
        scores = ("n1", 10), ("n2", 0), ("n3", 0)
        ranked = [{"Host": host, "Score": score} for host, score in scores]
        assert await post(address, "prioritize", call) == ranked
        assert await post(address, "bind", BINDING) == {"Error": ""}
        proposed = {"n1": {"Pods": [{"UID": "uid-a"}], "NumPDBViolations": 1}}
        call = {"Pod": a_pod("q").asking_for_memory(CARD).body, "NodeNameToMetaVictims": proposed}
        assert await post(address, "preempt", call) == {"NodeNameToMetaVictims": proposed}


async def test_both_secrets_are_followed_while_it_serves() -> None:
    """As when a certificate is renewed, a CA is introduced, and the old one is dropped."""
    context = server_context(SERVER.cert_pem, SERVER.key_pem, clients=CLIENT.ca_pem)
    server = of_an_empty_cluster()
    await server.http.start("127.0.0.1", 0, context)
    url = f"https://127.0.0.1:{server.http.addresses[0][1]}/inspect"

    async def served(client: Issued | None) -> bool:
        try:
            async with scheduler(client) as session, session.get(url) as response:
                return response.status == 200
        except (aiohttp.ClientError, OSError):
            return False

    for clients, wanted in (
        (CLIENT.ca_pem, [True, False, False]),
        (CLIENT.ca_pem + STRANGER.ca_pem, [True, True, False]),
        (STRANGER.ca_pem, [False, True, False]),
    ):
        load(context, SERVER.cert_pem, SERVER.key_pem, clients=clients)
        assert [await served(client) for client in (CLIENT, STRANGER, None)] == wanted
    with pytest.raises(ssl.SSLError):
        load(context, SERVER.cert_pem, SERVER.key_pem, clients=b"x")
    assert await served(STRANGER)
    await server.http.stop(0.1)


@pytest.mark.parametrize("verb", ["filter", "bind", "preempt"])
@pytest.mark.parametrize("sent", [b"", b"x", b"[]", b"{}", b"[" * 99_999, b"\xff"])
async def test_bodies_that_cannot_be_read(verb: str, sent: bytes) -> None:
    async with serving() as address:
        answer = await post(address, verb, sent)
        assert answer["Error"].startswith(f"the call of {verb} cannot be read: ")


async def test_prioritize_answers_an_empty_list() -> None:
    async with serving() as address:
        assert await post(address, "prioritize", b"[]") == []
        assert await post(address, "prioritize", io.BytesIO(b" " * (LARGEST_BODY + 1))) == []


@pytest.mark.slow
async def test_60_mb_of_nodes_are_refused_with_the_cure() -> None:
    async with serving() as address:
        answer = await post(address, "filter", io.BytesIO(b" " * (60 * 1024 * 1024)))
        assert answer["Error"].startswith("the body has 60 MiB, at most 8 MiB are read: set ")


async def test_an_error_of_ours_is_an_answer_too() -> None:
    async with serving(binder=FixedBinder(says="fail")) as address:
        answer = await post(address, "bind", BINDING)
        assert answer == {"Error": "cardquota could not answer: this is a bug, see its log"}


async def test_before_the_cluster_was_read_nothing_fits() -> None:
    async with serving(*NODES, synced=False) as address:
        answer = await post(address, "filter", {"Pod": POD.body, "NodeNames": ["n1"]})
        assert answer["Error"] == "cardquota has not read the cluster yet: try again"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/scheduler/filter", 405),
        ("PUT", "/scheduler/bind", 405),
        ("POST", "/scheduler/other", 404),
        ("POST", "/inspect", 405),
        ("GET", "/", 404),
        ("GET", "/inspectors", 404),
        ("GET", "/inspect", 200),
        ("HEAD", "/inspect", 200),
        ("GET", "/inspect/n1", 200),
        ("GET", "/inspect/n%31", 200),
        ("GET", "/inspect/other", 404),
    ],
)
async def test_paths_and_methods(method: str, path: str, status: int) -> None:
    async with (
        serving(*NODES) as address,
        scheduler() as session,
        session.request(method, f"https://{address}{path}") as response,
    ):
        assert response.status == status


async def test_b8_inspect() -> None:
    pod = a_pod("a").on_card("n1", 1, 100)
    async with serving(*NODES, pod) as address, scheduler() as session:
        async with session.get(f"https://{address}/inspect/n1") as response:
            node = await response.json()
        async with session.get(f"https://{address}/inspect") as response:
            everything = await response.json()
    assert everything["nodes"][0] == node
    assert node["cards"][1]["pods"][0]["name"] == "a"
    assert everything["totals"] == {"MiB": {"cards": 3, "total": 40552, "used": 100}}


async def test_a_bind_is_passed_on_to_the_leader_and_no_further() -> None:
    leading = FixedBinder(says="from the leader")
    async with (
        serving(binder=leading) as leader,
        serving(binder=FixedBinder(leads=False), leader=leader) as address,
    ):
        assert await post(address, "bind", BINDING) == {"Error": "from the leader"}
    assert leading.asked == [BindArgs("p", "team", "uid-p", "n1")]
    other = FixedBinder(leads=False, says="none leads")
    async with (
        serving(binder=other, leader="127.0.0.1:1") as second,
        serving(binder=FixedBinder(leads=False), leader=second) as address,
    ):
        assert await post(address, "bind", BINDING) == {"Error": "none leads"}


async def test_a_bind_while_no_leader_is_known_or_it_does_not_answer() -> None:
    async with serving(binder=FixedBinder(leads=False)) as address:
        answer = await post(address, "bind", BINDING)
        assert answer["Error"].startswith("no replica of cardquota leads")
    async with serving(binder=FixedBinder(leads=False), leader="127.0.0.1:1") as address:
        answer = await post(address, "bind", BINDING)
        assert answer["Error"].startswith("the leading replica of cardquota at <127.0.0.1:1> did")
