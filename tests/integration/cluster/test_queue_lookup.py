"""Whether a queue is there: what is not asked, and what becomes of no answer."""

import asyncio

import pytest

from cardquota.cluster.api import Client
from cardquota.cluster.watch import QueueLookup
from harness.proxy import Proxy

from .conftest import Front


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
    async with asyncio.timeout(60):
        while (found_now := await lookup.exists("queue")) is None:
            pass
    assert found_now is False
