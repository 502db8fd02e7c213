"""Workloads as they are written and as they stand, and what is said of them."""

from typing import Any

from builders import H200, a_pod, a_queue
from builders.pod import PodBody
from cardquota.install import WORKLOADS
from cardquota_webhooks import KINDS

from .endpoint import Endpoint, ReviewAnswer

THREE = a_queue().with_quota({H200: 3})
GROUPS = {resource: group for group, resource, _, _ in WORKLOADS}


def pod(cards: int = 1, card: str = H200) -> PodBody:
    return a_pod().in_queue("queue").naming(card).asking_for(cards)


def running(name: str, cards: int = 1) -> PodBody:
    pod_of = pod(cards).put(name, "metadata", "name").with_uid(name)
    return pod_of.stamped("queue", {H200: cards}).on_node("h200-a")


def made(pod: PodBody, resource: str = "deployments") -> PodBody:
    """As the controller of a workload named `web` makes it."""
    if resource == "deployments":
        pod = pod.labelled("pod-template-hash", "7c5f8bd9c")
        return pod.owned_by(KINDS[resource], name="web-7c5f8bd9c")
    return pod.owned_by(KINDS[resource], name="web")


def own(number: int, resource: str = "deployments", cards: int = 1) -> list[PodBody]:
    """Pods of `web` that hold quota, bound or not: their images may still be on their way."""
    return [made(running(f"own-{n}", cards), resource) for n in range(number)]


def own_gated(number: int, resource: str = "deployments") -> list[PodBody]:
    """Pods of `web` that are there and hold nothing."""
    gated = (pod().put(f"gated-{n}", "metadata", "name").gated() for n in range(number))
    return [made(body, resource).with_uid(body.name) for body in gated]


async def warned(
    endpoint: Endpoint,
    resource: str,
    template: PodBody,
    old: dict[str, Any] | None = None,
    **spec: Any,
) -> list[str]:
    """The warnings on such a workload named `web`. `old`: as it stood, by `stored`."""
    said: ReviewAnswer = await endpoint.review("/validate", asked(resource, template, old, **spec))
    assert said.allowed
    return said.warnings


def asked(
    resource: str, template: PodBody, old: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    """The question that the API server has then."""
    return {
        "uid": "u",
        "resource": {"group": GROUPS[resource], "version": "v1", "resource": resource},
        "operation": "UPDATE" if old else "CREATE",
        "name": "web",
        "namespace": "team",
        "object": {"metadata": {"name": "web"}, "spec": spec_of(resource, template, **spec)},
        "oldObject": old,
    }


def spec_of(resource: str, template: PodBody, **spec: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"template": template.body, **spec}
    return {"jobTemplate": {"spec": body}} if resource == "cronjobs" else body


def stored(template: PodBody, resource: str = "deployments", **status: Any) -> dict[str, Any]:
    """A workload named `web` as it stands, and what its controller says of its pods."""
    return {"metadata": {"name": "web"}, "spec": spec_of(resource, template), "status": status}
