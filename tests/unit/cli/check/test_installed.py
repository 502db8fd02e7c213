"""What is asked of an API server to learn how the product is installed."""

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from cardquota.cli.check.installed import Installed, read_installed
from cardquota.cli.output import ClusterChoice
from cardquota.cli.reading import ClusterError, NotRead, client_of
from cardquota.cluster.api import Client
from cardquota.install import Right
from cardquota.settings import Settings, Webhook

from ..answering_api import FORBIDDEN, LEASE, NOT_SERVED, Answer, serving
from .test_installation_section import NOON, lease

TERM = "/apis/cardquota.volcano.sh/v1alpha1/namespaces/cardquota-system/terms/cardquota"
DEPLOYMENT = "/apis/apps/v1/namespaces/cardquota-system/deployments/cardquota"
SECRET = "/api/v1/namespaces/cardquota-system/secrets/cardquota-webhook"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cardquota"
POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/cardquota-pods"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
BUSY: Answer = 503, "busy"


class ApiServer:
    """Says what a test has written down, and whether the operator may do what is asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {
            LEASE: [(200, json.dumps(lease()))],
            TERM: [(200, json.dumps({"spec": {"term": "pod/1"}}))],
        }
        self.denied: set[tuple[str, str]] = set()
        """Verb and resource."""
        self.review: Answer | None = None
        self.reviewed: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "POST":
            return await self.post(request)
        answers = self.answers.get(request.path, [NOT_SERVED])
        status, text = answers.pop(0) if len(answers) > 1 else answers[0]
        return web.Response(status=status, text=text)

    async def post(self, request: web.Request) -> web.Response:
        assert request.path == REVIEWS
        spec = (await request.json())["spec"]
        self.reviewed.append(spec)
        asked = spec["resourceAttributes"]
        allowed = (asked["verb"], asked["resource"]) not in self.denied
        good: Answer = 201, json.dumps({"status": {"allowed": allowed}})
        status, text = self.review or good
        return web.Response(status=status, text=text)


@pytest.fixture
def server() -> ApiServer:
    return ApiServer()


@pytest.fixture
async def client(server: ApiServer, tmp_path: Path) -> AsyncIterator[Client]:
    async with (
        serving("*", server.answer, tmp_path) as kubeconfig,
        client_of(ClusterChoice(kubeconfig)) as client,
    ):
        yield client


async def read(client: Client, settings: Settings | None = None) -> tuple[Installed, list[float]]:
    """And for how long it waited."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    settings = settings or Settings()
    return await read_installed(client, settings, clock=lambda: NOON, sleep=sleep), waited


async def test_nothing_is_there(client: Client, server: ApiServer) -> None:
    server.answers = {}
    found, waited = await read(client)
    assert found.leases == (None, None)
    assert waited == [3]
    assert (found.deployment, found.url) == (None, "")
    assert found.certificates == {"cardquota-webhook": None}
    assert {answer for _, answer in found.admission} == {None}
    assert set(found.definitions.values()) == {None}


async def test_a_lease_that_is_renewed_is_read_once(client: Client, server: ApiServer) -> None:
    found, waited = await read(client)
    assert (len(found.leases), waited) == (1, [])
    server.answers[LEASE] = [(200, json.dumps(lease("11:00:00"))), (200, json.dumps(lease()))]
    found, waited = await read(client)
    assert (len(found.leases), waited) == (2, [3])


async def test_rights_are_those_of_the_operators_account(client: Client, server: ApiServer) -> None:
    server.denied = {("patch", "pods"), ("create", "leases")}
    found, _ = await read(client)
    assert found.missing_rights == (
        Right("patch", "", "pods"),
        Right("create", "coordination.k8s.io", "leases", "", "cardquota-system"),
    )
    users = {one["user"] for one in server.reviewed}
    assert users == {"system:serviceaccount:cardquota-system:cardquota"}
    asked = [one["resourceAttributes"] for one in server.reviewed]
    assert {"queues": "status"}.items() <= {
        one["resource"]: one["subresource"] for one in asked if one["subresource"]
    }.items()


async def test_what_may_not_be_asked(client: Client, server: ApiServer) -> None:
    server.review = FORBIDDEN
    found, _ = await read(client)
    assert found.missing_rights == NotRead("you may not read SubjectAccessReviews: no")
    assert len(server.reviewed) == 1
    server.answers = {key: [FORBIDDEN] for key in (LEASE, DEPLOYMENT, SECRET, WEBHOOKS)}
    found, waited = await read(client)
    assert found.leases == (NotRead("you may not read the operator's Lease: no"),)
    assert waited == []
    assert isinstance(found.deployment, NotRead)
    assert isinstance(found.certificates["cardquota-webhook"], NotRead)


async def test_of_the_secret_the_certificate_is_kept(client: Client, server: ApiServer) -> None:
    data = {"tls.crt": base64.b64encode(b"cert").decode(), "tls.key": "secret"}
    server.answers[SECRET] = [(200, json.dumps({"data": data}))]
    assert (await read(client))[0].certificates == {"cardquota-webhook": b"cert"}
    for odd in ({"data": None}, {"data": {"tls.crt": 7}}, {"data": {"tls.crt": "%"}}):
        server.answers[SECRET] = [(200, json.dumps(odd))]
        assert (await read(client))[0].certificates == {"cardquota-webhook": b""}


async def test_one_outside_of_it_is_called_by_its_url(client: Client, server: ApiServer) -> None:
    webhook = {"name": "x", "clientConfig": {"url": "https://10.0.0.1:9443/pods"}}
    server.answers[WEBHOOKS] = [(200, json.dumps({"webhooks": [webhook]}))]
    found, _ = await read(client)
    assert found.url == "https://10.0.0.1:9443"
    urls = [one["webhooks"][0]["clientConfig"] for one, _ in found.admission if "webhooks" in one]
    assert all(one["url"] == "https://10.0.0.1:9443" for one in urls)
    named = Settings(webhook=Webhook(url="https://10.0.0.2:1"))
    assert (await read(client, named))[0].url == ""
    server.answers[DEPLOYMENT] = [(200, "{}")]
    assert (await read(client))[0].url == ""


@pytest.mark.parametrize("text", ["", "[]", "7", '{"webhooks": 7}', '{"webhooks": [7]}'])
async def test_nonsense_is_no_crash(client: Client, server: ApiServer, text: str) -> None:
    for path in (LEASE, DEPLOYMENT, SECRET, WEBHOOKS):
        server.answers[path] = [(200, text)]
    server.review = 201, text
    await read(client)


@pytest.mark.parametrize("path", [LEASE, DEPLOYMENT, SECRET, WEBHOOKS, POLICY])
async def test_no_answer_is_an_error(client: Client, server: ApiServer, path: str) -> None:
    server.answers[path] = [BUSY]
    with pytest.raises(ClusterError, match="cannot read"):
        await read(client)


async def test_nor_does_it_mean_that_rights_are_missing(client: Client, server: ApiServer) -> None:
    server.review = BUSY
    with pytest.raises(ClusterError, match="cannot read SubjectAccessReviews"):
        await read(client)
