"""The CRDs on a real API server: what it keeps, fills in and refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.plane

Kubectl = Callable[..., CompletedProcess[str]]
Stored = Callable[[str, str], dict[str, Any]]

SAMPLES = Path(__file__).parent / "samples"
NAMES = ("queues.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh")


def test_crds_are_structural(stored: Stored) -> None:
    for crd in NAMES:
        conditions = stored("crd", crd)["status"]["conditions"]
        status = {condition["type"]: condition["status"] for condition in conditions}
        assert status["Established"] == "True"
        assert status["NamesAccepted"] == "True"
        assert "NonStructuralSchema" not in status


@pytest.mark.parametrize("file", ["queue.yaml", "queue-default.yaml", "gang.yaml"])
def test_samples_apply_unchanged(kubectl: Kubectl, file: str) -> None:
    text = (SAMPLES / file).read_text()
    applied = kubectl(
        *("apply", "--server-side", "--dry-run=server", "-o", "json", "-f", "-"), input=text
    )
    assert applied.returncode == 0, applied.stderr

    wanted, stored = yaml.safe_load(text), json.loads(applied.stdout)
    assert stored["metadata"]["annotations"] == wanted["metadata"]["annotations"]
    assert stored["spec"] | wanted["spec"] == stored["spec"]


def test_absent_fields_get_volcanos_defaults(stored: Stored, create: Kubectl, name: str) -> None:
    assert create("Queue", spec={}).returncode == 0
    assert create("PodGroup", spec={}).returncode == 0
    assert stored("queue", name)["spec"] == {
        "weight": 1,
        "reclaimable": True,
        "dequeueStrategy": "traverse",
    }
    assert stored("podgroup", name)["spec"] == {"queue": "default"}


def test_unknown_fields_are_pruned(stored: Stored, create: Kubectl, name: str) -> None:
    assert create("Queue", spec={"priority": 2, "colour": "red"}).returncode == 0
    assert "colour" not in stored("queue", name)["spec"]


@pytest.mark.parametrize("parent", ["", "root"])
def test_a_flat_queue_may_say_so(create: Kubectl, parent: str) -> None:
    assert create("Queue", spec={"parent": parent}).returncode == 0


@pytest.mark.parametrize(
    ("kind", "spec", "text"),
    [
        ("Queue", {"parent": "company"}, "queues are flat here"),
        ("Queue", {"weight": -1}, "weight is a queue's share"),
        ("Queue", {"weight": 0}, "must be at least 1"),
        ("Queue", {"capability": {"cpu": -1}}, "an amount in capability is negative"),
        ("Queue", {"capability": {"memory": "-1Gi"}}, "an amount in capability is negative"),
        ("Queue", {"deserved": {"cpu": "-1"}}, "an amount in deserved is negative"),
        ("Queue", {"guarantee": {"resource": {"cpu": -1}}}, "an amount in guarantee.resource"),
        ("Queue", {"capability": {"cpu": "4 cores"}}, "spec.capability.cpu"),
        ("Queue", {"capability": {"cpu": 0.5}}, "spec.capability.cpu"),
        ("Queue", {"priority": -1}, "spec.priority"),
        ("Queue", {"dequeueStrategy": "lifo"}, "spec.dequeueStrategy"),
        ("PodGroup", {"minMember": -1}, "minMember is the number of pods"),
        ("PodGroup", {"minResources": {"cpu": "-2"}}, "an amount in minResources is negative"),
        ("PodGroup", {"queue": "Not_A_Name"}, "spec.queue"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(
    create: Kubectl, kind: str, spec: dict[str, Any], text: str
) -> None:
    refused = create(kind, spec=spec)
    assert refused.returncode != 0
    assert text in refused.stderr


def test_quantities_are_numbers_or_texts(stored: Stored, create: Kubectl, name: str) -> None:
    capability = {"cpu": 4, "memory": "1.5Gi", "nvidia.com/gpu": "8", "example.com/x": "1e3"}
    assert create("Queue", spec={"capability": capability}).returncode == 0
    assert stored("queue", name)["spec"]["capability"] == capability


def test_volcanos_own_fields_are_kept(stored: Stored, create: Kubectl, name: str) -> None:
    selector = {"matchLabels": {"role": "worker"}}
    spec = {
        "minMember": 2,
        "minTaskMember": {"worker": 2},
        "queue": "team-a",
        "priorityClassName": "high",
        "minResources": {"cpu": "2", "nvidia.com/gpu": 2},
        "networkTopology": {"mode": "soft", "highestTierAllowed": 2},
        "subGroupPolicy": [
            {"name": "a", "subGroupSize": 2, "minSubGroups": 1, "labelSelector": selector}
        ],
        "topologyAffinity": {"subGroupAffinity": {"required": [{"weight": 1}]}},
    }
    assert create("PodGroup", spec=spec).returncode == 0
    assert stored("podgroup", name)["spec"] == spec
    weighted = [{"name": "far", "weight": 2, "capacity": {"cpu": "1"}}]
    queue = {"extendClusters": weighted, "dra": {"capability": {"a": {"count": 1}}}}
    assert create("Queue", spec=queue).returncode == 0
    assert stored("queue", name)["spec"].items() >= queue.items()
