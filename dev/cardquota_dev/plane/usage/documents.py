"""The JSON of both APIs."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from cardquota.quota.amounts import cpu_quantity, memory_quantity
from cardquota.quota.objects.meta import LabelledMeta

from .annotation import CPU, MEMORY
from .apis import CUSTOM_METRICS, RESOURCE_METRICS
from .objects import UsagePod
from .pod_usage import ContainerUsage

WINDOW: Final = 10
"""Seconds before its timestamp that a metric is about. What is said now counts at once in spite of
it: the autoscaler compares the window with its period of initialization alone.
"""

Json = dict[str, Any]


def openapi() -> Json:
    """A description without content: without any, the API server asks again every minute, and logs
    an error each time.
    """
    return {"swagger": "2.0", "info": {"title": "usage", "version": "v1"}, "paths": {}}


def resource_discovery() -> Json:
    """What `metrics.k8s.io` has."""
    return _discovery(
        RESOURCE_METRICS,
        _resource("nodes", "NodeMetrics", namespaced=False),
        _resource("pods", "PodMetrics", namespaced=True),
    )


def custom_discovery() -> Json:
    """What `custom.metrics.k8s.io` has: any metric, so none is named. Clients warn of a group
    version without resources.
    """
    return _discovery(
        CUSTOM_METRICS, _resource("pods/*", "MetricValueList", namespaced=True, verbs=("get",))
    )


def pod_metrics(pod: UsagePod, used: Iterable[ContainerUsage], now: datetime) -> Json:
    """A `PodMetrics`."""
    rows = [{"name": one.name, "usage": _usage(one.cpu, one.memory)} for one in used]
    return _metrics("PodMetrics", pod.metadata, now, containers=rows)


def node_metrics(metadata: LabelledMeta, cpu: int, memory: int, now: datetime) -> Json:
    """A `NodeMetrics`, of thousandths of a core and bytes."""
    return _metrics("NodeMetrics", metadata, now, usage=_usage(cpu, memory))


def resource_list(kind: str, items: Sequence[Json]) -> Json:
    """A list of `PodMetrics` or `NodeMetrics`."""
    return _list(RESOURCE_METRICS, f"{kind}List", items)


def metric_value(pod: UsagePod, metric: str, amount: int, now: datetime) -> Json:
    """A `MetricValue` about a pod, of thousandths."""
    return {
        "describedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": pod.metadata.namespace,
            "name": pod.metadata.name,
        },
        "metric": {"name": metric, "selector": None},
        "timestamp": _timestamp(now),
        "windowSeconds": WINDOW,
        "value": cpu_quantity(amount),
    }


def metric_value_list(items: Sequence[Json]) -> Json:
    """A `MetricValueList`."""
    return _list(CUSTOM_METRICS, "MetricValueList", items)


def failure(code: int, reason: str, message: str) -> Json:
    """A `Status` that says why there is no answer."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "reason": reason,
        "message": message,
        "code": code,
    }


def _discovery(version: str, *resources: Json) -> Json:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": version,
        "resources": list(resources),
    }


def _resource(
    name: str, kind: str, *, namespaced: bool, verbs: Sequence[str] = ("get", "list")
) -> Json:
    return {
        "name": name,
        "singularName": "",
        "namespaced": namespaced,
        "kind": kind,
        "verbs": list(verbs),
    }


def _metrics(kind: str, metadata: LabelledMeta, now: datetime, **measured: object) -> Json:
    told = {
        "name": metadata.name,
        "namespace": metadata.namespace,
        "labels": metadata.labels,
        "creationTimestamp": _timestamp(now),
    }
    return {
        "kind": kind,
        "apiVersion": RESOURCE_METRICS,
        "metadata": {name: value for name, value in told.items() if value},
        "timestamp": _timestamp(now),
        "window": f"{WINDOW}s",
        **measured,
    }


def _list(version: str, kind: str, items: Sequence[Json]) -> Json:
    return {"kind": kind, "apiVersion": version, "metadata": {}, "items": list(items)}


def _usage(cpu: int, memory: int) -> dict[str, str]:
    return {CPU: cpu_quantity(cpu), MEMORY: memory_quantity(memory)}


def _timestamp(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
