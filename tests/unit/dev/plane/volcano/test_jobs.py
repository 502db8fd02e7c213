"""What becomes of a job, step by step."""

import pytest

from cardquota_dev.plane.volcano.api_objects import Json
from cardquota_dev.plane.volcano.controllers.job_pods import job_group, job_pods
from cardquota_dev.plane.volcano.controllers.job_step import job_phase, next_step, state
from cardquota_dev.plane.volcano.controllers.retry_pauses import TRIES, RetryPauses

from .volcano_objects import a_pod, a_pod_group, a_task, a_volcano_job


def phase_after(job: Json, *pods: Json, group: Json | None = None) -> str:
    return job_phase({"status": next_step(job, group, pods).status})


def in_phase(phase: str) -> Json:
    return a_volcano_job(a_task(), status={"state": {"phase": phase}})


def test_the_group_has_the_minimum_of_the_first_tasks_and_no_phase() -> None:
    job = a_volcano_job(a_task("a", 1, "4"), a_task("b", 3, "1"), minimum=2, queue="research")
    group = job_group(job)
    assert group["metadata"]["name"] == "train-u1"
    assert group["metadata"]["annotations"] == {"volcano.sh/card.request": "x"}
    assert "status" not in group
    spec = group["spec"]
    assert (spec["minMember"], spec["queue"]) == (2, "research")
    assert spec["minTaskMember"] == {"a": 1, "b": 3}
    assert spec["minResources"] == {
        "count/pods": "2",
        "pods": "2",
        "cpu": "5",
        "requests.cpu": "5",
    }


def test_pods_have_the_marks_of_volcano_and_of_their_template() -> None:
    pods = job_pods(a_volcano_job(a_task()))
    assert list(pods) == ["train-worker-0", "train-worker-1"]
    pod = pods["train-worker-1"]
    marks = pod["metadata"]["annotations"]
    assert marks["volcano.sh/card.name"] == "NVIDIA-H200"
    assert marks["scheduling.k8s.io/group-name"] == "train-u1"
    assert marks["volcano.sh/queue-name"] == "default"
    assert "scheduling.volcano.sh/queue-name" not in marks
    assert pod["metadata"]["labels"]["volcano.sh/queue-name"] == "default"
    assert pod["spec"]["schedulerName"] == "volcano"
    (owner,) = pod["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Job", "u1", True)


@pytest.mark.parametrize("phase", ["", "Pending"])
def test_no_pods_until_the_group_is_enqueued(phase: str) -> None:
    job = a_volcano_job(a_task())
    assert next_step(job, None, []).create == []
    assert next_step(job, a_pod_group(phase=phase), []).create == []
    assert len(next_step(job, a_pod_group(), []).create) == 2
    assert len(next_step(job, a_pod_group(), [a_pod("train-worker-0")]).create) == 1


def test_a_job_runs_with_its_minimum_and_completes_with_its_last_pod() -> None:
    job = a_volcano_job(a_task())
    one, two = (a_pod(name, phase="Running") for name in "ab")
    done = a_pod("a", phase="Succeeded"), a_pod("b", phase="Succeeded")
    assert phase_after(job) == "Pending"
    assert phase_after(job, one) == "Pending"
    assert phase_after(job, one, two) == "Running"
    assert phase_after(in_phase("Running"), one) == "Running"
    assert phase_after(in_phase("Running"), *done) == "Completed"
    assert phase_after(in_phase("Running"), done[0], a_pod("b", phase="Failed")) == "Failed"
    assert next_step(in_phase("Running"), None, done).status["succeeded"] == 2


@pytest.mark.parametrize(
    ("phase", "after"), [("Aborting", "Aborted"), ("Terminating", "Terminated")]
)
def test_an_ending_job_loses_its_unfinished_pods_and_its_group(phase: str, after: str) -> None:
    pods = a_pod("a", phase="Running"), a_pod("b", phase="Succeeded")
    step = next_step(in_phase(phase), a_pod_group(), pods)
    assert [one["metadata"]["name"] for one in step.delete] == ["a"]
    assert not step.has_group
    assert job_phase({"status": step.status}) == phase
    assert phase_after(in_phase(phase), a_pod("a", deleted=True)) == phase
    assert phase_after(in_phase(phase), pods[1]) == after


def test_a_job_that_starts_again_loses_all_pods() -> None:
    pods = a_pod("a", phase="Running"), a_pod("b", phase="Succeeded")
    assert len(next_step(in_phase("Restarting"), None, pods).delete) == 2
    step = next_step(in_phase("Restarting"), None, [])
    assert (job_phase({"status": step.status}), step.status["retryCount"]) == ("Pending", 1)


def test_a_step_without_news_leaves_the_status_as_it_is() -> None:
    job = a_volcano_job(a_task())
    job["status"] = next_step(job, None, []).status
    assert next_step(job, None, []).status == job["status"]
    assert state(job, "Aborting", "AbortJob")["state"]["reason"] == "AbortJob"


def test_the_pauses_double_and_add_up_to_less_than_three_minutes() -> None:
    pauses = [RetryPauses().after(refusals) for refusals in range(1, TRIES + 2)]
    assert pauses.pop() is None
    assert pauses[:3] == [0.005, 0.01, 0.02]
    assert sum(one or 0.0 for one in pauses) == pytest.approx(163.8, abs=0.1)


def test_tests_may_have_shorter_pauses_and_as_many_tries() -> None:
    short = RetryPauses(longest=0.03)
    assert [short.after(one) for one in (1, 4, TRIES, TRIES + 1)] == [0.005, 0.03, 0.03, None]
