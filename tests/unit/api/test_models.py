"""The models as the operator uses them: read what is stored, build what is applied."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from cardquota.api import (
    CardStatus,
    PodGroupSchema,
    QueueCondition,
    QueueSchema,
    QueueStatusSchema,
    ResourceStatus,
    StatusColumns,
)

SAMPLES = Path(__file__).parents[2] / "integration" / "api" / "samples"


def sample(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((SAMPLES / name).read_text())
    return loaded


@pytest.mark.parametrize("name", ["queue.yaml", "queue-default.yaml"])
def test_sample_queues_round_trip(name: str) -> None:
    stored = sample(name)
    assert QueueSchema.model_validate(stored).to_wire() == stored | {"status": {}}


def test_sample_pod_group_round_trips() -> None:
    stored = sample("gang.yaml")
    wire = PodGroupSchema.model_validate(stored).to_wire()
    assert wire == stored | {"status": {}}


def test_reading_skips_what_it_does_not_know() -> None:
    queue = QueueSchema.model_validate(
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": "a", "generation": 3, "managedFields": [{}], "x": 1},
            "spec": {"weight": 0, "parent": "other", "tomorrow": {"a": 1}},
            "status": {"state": "Dreaming", "allocated": {"cpu": "1"}, "y": []},
        }
    )
    assert queue.metadata.generation == 3
    assert queue.spec.weight == 0
    assert queue.spec.parent == "other"
    assert queue.status.state == "Dreaming"
    assert queue.status.allocated == {"cpu": "1"}


def test_reading_checks_types() -> None:
    with pytest.raises(ValidationError, match=r"spec\.priority"):
        QueueSchema.model_validate({"spec": {"priority": "high"}})


def test_an_empty_object_is_readable() -> None:
    assert QueueSchema.model_validate({}).status.cards is None
    assert PodGroupSchema.model_validate({}).spec.min_member is None


def test_a_status_has_its_wire_form() -> None:
    status = QueueStatusSchema(
        state="Open",
        observed_generation=1,
        cards=[
            CardStatus(
                name="NVIDIA-H200",
                resource="nvidia.com/gpu",
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
            ResourceStatus(
                name="memory", allocated="1Gi", inqueue="0", requested="1Gi", elastic="0"
            )
        ],
        conditions=[
            QueueCondition(
                type="QuotaValid",
                status="True",
                observed_generation=1,
                last_transition_time="2026-01-02T03:04:05Z",
                reason="Read",
                message="",
            )
        ],
        columns=StatusColumns(cards="NVIDIA-H200 2/3", elastic="-"),
    )
    assert status.model_dump(by_alias=True, exclude_none=True) == {
        "state": "Open",
        "observedGeneration": 1,
        "cards": [
            {
                "name": "NVIDIA-H200",
                "resource": "nvidia.com/gpu",
                "quota": 3,
                "allocated": 2,
                "inqueue": 1,
                "requested": 4,
                "elastic": 0,
                "guarantee": 3,
                "deserved": 3,
            }
        ],
        "resources": [
            {
                "name": "memory",
                "allocated": "1Gi",
                "inqueue": "0",
                "requested": "1Gi",
                "elastic": "0",
            }
        ],
        "conditions": [
            {
                "type": "QuotaValid",
                "status": "True",
                "observedGeneration": 1,
                "lastTransitionTime": "2026-01-02T03:04:05Z",
                "reason": "Read",
                "message": "",
            }
        ],
        "columns": {"cards": "NVIDIA-H200 2/3", "elastic": "-"},
    }


def test_a_status_that_says_nothing_owns_nothing() -> None:
    assert QueueStatusSchema().to_wire() == {}


def test_quantities_keep_the_form_they_were_written_in() -> None:
    queue = QueueSchema.model_validate(
        {"spec": {"capability": {"cpu": 4, "memory": "4Gi", "x/y": "2"}}}
    )
    assert queue.spec.capability == {"cpu": 4, "memory": "4Gi", "x/y": "2"}
    assert isinstance((queue.spec.capability or {})["cpu"], int)
