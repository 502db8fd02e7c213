"""Where Volcano asks: under the webhook's certificate, and without TLS on loopback alone."""

import json
from datetime import UTC, datetime

import aiohttp

from builders import H200, a_group, a_node, a_queue
from builders.certificates import issue
from builders.cluster import a_ledger
from cardquota.cluster.serving import server_context, trusting_context
from cardquota.cluster.watch import ChangeNotifier
from cardquota.extender import ENQUEUE_PATH, EnqueueAsk
from cardquota.metrics import Metrics
from cardquota.quota import ENQUEUE_ADDRESS
from cardquota.quota.decisions import Vote
from cardquota.runtime import LOOPBACK, EnqueueParts
from cardquota.settings import Enqueue, Settings, Volcano
from cardquota_dev.plane.ports import free_ports

from ..extender.enqueue.test_enqueue_votes import no_job

NAME = "cardquota-webhook.cardquota-system.svc"
SERVER = issue([NAME, "127.0.0.1"], now=datetime.now(UTC), days=1)
RESERVED = a_group("train").in_queue("red").of(2).asking({H200: 2}).enqueued("red", {H200: 2})
WAITS = a_group("other").in_queue("red").of(2).asking({H200: 2})
CALL = b'{"job": {"UID": "team/train"}}'


class FixedElector:
    """Knows where the leader is."""

    def __init__(self, address: str = "") -> None:
        self._address = address

    def leader_address(self, annotation: str) -> str:
        assert annotation == ENQUEUE_ADDRESS
        return self._address


def parts(port: int, plain: int | None, *, leader: str = "", bundle: bytes = b"") -> EnqueueParts:
    enqueue = Enqueue(host="127.0.0.1", port=port, plain_port=plain)
    settings = Settings.model_construct(scheduler="volcano", volcano=Volcano(enqueue=enqueue))
    cards, red = a_node("a").with_cards(H200, 8), a_queue("red").with_quota({H200: 3})
    ledger = a_ledger(cards, red, RESERVED, WAITS, enqueues=False)
    return EnqueueParts(
        settings,
        ledger,
        ChangeNotifier(),
        FixedElector(leader),  # type: ignore[arg-type]
        Metrics(),
        lambda: True,
        lambda group, verdict: None,
        lambda: bundle,
        no_job,
    )


def is_asked_about(served: EnqueueParts) -> bool:
    """Whether the group that waits has its place there."""
    return served.votes._ledger.groups["team/other"].asked is not None  # noqa: SLF001


async def vote(url: str) -> int:
    connector = aiohttp.TCPConnector(ssl=trusting_context(SERVER.ca_pem))
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.post(url + ENQUEUE_PATH, data=CALL) as answer,
    ):
        return int(json.loads(await answer.text())["status"])


async def test_it_listens_with_the_certificate_and_on_loopback_without() -> None:
    secure, plain = free_ports(2)
    served = parts(secure, plain)
    await served.start(server_context(SERVER.cert_pem, SERVER.key_pem))
    try:
        assert await vote(f"https://127.0.0.1:{secure}") == 1
        assert await vote(f"http://127.0.0.1:{plain}") == 1
        # Whatever the other address is: without TLS nobody else's machine is answered.
        addresses = [server.addresses for server in served._servers]  # noqa: SLF001
        assert [host for one in addresses for host, _ in one] == ["127.0.0.1", LOOPBACK]
    finally:
        served.leave()
        await served.stop()


async def test_another_replica_is_asked_by_our_ca() -> None:
    (secure,) = free_ports(1)
    leader = parts(secure, None)
    leader.votes.begin("term")
    await leader.start(server_context(SERVER.cert_pem, SERVER.key_pem))
    (other,) = free_ports(1)
    address = f"127.0.0.1:{secure}"
    try:
        ask = EnqueueAsk("team", "other")
        for bundle in (b"", b"no certificate"):
            follower = parts(other, None, leader=address, bundle=bundle)
            assert await follower.votes.vote(ask) is Vote.REJECT
        assert not is_asked_about(leader)
        follower = parts(other, None, leader=address, bundle=SERVER.ca_pem)
        assert await follower.votes.vote(ask) is Vote.REJECT  # nobody writes here
        assert is_asked_about(leader)
        await follower.stop()
    finally:
        await leader.stop()
