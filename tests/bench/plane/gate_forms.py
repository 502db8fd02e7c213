"""What the write that opens a gate costs the API server, by its form.

One plane with our policies and nothing else of ours, one without anything of ours. The benchmark
itself sends what the operator sends, as the operator's user. What the API server allocates is the
figure to trust: it does not depend on how fast the machine is. It cannot be an apply: nobody can
take out by it what another has put there.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from builders import a_ledger, a_queue
from cardquota.control.release import gate_patch
from cardquota.install import render_policies
from cardquota.quota import Stamp
from cardquota.quota import vocabulary as v
from cardquota.quota.nodes.node_facts import node_facts
from cardquota.quota.objects import Node, Pod
from cardquota.quota.pods.pod_facts import pod_facts
from cardquota.settings import GateSetter, Settings, Webhook
from cardquota_dev.testing import Cluster, running_plane
from integration.roomy_nodes import T1000, add_roomy_nodes

from ..bodies.pod_bodies import queued
from ..figure import Report, median
from ..processes.crowd import MERGE, Crowd, EncodedRequest, call
from ..processes.pod_price import PricedPlane

_ROUNDS: Final = 5
_PODS: Final = 200
_AT_A_TIME: Final = 8
_QUEUE: Final = "bench"
_TERM: Final = "bench"
_JSON_PATCH: Final = "application/json-patch+json"
_STRATEGIC: Final = "application/strategic-merge-patch+json"
_METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_NOBODY: Final = {"schedulerName": "nobody"}

Patch = dict[str, Any]


class _Form:
    """How one patch of a gate is sent."""

    def __init__(
        self, content_type: str = MERGE, *, whole: bool = False, validated: bool = True
    ) -> None:
        self.content_type = content_type
        self.accept = "application/json" if whole else _METADATA
        self.query = f"?fieldManager={v.FIELD_MANAGER}" + (
            "" if validated else "&fieldValidation=Ignore"
        )

    def body(self, patch: Patch) -> object:
        """What is sent, from the merge patch that the operator sends."""
        return patch


class _JsonPatch(_Form):
    def __init__(self) -> None:
        super().__init__(_JSON_PATCH)

    def body(self, patch: Patch) -> object:
        notes = patch["metadata"]["annotations"]
        version = patch["metadata"]["resourceVersion"]
        return [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
            *(
                {"op": "add", "path": f"/metadata/annotations/{_escaped(key)}", "value": value}
                for key, value in notes.items()
            ),
            {"op": "remove", "path": "/spec/schedulingGates"},
            {"op": "add", "path": "/spec/affinity", "value": patch["spec"]["affinity"]},
        ]


class _Strategic(_Form):
    def __init__(self) -> None:
        super().__init__(_STRATEGIC)

    def body(self, patch: Patch) -> object:
        gone = [{"$patch": "delete", "name": v.GATE}]
        return {**patch, "spec": {**patch["spec"], "schedulingGates": gone}}


class _WithoutAffinity(_Form):
    def body(self, patch: Patch) -> object:
        return {**patch, "spec": {"schedulingGates": []}}


class _OneAnnotation(_Form):
    """The least that a write of a pod can be; the gate stays."""

    def body(self, patch: Patch) -> object:
        keys = ("uid", "resourceVersion")
        known = {key: patch["metadata"][key] for key in keys}
        return {"metadata": {**known, "annotations": {v.SETTLE: "x"}}}


_FORMS: Final[Mapping[str, _Form]] = {
    "as the operator sends it": _Form(),
    "the whole pod in the answer": _Form(whole=True),
    "no validation of fields": _Form(validated=False),
    "a JSON patch": _JsonPatch(),
    "a strategic merge patch": _Strategic(),
    "without the affinity": _WithoutAffinity(),
    "one annotation, the gate stays": _OneAnnotation(),
}
_FIRST: Final = next(iter(_FORMS))


def run(report: Report) -> None:
    """All figures."""
    with tempfile.TemporaryDirectory() as folder, _planes(Path(folder)) as clusters:
        asyncio.run(_measure(clusters, report))


@contextmanager
def _planes(folder: Path) -> Iterator[dict[str, Cluster]]:
    with ExitStack() as stack:
        clusters = {
            name: stack.enter_context(
                running_plane(folder / f"plane-{number}", replicas=0, crds="ours")
            )
            for number, name in enumerate(("bare", "policies"))
        }
        for cluster in clusters.values():
            add_roomy_nodes(cluster)
        settings = Settings(webhook=Webhook(gate=GateSetter.POLICY))
        clusters["policies"].apply(render_policies(settings))
        yield clusters


async def _measure(clusters: Mapping[str, Cluster], report: Report) -> None:
    user = Settings().service_account_user
    async with AsyncExitStack() as stack:
        lines = [
            (
                name,
                PricedPlane(cluster, await stack.enter_async_context(Crowd(cluster))),
                await stack.enter_async_context(Crowd(cluster, as_user=user)),
            )
            for name, cluster in clusters.items()
        ]
        for _, plane, _ in lines:
            await _name_term(plane.crowd)
        sizes: dict[tuple[str, str], list[float]] = {}
        times: dict[tuple[str, str], list[float]] = {}
        lengths: dict[str, int] = {}
        for number in range(_ROUNDS):
            for at, form in enumerate(_FORMS):
                for name, plane, operator in lines:
                    space = f"round-{number}-{at}"
                    size, cost, length = await _opened(plane, operator, _FORMS[form], space)
                    sizes.setdefault((name, form), []).append(size)
                    times.setdefault((name, form), []).append(cost)
                    lengths[form] = length
    for key in sizes:
        name, form = key
        said = f"{name}, {form} ({lengths[form]} bytes)"
        report(median(f"{said}: API server allocates", sizes[key], "KiB"))
        report(median(f"{said}: API server", times[key], "ms"))
        parts = [a / b for a, b in zip(sizes[key], sizes[name, _FIRST], strict=True)]
        report(median(f"{said}: allocates, against the operator's", parts, ""))


async def _name_term(crowd: Crowd) -> None:
    """The term in which gates may be opened."""
    space = v.OPERATOR_NAMESPACE
    await crowd.send(call("POST", "/api/v1/namespaces", {"metadata": {"name": space}}))
    version = f"{v.REVIEW_GROUP}/{v.REVIEW_VERSION}"
    term = {"apiVersion": version, "kind": v.TERM_KIND, "metadata": {"name": v.LEASE}}
    path = f"/apis/{version}/namespaces/{space}/{v.TERMS}"
    await crowd.send(call("POST", path, {**term, "spec": {"term": _TERM}}))


async def _opened(
    plane: PricedPlane, operator: Crowd, form: _Form, space: str
) -> tuple[float, float, int]:
    """KiB and milliseconds of the API server for one write, and the bytes of its body."""
    crowd, pods = plane.crowd, await plane.crowd.make_namespace(space, {})
    ledger = a_ledger(a_queue(_QUEUE).with_quota({T1000: _PODS}))
    nodes = json.loads(await crowd.send(EncodedRequest("GET", "/api/v1/nodes")))["items"]
    for node in nodes:
        ledger.node_seen(node_facts(msgspec.convert(node, Node), ledger.vendors))
    calls = []
    for number in range(_PODS):
        answer = await crowd.send(call("POST", pods, _body(f"p{number}")))
        facts = pod_facts(msgspec.json.decode(answer, type=Pod))
        stamp = Stamp(cards=((T1000, 1),), queue=_QUEUE, term=_TERM)
        patch = msgspec.to_builtins(gate_patch(ledger, facts, stamp, "nvidia.com/gpu"))
        body = form.body(patch)
        path = f"{pods}/p{number}{form.query}"
        calls.append(call("PATCH", path, body, form.content_type, accept=form.accept))
    warm, counted = calls[: _PODS // 4], calls[_PODS // 4 :]
    await operator.send_all(warm, _AT_A_TIME)
    many = len(counted)
    size, cost = await asyncio.to_thread(plane.allocated, many), plane.paid(many)
    await operator.send_all(counted, _AT_A_TIME)
    cost = plane.paid(many) - cost
    size = await asyncio.to_thread(plane.allocated, many) - size
    await crowd.clear(pods)
    return size, cost, len(counted[-1].body)


def _body(name: str) -> Patch:
    """Of a pod that is gated, whoever gates it."""
    pod = queued(name, _QUEUE)
    labels = {v.MANAGED: v.IS_MANAGED}
    gates = {"schedulingGates": [{"name": v.GATE}]}
    metadata = {**pod["metadata"], "labels": labels}
    return {**pod, "metadata": metadata, "spec": {**pod["spec"], **_NOBODY, **gates}}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
