"""P1: what a pod asks for in total is what kube-scheduler says, of generated pods."""

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from builders import GPU
from cardquota.quota.objects import Pod, PodSpec
from cardquota.quota.pods import PodTotals, pod_totals
from cardquota_dev.testing import Cluster, eventually
from harness.newer_kubernetes import POD_LEVEL_RESOURCES

from ..asking import ask
from .any_pod import any_spec
from .scheduler_counts import devices, in_bytes, in_milli_cores, scheduler_counts

PODS = 250
SEED = 20260101
LAST = "last"
ONE_CORE = {"requests": {"cpu": 1}}
_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"


@pytest.fixture
def runtime_classes(plane: Cluster, unique: str) -> Iterator[tuple[str, ...]]:
    """Runtime classes that add an overhead to each pod: of cpu and memory, and of a card too."""
    overheads: list[dict[str, Any]] = [
        {"cpu": "250m", "memory": "120Mi"},
        {"memory": "1Gi", GPU: "1"},
    ]
    names = tuple(f"{unique}-{number}" for number in range(len(overheads)))
    for name, overhead in zip(names, overheads, strict=True):
        body = {"metadata": {"name": name}, "handler": "h", "overhead": {"podFixed": overhead}}
        assert (reply := ask(plane, "POST", _CLASSES, body)).ok, reply
    yield names
    for name in names:
        ask(plane, "DELETE", f"{_CLASSES}/{name}")


@pytest.mark.newer_kubernetes(POD_LEVEL_RESOURCES)
@pytest.mark.slow
def test_p1_the_totals_are_what_the_scheduler_counts(
    plane: Cluster, namespace: str, runtime_classes: tuple[str, ...]
) -> None:
    if plane.folder is None:
        pytest.skip("the scheduler's own port is reached on planes of our own only")
    chance = random.Random(SEED)
    written = {f"p{number}": any_spec(chance, runtime_classes) for number in range(PODS)}
    written[LAST] = {"containers": [{"name": "c", "image": "i", "resources": ONE_CORE}]}
    for name, spec in written.items():
        # Nobody binds them, so none of them ends.
        body = {"metadata": {"name": name}, "spec": {**spec, "schedulerName": "nobody"}}
        assert (reply := ask(plane, "POST", path(namespace), body)).ok, (spec, reply.message)
    # The scheduler sees pods in the order of their creation: with the last it has seen them all.
    eventually(lambda: LAST in scheduler_counts(plane, namespace), "the scheduler sees the pods")

    counts = scheduler_counts(plane, namespace)
    wrong = []
    for item in ask(plane, "GET", path(namespace)).body["items"]:
        pod = msgspec.json.decode(msgspec.json.encode(item), type=Pod)
        name, theirs = pod.metadata.name, counts.get(pod.metadata.name, {})
        expected = PodTotals(devices(theirs), in_milli_cores(theirs), in_bytes(theirs))
        # A template has no defaults of the API server, and no overhead yet.
        template = msgspec.convert(written[name], PodSpec)
        template.overhead = pod.spec.overhead
        found = (pod_totals(pod.spec), pod_totals(template))
        if set(found) != {expected}:
            wrong.append((found, expected, written[name]))
    assert not wrong, f"{len(wrong)} of {PODS}, the first: {wrong[0]}"
    assert len(set(map(str, counts.values()))) > PODS / 2, "the pods are too much alike"


def path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"
