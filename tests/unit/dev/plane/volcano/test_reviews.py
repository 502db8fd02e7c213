import pytest

from cardquota_dev.plane.volcano.admission.reviews import (
    job_defaults,
    job_fault,
    job_warnings,
    queue_fault,
)

from .volcano_objects import Json, a_task, a_volcano_job

QUEUES = {"default": "Open", "shut": "Closed", "new": ""}


def a_spec(**spec: object) -> Json:
    annotations = {"volcano.sh/card.quota": "{broken"}
    return {"metadata": {"name": "q", "annotations": annotations}, "spec": spec}


@pytest.mark.parametrize("deserved", [{}, {"deserved": {"cpu": "3900m"}}])
def test_what_is_guaranteed_must_be_deserved(deserved: Json) -> None:
    said = queue_fault(a_spec(guarantee={"resource": {"cpu": "4"}}, **deserved))
    assert said.startswith("requestBody.spec.deserved.cpu: Invalid value: ")


def test_a_queue_that_keeps_to_it_is_admitted_with_a_broken_card_quota() -> None:
    assert queue_fault(a_spec()) == ""
    assert queue_fault(a_spec(guarantee={"resource": {"cpu": "4"}}, deserved={"cpu": "4"})) == ""


def test_no_more_can_be_deserved_than_allowed() -> None:
    assert "spec.deserved.cpu" in queue_fault(a_spec(deserved={"cpu": 4}, capability={"cpu": 2}))
    assert queue_fault(a_spec(deserved={"cpu": 4}, capability={"memory": 2})) == ""
    assert "spec.weight" in queue_fault(a_spec(weight=0))


@pytest.mark.parametrize(
    ("state", "refused"), [("", False), ("Open", False), ("Closed", False), ("Closing", True)]
)
def test_no_update_of_a_closing_queue_is_admitted(state: str, *, refused: bool) -> None:
    said = queue_fault({**a_spec(), "status": {"state": state}})
    assert bool(said) is refused
    assert not refused or "queue state must be in [Open Closed]" in said


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (a_volcano_job(a_task()), ""),
        (a_volcano_job(a_task(), queue="new"), ""),
        (a_volcano_job(), "no task"),
        (a_volcano_job(a_task(), minimum=3), "minAvailable 3 is more than all 2 replicas"),
        (a_volcano_job(a_task(), a_task()), "two tasks have one name"),
        (a_volcano_job(a_task(), queue="lost"), "unable to find job queue: lost"),
        (a_volcano_job(a_task(), queue="shut"), "queue shut is Closed"),
    ],
)
def test_jobs(job: Json, said: str) -> None:
    found = job_fault(job, QUEUES)
    assert found.startswith(said)
    assert bool(found) is bool(said)


def test_what_is_not_simulated_of_a_task_is_said() -> None:
    task = {**a_task(), "partitionPolicy": {"x": 1}, "dependsOn": {"name": ["a"]}}
    said = job_warnings(a_volcano_job(a_task(), task))
    assert ["not do partitionPolicy" in one for one in said] == [True, False]
    assert job_warnings(a_volcano_job(a_task())) == []


def test_defaults_of_a_job() -> None:
    nameless = {**a_task(replicas=3), "name": ""}
    patch = {one["path"]: one["value"] for one in job_defaults(a_volcano_job(nameless))}
    assert patch == {
        "/spec/queue": "default",
        "/spec/schedulerName": "volcano",
        "/spec/maxRetry": 3,
        "/spec/minAvailable": 3,
        "/spec/tasks/0/name": "default0",
    }
