"""V4: A Job of Volcano that can never run is refused at its create, on a real API server."""

import json
from collections.abc import Iterator
from copy import deepcopy

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, fresh_namespace
from integration.asking import MERGE, ApiReply, Object, ask
from integration.roomy_nodes import T1000
from integration.team import Team, notes

from .volcano_jobs import running, submit, volcano_job

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces"


@pytest.fixture
def team(beside_volcano: Cluster, unique: str) -> Iterator[Team]:
    with fresh_namespace(beside_volcano, unique) as namespace:
        team = Team(beside_volcano, namespace, unique)
        team.has_queue({T1000: 3})
        until_published(team)
        yield team


def until_published(team: Team) -> None:
    """The operator has seen the queue."""

    def published() -> bool:
        shown = json.loads(notes(team.queue()).get(v.STATUS, "{}"))
        return [row["quota"] for row in shown.get("cards", ())] == [3]

    team.until(published, "the queue is seen")


def two_tasks(team: Team) -> Object:
    """A master and a worker, as in an example of everyday: each task with its own template."""
    job = volcano_job(team, "cr-job", 1, T1000)
    job["metadata"]["annotations"] = {v.REQUEST: json.dumps({T1000: 2})}
    (task,) = job["spec"]["tasks"]
    master, worker = deepcopy(task), deepcopy(task)
    master["name"], worker["name"] = "master", "worker"
    labels = [{"key": "nvidia.com/gpu.product", "operator": "In", "values": [T1000]}]
    required = {"nodeSelectorTerms": [{"matchExpressions": labels}]}
    master["template"]["spec"]["affinity"] = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
    }
    policy = {"action": "CompleteJob", "event": "TaskCompleted"}
    job["spec"].update(minAvailable=2, tasks=[master, worker], policies=[policy])
    return job


def try_out(team: Team, job: Object) -> ApiReply:
    path = f"{JOBS}/{team.namespace}/jobs?dryRun=All"
    return ask(team.cluster, "POST", path, job)


def sized(job: Object, replicas: int, together: int) -> Object:
    found = deepcopy(job)
    found["spec"]["minAvailable"] = together
    found["spec"]["tasks"][0]["replicas"] = replicas
    return found


@pytest.mark.slow
def test_v4_a_job_of_two_tasks_that_fits_is_created_in_silence_and_runs(team: Team) -> None:
    reply = submit(team, two_tasks(team))
    assert (reply.ok, reply.warnings) == (True, ())
    team.until(lambda: running(team, "cr-job") == 2, "both are bound")
    second = two_tasks(team)
    second["metadata"]["name"] = "second"
    reply = try_out(team, second)
    assert (reply.ok, reply.warnings) == (True, ())  # its group and pods are told


@pytest.mark.slow
def test_v4_what_can_never_run_is_refused_and_nothing_of_it_exists(team: Team) -> None:
    job = volcano_job(team, "wrong", 1, T1000)
    unknown = volcano_job(team, "wrong", 1, "NVIDIA-T1O00")
    large = sized(job, 4, 4)
    asked = deepcopy(job)
    asked["metadata"]["annotations"] = {v.REQUEST: json.dumps({T1000: 4})}
    unreadable = deepcopy(job)
    unreadable["metadata"]["annotations"] = {v.REQUEST: "[]"}
    for one, reason, says in (
        (unknown, "InvalidCardAnnotation", "a pod of task <worker>: Queue"),
        (large, "InsufficientCardQuota", "its minimum of 4 pods, which start together"),
        (asked, "InsufficientCardQuota", "requested <4>"),
        (unreadable, "InvalidCardAnnotation", "cannot be read"),
    ):
        reply = submit(team, one)
        assert (reply.code, reply.reason) == (403, reason)
        assert f"Job <{team.namespace}/wrong> can never run: " in reply.message
        assert says in reply.message
    assert ask(team.cluster, "GET", f"{JOBS}/{team.namespace}/jobs/wrong").code == 404
    assert team.pods() == []


@pytest.mark.slow
def test_v4_a_change_is_not_reviewed(team: Team) -> None:
    assert submit(team, volcano_job(team, "train", 3, T1000)).ok
    team.until(lambda: running(team, "train") == 3, "all are bound")
    grown = {"spec": sized(volcano_job(team, "train", 3, T1000), 4, 4)["spec"]}
    path = f"{JOBS}/{team.namespace}/jobs/train"
    reply = ask(team.cluster, "PATCH", path, grown, content_type=MERGE)
    assert (reply.ok, reply.warnings) == (True, ())


@pytest.mark.slow
def test_v4_what_an_administrator_can_change_is_no_reason(team: Team) -> None:
    assert team.annotate(team.a_queue({}), v.QUOTA, json.dumps({})).ok
    job = volcano_job(team, "early", 4, T1000)
    team.until(lambda: try_out(team, job).ok, "the quota is seen")
    assert try_out(team, job).warnings == ()
