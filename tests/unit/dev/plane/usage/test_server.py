"""Both APIs before an API server of a few lines."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from cardquota.cluster.api import Access, Client
from cardquota_dev.plane.usage.server import UsageServer

USAGE = "cardquota.dev/usage"
METRICS, CUSTOM = "/apis/metrics.k8s.io/v1beta1", "/apis/custom.metrics.k8s.io/v1beta2"


def a_pod(name: str, said: str | None = None, *, phase: str = "Running") -> dict[str, Any]:
    annotations = {} if said is None else {USAGE: said}
    return {
        "metadata": {
            "name": name,
            "namespace": "team",
            "labels": {"app": name},
            "annotations": annotations,
        },
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}],
        },
        "status": {"phase": phase},
    }


class UsageApi:
    """Answers every list with the same, and keeps what was asked."""

    def __init__(self) -> None:
        self.pods: list[dict[str, Any]] = []
        self.namespace_says: str | None = None
        self.asked: list[str] = []
        self.refusal: tuple[int, dict[str, Any]] | None = None

    async def answer(self, http: web.Request) -> web.Response:
        self.asked.append(http.path_qs)
        if self.refusal is not None:
            status, body = self.refusal
            return web.json_response(body, status=status)
        says = {} if self.namespace_says is None else {USAGE: self.namespace_says}
        namespace = {"metadata": {"name": "team", "annotations": says}}
        wanted = http.query.get("fieldSelector", "").rpartition("=")[2]
        if http.path.endswith("/pods"):
            found = [one for one in self.pods if wanted in ("", one["metadata"]["name"])]
            return web.json_response({"items": found})
        if http.path.endswith("/namespaces"):
            return web.json_response({"items": [namespace]})
        if http.path.endswith("/nodes"):
            nodes = [{"metadata": {"name": name}} for name in ("n1", "n2")]
            return web.json_response(
                {"items": [one for one in nodes if wanted in ("", one["metadata"]["name"])]}
            )
        return web.json_response(namespace)


Asking = TestClient[web.Request, web.Application]


@pytest.fixture
def api() -> UsageApi:
    return UsageApi()


@pytest.fixture
async def asking(api: UsageApi) -> AsyncIterator[Asking]:
    app = web.Application()
    app.router.add_get("/{path:.*}", api.answer)
    async with TestServer(app) as upstream:
        client = Client(Access(str(upstream.make_url("")).rstrip("/"), None, _anonymous))
        try:
            async with TestClient(TestServer(UsageServer(client).application())) as found:
                yield found
        finally:
            await client.close()


async def _anonymous() -> None:
    return None


async def content(asking: Asking, path: str, status: int = 200) -> dict[str, Any]:
    answer = await asking.get(path)
    assert answer.status == status
    found: dict[str, Any] = json.loads(await answer.read())
    return found


async def cpu(asking: Asking) -> dict[str, str]:
    listed = await content(asking, f"{METRICS}/namespaces/team/pods")
    return {
        one["metadata"]["name"]: one["containers"][0]["usage"]["cpu"] for one in listed["items"]
    }


async def test_the_pod_is_asked_before_its_namespace(api: UsageApi, asking: Asking) -> None:
    api.pods = [a_pod("a", '{"cpu": "3"}'), a_pod("b", '{"memory": "1"}'), a_pod("c", "[]")]
    assert await cpu(asking) == {"a": "3", "b": "1", "c": "1"}
    api.namespace_says = '{"cpu": "250m"}'
    assert await cpu(asking) == {"a": "3", "b": "250m", "c": "250m"}
    api.namespace_says = "oops"
    assert await cpu(asking) == {"a": "3", "b": "1", "c": "1"}


async def test_pods_that_do_not_run_have_no_metrics(api: UsageApi, asking: Asking) -> None:
    api.pods = [a_pod("waits", phase="Pending"), a_pod("ended", phase="Succeeded"), a_pod("runs")]
    assert list(await cpu(asking)) == ["runs"]
    one = await content(asking, f"{METRICS}/namespaces/team/pods/waits", 404)
    assert (one["kind"], one["reason"]) == ("Status", "NotFound")


async def test_metrics_are_of_this_moment(api: UsageApi, asking: Asking) -> None:
    api.pods = [a_pod("a", '{"rps": 1}')]
    pod = await content(asking, f"{METRICS}/namespaces/team/pods/a")
    listed = await content(asking, f"{CUSTOM}/namespaces/team/pods/*/rps")
    for one in (pod, listed["items"][0]):
        age = datetime.now(UTC) - datetime.fromisoformat(one["timestamp"])
        assert timedelta() <= age < timedelta(seconds=60)
    assert (pod["window"], listed["items"][0]["windowSeconds"]) == ("10s", 10)
    assert pod["metadata"]["labels"] == {"app": "a"}


async def test_selectors_are_passed_on(api: UsageApi, asking: Asking) -> None:
    selected = "labelSelector=app%3Da&metricLabelSelector=x%3Dy&limit=500"
    for path in (f"{METRICS}/namespaces/team/pods", f"{CUSTOM}/namespaces/team/pods/*/rps"):
        await content(asking, f"{path}?{selected}")
        assert "/api/v1/namespaces/team/pods?labelSelector=app%3Da" in api.asked
        api.asked.clear()


async def test_a_custom_metric_is_absent_where_nobody_says_it(
    api: UsageApi, asking: Asking
) -> None:
    api.pods = [a_pod("a", '{"rps": "20", "cpu": "1"}'), a_pod("b"), a_pod("c", '{"rps": "x"}')]

    async def values(metric: str) -> dict[str, str]:
        listed = await content(asking, f"{CUSTOM}/namespaces/team/pods/*/{metric}")
        return {one["describedObject"]["name"]: one["value"] for one in listed["items"]}

    assert await values("rps") == {"a": "20"}
    assert await values("cpu") == await values("other") == {}
    api.namespace_says = '{"rps": "500m"}'
    assert await values("rps") == {"a": "20", "b": "500m", "c": "500m"}
    one = await content(asking, f"{CUSTOM}/namespaces/team/pods/b/rps")
    assert [item["describedObject"]["name"] for item in one["items"]] == ["b"]
    await content(asking, f"{CUSTOM}/namespaces/team/pods/b/other", 404)


async def test_a_node_uses_what_its_pods_use(api: UsageApi, asking: Asking) -> None:
    api.pods = [a_pod("a"), a_pod("b", '{"memory": "2Ki"}')]
    listed = await content(asking, f"{METRICS}/nodes")
    assert {one["metadata"]["name"]: one["usage"] for one in listed["items"]} == {
        "n1": {"cpu": "2", "memory": "2Ki"},
        "n2": {"cpu": "0", "memory": "0"},
    }
    assert (await content(asking, f"{METRICS}/nodes/n1"))["usage"]["cpu"] == "2"
    await content(asking, f"{METRICS}/nodes/other", 404)


async def test_pods_of_all_namespaces(api: UsageApi, asking: Asking) -> None:
    api.pods, api.namespace_says = [a_pod("a")], '{"cpu": 2}'
    listed = await content(asking, f"{METRICS}/pods")
    assert listed["kind"] == "PodMetricsList"
    assert [one["containers"][0]["usage"]["cpu"] for one in listed["items"]] == ["2"]


@pytest.mark.parametrize(
    ("path", "names"),
    [(METRICS, ["nodes", "pods"]), (CUSTOM, ["pods/*"])],
)
async def test_discovery(asking: Asking, path: str, names: list[str]) -> None:
    found = await content(asking, path)
    assert found["groupVersion"] == path.removeprefix("/apis/")
    assert [one["name"] for one in found["resources"]] == names


async def test_a_refusal_of_the_api_server_is_passed_on(api: UsageApi, asking: Asking) -> None:
    api.refusal = 400, {"kind": "Status", "reason": "BadRequest", "message": "no selector"}
    told = await content(asking, f"{METRICS}/namespaces/team/pods?labelSelector=(", 400)
    assert (told["reason"], told["message"]) == ("BadRequest", "no selector")


async def test_while_the_api_server_does_not_answer_there_are_no_metrics(
    api: UsageApi, asking: Asking
) -> None:
    api.refusal = 504, {"kind": "Status", "reason": "Timeout"}
    told = await content(asking, f"{CUSTOM}/namespaces/team/pods/*/rps", 503)
    assert told["reason"] == "ServiceUnavailable"


async def test_what_it_does_not_serve_is_not_found(asking: Asking) -> None:
    for path in ("/apis", f"{CUSTOM}/namespaces/team/services/web/rps"):
        assert (await content(asking, path, 404))["reason"] == "NotFound"
