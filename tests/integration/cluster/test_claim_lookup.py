"""P7: of which device classes a claim is, in whatever version the API server has."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from cardquota.cluster.api import Access, Client
from cardquota.cluster.watch import ClaimLookup
from harness.proxy import Proxy

from .conftest import Front

NEW = {"exactly": {"deviceClassName": "a.example.com"}}
OLD = {"deviceClassName": "a.example.com"}


async def _nobody() -> str | None:
    return None


@asynccontextmanager
async def serving(
    version: str, request: dict[str, object], paths: list[str]
) -> AsyncIterator[Client]:
    """A client of an API server that has one version; `paths`: what it is asked.

    A fake: the plane's cannot be another.
    """
    spec = {"devices": {"requests": [{"name": "r", **request}]}}
    there = {
        "resourceclaims": {"metadata": {"name": "c"}, "spec": spec},
        "resourceclaimtemplates": {"metadata": {"name": "c"}, "spec": {"spec": spec}},
    }

    async def answer(asked: web.BaseRequest) -> web.StreamResponse:
        paths.append(asked.path)
        for resource, body in there.items():
            path = f"/apis/resource.k8s.io/{version}/namespaces/team/{resource}"
            if asked.path == f"{path}/c":
                return web.json_response(body)
            if asked.path.startswith(f"{path}/"):
                text = f'{resource}.resource.k8s.io "{asked.path.rpartition("/")[2]}" not found'
                return web.json_response({"reason": "NotFound", "message": text}, status=404)
        return web.Response(text="404 page not found", status=404)

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    client = Client(Access(f"http://127.0.0.1:{runner.addresses[0][1]}", None, _nobody))
    try:
        yield client
    finally:
        await client.close()
        await runner.cleanup()


@pytest.mark.parametrize(
    ("version", "request_of_it"),
    [("v1", NEW), ("v1beta2", NEW), ("v1beta1", OLD), ("v1alpha3", OLD)],
)
@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
async def test_each_version_is_read(
    kind: str, version: str, request_of_it: dict[str, object]
) -> None:
    paths: list[str] = []
    async with serving(version, request_of_it, paths) as client:
        lookup = ClaimLookup(client)
        assert await lookup.classes("team", kind, "c") == {"a.example.com"}
        number = len(paths)
        assert await lookup.classes("team", kind, "other") is None
        assert len(paths) == 2 * number, "no further version is asked for one that is not there"
        assert await lookup.classes("elsewhere", kind, "c") is None


@pytest.mark.parametrize("name", ["../secrets/s", "c/status", "C", "c?watch=1", "", "c\n"])
async def test_what_can_be_no_claims_name_is_never_asked_for(
    front: Front, fronted: Client, name: str
) -> None:
    assert await ClaimLookup(fronted).classes("default", "ResourceClaim", name) is None
    assert front.asked_at == []


async def test_what_the_api_server_does_not_say_is_not_known(
    front: Front, fronted: Client, proxy: Proxy, proxied: Client
) -> None:
    front.refuse = lambda _: True
    with pytest.raises(LookupError, match="429"):
        await ClaimLookup(fronted).classes("default", "ResourceClaim", "c")
    proxy.stall()
    async with asyncio.timeout(5):
        with pytest.raises(LookupError, match="answer"):
            await ClaimLookup(proxied).classes("default", "ResourceClaim", "c")
