"""Status on a real API server: rows merge by name, and kubectl prints them."""

from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import pytest

from cardquota.api import (
    CardStatus,
    QueueCondition,
    QueueStatusSchema,
    ResourceStatus,
    StatusColumns,
)

pytestmark = pytest.mark.plane

Kubectl = Callable[..., CompletedProcess[str]]
Stored = Callable[[str, str], dict[str, Any]]


def test_rows_of_a_status_merge_by_name(
    stored: Stored, create: Kubectl, name: str, apply_status: Callable[..., None]
) -> None:
    assert create("Queue", spec={}).returncode == 0
    h200 = CardStatus(name="NVIDIA-H200", resource="nvidia.com/gpu", quota=3, allocated=2)
    h800 = CardStatus(name="NVIDIA-H800", resource="nvidia.com/gpu", quota=2, allocated=0)

    apply_status(QueueStatusSchema(cards=[h200, h800]))
    apply_status(QueueStatusSchema(cards=[CardStatus(name="Ascend-910B", quota=8)]), "other")
    rows = stored("queue", name)["status"]["cards"]
    assert {row["name"] for row in rows} == {"NVIDIA-H200", "NVIDIA-H800", "Ascend-910B"}

    apply_status(QueueStatusSchema(cards=[h200.model_copy(update={"allocated": 3})]))
    rows = stored("queue", name)["status"]["cards"]
    assert {row["name"]: row.get("allocated") for row in rows} == {
        "NVIDIA-H200": 3,
        "Ascend-910B": None,
    }


def test_a_whole_status_is_kept_and_printed(
    kubectl: Kubectl, stored: Stored, create: Kubectl, name: str, apply_status: Callable[..., None]
) -> None:
    assert create("Queue", spec={}).returncode == 0
    status = QueueStatusSchema(
        state="Open",
        observed_generation=1,
        allocated={"cpu": "1", "nvidia.com/gpu": "2"},
        cards=[
            CardStatus(
                name="NVIDIA-H800/mps-80g*1/2",
                resource="nvidia.com/gpu.shared",
                quota=3,
                allocated=2,
                inqueue=1,
                requested=4,
                elastic=0,
                guarantee=3,
                deserved=3,
            )
        ],
        resources=[
            ResourceStatus(name="cpu", allocated="1", inqueue="0", requested="1500m", elastic="0"),
            ResourceStatus(
                name="memory",
                quota="4Gi",
                allocated="1Gi",
                inqueue="0",
                requested="1536Mi",
                elastic="0",
            ),
        ],
        conditions=[
            QueueCondition(
                type="QuotaValid",
                status="True",
                observed_generation=1,
                last_transition_time="2026-01-02T03:04:05Z",
                reason="QuotaRead",
                message="",
            )
        ],
        columns=StatusColumns(
            cards="H800 2/3", inqueue="H800 1", elastic="-", requested="H800 4", cpu="1", memory="-"
        ),
    )
    apply_status(status)
    assert stored("queue", name)["status"] == status.to_wire()

    header, row = kubectl("get", "queues", name).stdout.splitlines()
    assert header.split() == ["NAME", "STATE", "CARDS", "INQUEUE", "ELASTIC", "NOTE", "AGE"]
    *shown, age = row.split()
    assert shown == [name, "Open", "H800", "2/3", "H800", "1", "-"]
    assert "<" not in age
    header = kubectl("get", "queues", name, "-o", "wide").stdout.splitlines()[0]
    assert header.split() == [
        *("NAME", "STATE", "CARDS", "INQUEUE", "ELASTIC", "NOTE", "AGE"),
        *("REQUESTED", "CPU", "MEMORY"),
    ]


def test_a_queues_status_has_a_door_of_its_own(stored: Stored, create: Kubectl, name: str) -> None:
    assert create("Queue", spec={}, status={"state": "Closed"}).returncode == 0
    assert "status" not in stored("queue", name)


def test_a_pod_groups_phase_is_written_on_the_object(
    kubectl: Kubectl, create: Kubectl, name: str
) -> None:
    assert create("PodGroup", spec={"minMember": 2}).returncode == 0
    patched = kubectl(
        *("patch", "podgroup", name, "--type=merge"), "-p", '{"status":{"phase":"Inqueue"}}'
    )
    assert patched.returncode == 0, patched.stderr
    header, row = kubectl("get", "podgroups", name).stdout.splitlines()
    assert header.split() == [
        *("NAME", "PHASE", "QUEUE", "CARDS", "MIN", "RUNNING", "REASON", "AGE")
    ]
    assert row.split()[:4] == [name, "Inqueue", "default", "2"]
