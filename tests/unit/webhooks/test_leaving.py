"""A replica that leaves ends its connections one by one, each with the answer given on it."""

import asyncio

from builders.pod import a_pod

from .endpoint import Endpoint, request_of, review_of


async def kept(endpoint: Endpoint) -> bool:
    """Whether the connection stays open after one more review."""
    body = review_of(request_of(a_pod("p")))
    async with endpoint.client.post("/validate", data=body) as answer:
        assert answer.status == 200
        return answer.headers.get("Connection", "").lower() != "close"


async def test_connections_are_kept_until_then() -> None:
    async with Endpoint() as endpoint:
        assert await kept(endpoint)
        endpoint.server.leave()
        assert not await kept(endpoint)


async def test_it_is_quiet_once_nobody_has_asked_for_a_while() -> None:
    async with Endpoint() as endpoint:
        endpoint.server.leave()
        quiet = asyncio.create_task(endpoint.server.quiet(0.3, at_most=60))
        for _ in range(3):
            await asyncio.sleep(0.15)
            await kept(endpoint)
            assert not quiet.done()
        async with asyncio.timeout(2):
            await quiet


async def test_nobody_is_waited_for_without_end() -> None:
    async with Endpoint() as endpoint, asyncio.timeout(2):
        endpoint.server.leave()
        await endpoint.server.quiet(60, at_most=0.1)
