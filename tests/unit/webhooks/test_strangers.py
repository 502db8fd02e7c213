"""N1: who does not know the secret of the path gets nothing, and changes nothing."""

import asyncio
import json

import pytest

from builders.pod import a_pod

from .endpoint import SECRET, Endpoint, request_of, review_of

BODY = review_of(request_of(a_pod("p").in_queue("q")))
PATHS = (
    *("/", "/mutate", "/validate", "/observe", "/mutate/", "/mutate/wrong", f"/{SECRET}/mutate"),
    *(f"/mutate/{SECRET}x", f"/mutate/{SECRET[:-1]}", f"/mutate?{SECRET}", f"/mutate/{SECRET}/x"),
    *(f"/mutate/{SECRET.upper()}", "/mutate/%FF%00", "/mutate/" + "a" * 1000),
)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["POST", "GET", "PUT"])
async def test_n1_whoever_calls_otherwise_is_answered_nothing(path: str, method: str) -> None:
    async with Endpoint() as endpoint:
        async with endpoint.client.request(method, path, data=BODY) as answer:
            assert answer.status == 404
            assert await answer.text() == "nothing is here\n"
        assert not endpoint.asked
        assert endpoint.counted("pods", "deny") == endpoint.counted("unknown", "malformed") == 0
        status, text = await endpoint.post("/mutate", BODY)
        assert status == 200
        assert "response" in json.loads(text)


async def test_n1_their_bodies_are_not_waited_for() -> None:
    """Of a gigabyte that is announced nothing has to come."""
    async with Endpoint() as endpoint:
        reader, writer = await asyncio.open_connection(*endpoint.http.addresses[0])
        writer.write(b"POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n{")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 404")
        writer.close()
