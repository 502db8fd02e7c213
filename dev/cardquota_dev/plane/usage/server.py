"""The two APIs over HTTP: each request asks the API server for the pods that it is about.

Nothing is kept between requests, so every answer is as new as what the API server has. Whoever can
connect is answered: the API server has checked its users' rights before it passes a request on, and
others on this machine see no more than what pods use. A failure is told as a Kubernetes `Status`.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from cardquota.cluster.api.api_error import ApiError, OutcomeUnknown
from cardquota.cluster.api.client import Client

from . import documents
from .annotation import StatedUsage
from .apis import CUSTOM_METRICS, RESOURCE_METRICS
from .documents import Json
from .objects import Namespaces, Pods, UsageNamespace, UsageNode, UsageNodes, UsagePod
from .pod_usage import ContainerUsage, containers, is_measured
from .said import SaidUsage

_SELECTORS: Final = ("labelSelector", "fieldSelector")
_ALL: Final = "*"
_NOT_FOUND: Final = 404


class UsageServer:
    """Answers from `api`, with the rights of its user."""

    def __init__(self, api: Client) -> None:
        self._api = api
        self._said = SaidUsage()

    def application(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application(middlewares=[_failures_as_status])
        ours, custom = f"/apis/{RESOURCE_METRICS}", f"/apis/{CUSTOM_METRICS}"
        app.add_routes(
            [
                web.get("/readyz", _ready),
                web.get("/openapi/v2", _openapi),
                web.get(ours, _resource_discovery),
                web.get(f"{ours}/pods", self._all_pods),
                web.get(f"{ours}/nodes", self._nodes),
                web.get(f"{ours}/nodes/{{name}}", self._node),
                web.get(f"{ours}/namespaces/{{namespace}}/pods", self._pods),
                web.get(f"{ours}/namespaces/{{namespace}}/pods/{{name}}", self._pod),
                web.get(custom, _custom_discovery),
                web.get(
                    f"{custom}/namespaces/{{namespace}}/pods/{{name}}/{{metric}}", self._metric
                ),
            ]
        )
        return app

    async def _all_pods(self, http: web.Request) -> web.Response:
        pods, namespaces = await asyncio.gather(
            self._list_pods("/api/v1/pods", http.query), self._list_namespaces()
        )
        now = _now()
        items = [documents.pod_metrics(pod, self._used(pod, namespaces), now) for pod in pods]
        return _answer(documents.resource_list("PodMetrics", items))

    async def _pods(self, http: web.Request) -> web.Response:
        pods, said = await self._of_namespace(http, http.query)
        now = _now()
        items = [documents.pod_metrics(pod, self._used(pod, said), now) for pod in pods]
        return _answer(documents.resource_list("PodMetrics", items))

    async def _pod(self, http: web.Request) -> web.Response:
        pods, said = await self._of_namespace(http, _by_name(http.match_info["name"]))
        if not pods:
            return _missing("podmetrics.metrics.k8s.io", http.match_info["name"])
        return _answer(documents.pod_metrics(pods[0], self._used(pods[0], said), _now()))

    async def _nodes(self, http: web.Request) -> web.Response:
        return _answer(documents.resource_list("NodeMetrics", await self._of_nodes(http.query)))

    async def _node(self, http: web.Request) -> web.Response:
        name = http.match_info["name"]
        found = await self._of_nodes(_by_name(name))
        return _answer(found[0]) if found else _missing("nodemetrics.metrics.k8s.io", name)

    async def _metric(self, http: web.Request) -> web.Response:
        """One pod's or, by the name `*`, those of all pods selected. A metric here has no labels:
        a selector of metrics is not looked at.
        """
        name, metric = http.match_info["name"], http.match_info["metric"]
        wanted = http.query if name == _ALL else _by_name(name)
        pods, namespaces = await self._of_namespace(http, wanted)
        now = _now()
        items = []
        for pod in pods:
            amount = self._said_of(pod, namespaces).custom.get(metric)
            if amount is not None:
                items.append(documents.metric_value(pod, metric, amount, now))
        if not items and name != _ALL:
            return _missing(f"{metric}.custom.metrics.k8s.io", name)
        return _answer(documents.metric_value_list(items))

    async def _of_namespace(
        self, http: web.Request, wanted: Mapping[str, str]
    ) -> tuple[list[UsagePod], dict[str, StatedUsage]]:
        """The pods of a namespace that use something, and what the namespace says."""
        path = f"/api/v1/namespaces/{http.match_info['namespace']}"
        return await asyncio.gather(self._list_pods(f"{path}/pods", wanted), self._namespace(path))

    async def _of_nodes(self, wanted: Mapping[str, str]) -> list[Json]:
        """The sums of their pods: nothing else runs on them."""
        answer, pods, namespaces = await asyncio.gather(
            self._api.get("/api/v1/nodes", params=_selectors(wanted)),
            self._list_pods("/api/v1/pods", {}),
            self._list_namespaces(),
        )
        by_node: dict[str, list[ContainerUsage]] = defaultdict(list)
        for pod in pods:
            by_node[pod.spec.node_name].extend(self._used(pod, namespaces))
        now = _now()
        nodes = msgspec.json.decode(answer, type=UsageNodes).items
        return [_of_node(node, by_node[node.metadata.name], now) for node in nodes]

    async def _list_pods(self, path: str, wanted: Mapping[str, str]) -> list[UsagePod]:
        answer = await self._api.get(path, params=_selectors(wanted))
        return [pod for pod in msgspec.json.decode(answer, type=Pods).items if is_measured(pod)]

    async def _list_namespaces(self) -> dict[str, StatedUsage]:
        listed = msgspec.json.decode(await self._api.get("/api/v1/namespaces"), type=Namespaces)
        return {one.metadata.name: self._said.by(one.metadata) for one in listed.items}

    async def _namespace(self, path: str) -> dict[str, StatedUsage]:
        try:
            found = msgspec.json.decode(await self._api.get(path), type=UsageNamespace)
        except ApiError as error:
            if error.status == _NOT_FOUND:  # then it has no pods either
                return {}
            raise
        return {found.metadata.name: self._said.by(found.metadata)}

    def _said_of(self, pod: UsagePod, namespaces: Mapping[str, StatedUsage]) -> StatedUsage:
        by_namespace = namespaces.get(pod.metadata.namespace, StatedUsage())
        return self._said.by(pod.metadata).or_else(by_namespace)

    def _used(self, pod: UsagePod, namespaces: Mapping[str, StatedUsage]) -> list[ContainerUsage]:
        return containers(pod, self._said_of(pod, namespaces))


def _of_node(node: UsageNode, used: Iterable[ContainerUsage], now: datetime) -> Json:
    rows = list(used)
    cpu, memory = sum(one.cpu for one in rows), sum(one.memory for one in rows)
    return documents.node_metrics(node.metadata, cpu, memory, now)


@web.middleware
async def _failures_as_status(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        return _refusal(
            error.status, error.reason.replace(" ", ""), f"{request.method} {request.path}"
        )
    except ApiError as error:
        return _refusal(error.status, error.reason, error.message)
    except OutcomeUnknown as error:
        return _refusal(503, "ServiceUnavailable", str(error))


async def _ready(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _openapi(_: web.Request) -> web.Response:
    return _answer(documents.openapi())


async def _resource_discovery(_: web.Request) -> web.Response:
    return _answer(documents.resource_discovery())


async def _custom_discovery(_: web.Request) -> web.Response:
    return _answer(documents.custom_discovery())


def _selectors(wanted: Mapping[str, str]) -> dict[str, str]:
    return {name: wanted[name] for name in _SELECTORS if wanted.get(name)}


def _by_name(name: str) -> dict[str, str]:
    return {"fieldSelector": f"metadata.name={name}"}


def _missing(what: str, name: str) -> web.Response:
    return _refusal(_NOT_FOUND, "NotFound", f'{what} "{name}" not found')


def _refusal(code: int, reason: str, message: str) -> web.Response:
    return _answer(documents.failure(code, reason, message), status=code)


def _answer(content: Json, *, status: int = 200) -> web.Response:
    body = msgspec.json.encode(content)
    return web.Response(body=body, status=status, content_type="application/json")


def _now() -> datetime:
    return datetime.now(UTC)
