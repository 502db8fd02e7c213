"""Whether a queue is there, asked of a real API server."""

import asyncio

import pytest

from cardquota.cluster.client import Client
from cardquota.cluster.kubeconfig import from_kubeconfig
from cardquota.cluster.queue_lookup import QueueLookup
from harness.proxy import Proxy
from integration.team import Team

from .conftest import Front


async def test_it_says_of_each_queue_whether_it_is_there_now(team: Team) -> None:
    queue = team.has_queue({"NVIDIA-H200": 1})
    client = Client(await from_kubeconfig([team.cluster.kubeconfig]))
    try:
        lookup = QueueLookup(client)
        assert await lookup.exists(queue) is True
        assert await lookup.exists(f"{queue}-not") is False
        assert team.delete(team.a_queue({})).ok
        assert await lookup.exists(queue) is False
    finally:
        await client.close()


@pytest.mark.parametrize(
    "name", ["../pods", "a/status", "A", "a?watch=1", "", "a\n", "ä", "a" * 254]
)
async def test_what_can_be_no_queues_name_is_never_asked_for(
    front: Front, fronted: Client, name: str
) -> None:
    assert await QueueLookup(fronted).exists(name) is False
    assert front.asked_at == []


async def test_a_refusal_that_is_not_404_says_nothing(front: Front, fronted: Client) -> None:
    front.refuse = lambda _: True
    assert await QueueLookup(fronted).exists("a") is None
    assert len(front.asked_at) == 1


async def test_of_an_api_server_that_does_not_answer_nobody_knows(
    proxy: Proxy, proxied: Client
) -> None:
    """Within about a second, however many ask."""
    proxy.stall()
    lookup = QueueLookup(proxied)
    async with asyncio.timeout(5):
        found = await asyncio.gather(*(lookup.exists(f"queue-{n}") for n in range(100)))
    assert set(found) == {None}
    proxy.flow()
    assert await lookup.exists("queue") is False
