"""The stand-in for Volcano does to the API server what was seen of Volcano."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from cardquota_dev.paths import CHECKOUT
from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane
from integration.asking import MERGE, Object, ask

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]

GROUP = "/apis/scheduling.volcano.sh/v1beta1"
JOBS = "/apis/batch.volcano.sh/v1alpha1"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RUNS_ON = {"annotations": {"cardquota.dev/run-seconds": "3600"}}
GROUP_NAME = "scheduling.k8s.io/group-name"
H200, H800 = "NVIDIA-H200", "NVIDIA-H800"


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scheduler's configuration. It is read again when a test has changed it."""
    return tmp_path_factory.mktemp("volcano-configuration") / "scheduler.yaml"


@pytest.fixture(scope="module")
def volcano(tmp_path_factory: pytest.TempPathFactory, configuration: Path) -> Iterator[Cluster]:
    """A plane with the stand-in and Volcano's own definitions, without the product."""
    folder = tmp_path_factory.mktemp("volcano")
    with running_plane(
        folder,
        replicas=0,
        volcano="batch-system",
        volcano_config=configuration,
        volcano_period=0.2,
        volcano_longest_pause=0.05,
    ) as cluster:
        cluster.warm()
        yield cluster


@pytest.fixture
def team(volcano: Cluster, unique: str) -> Iterator[str]:
    """A namespace of the test's own."""
    with fresh_namespace(volcano, unique) as name:
        yield name


def do(plane: Cluster, method: str, path: str, body: object = None, **how: Any) -> Object:
    answer = ask(plane, method, path, body, **how)
    assert answer.ok, answer
    return answer.body


def found(plane: Cluster, path: str) -> list[Object]:
    return list(do(plane, "GET", path)["items"])


def pods_of(plane: Cluster, team: str) -> list[Object]:
    return found(plane, f"/api/v1/namespaces/{team}/pods")


def running(plane: Cluster, team: str) -> int:
    return sum(one["status"].get("phase") == "Running" for one in pods_of(plane, team))


def groups_of(plane: Cluster, team: str) -> list[Object]:
    return found(plane, f"{GROUP}/namespaces/{team}/podgroups")


def phases(plane: Cluster, team: str) -> list[str]:
    return [one.get("status", {}).get("phase", "") for one in groups_of(plane, team)]


def events_of(plane: Cluster, team: str, reason: str) -> list[Object]:
    listed = found(plane, f"/api/v1/namespaces/{team}/events")
    return [one for one in listed if one["reason"] == reason]


def job_phase(plane: Cluster, team: str, name: str = "train") -> str:
    job = do(plane, "GET", f"{JOBS}/namespaces/{team}/jobs/{name}")
    return str(job.get("status", {}).get("state", {}).get("phase", ""))


def a_job(
    plane: Cluster,
    team: str,
    *,
    pods: int = 2,
    name: str = "train",
    metadata: Object | None = None,
    queue: str = "default",
    **spec: object,
) -> Object:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {
        "metadata": metadata or {},
        "spec": {"containers": [container], "restartPolicy": "Never", **spec},
    }
    task = {"name": "worker", "replicas": pods, "template": template}
    body = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "annotations": {"volcano.sh/card.request": "of the job"}},
        "spec": {"queue": queue, "tasks": [task]},
    }
    return do(plane, "POST", f"{JOBS}/namespaces/{team}/jobs", body)


def a_queue(plane: Cluster, name: str, **spec: object) -> None:
    do(plane, "POST", f"{GROUP}/queues", queue_body(name, **spec))
    eventually(lambda: queue_state(plane, name) == "Open", "the queue is open")


def queue_body(name: str, **spec: object) -> Object:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "annotations": {"volcano.sh/card.quota": "broken"}},
        "spec": spec,
    }


def queue_state(plane: Cluster, name: str) -> str:
    queue = do(plane, "GET", f"{GROUP}/queues/{name}")
    return str(queue.get("status", {}).get("state", ""))


def held(plane: Cluster, queue: str) -> str:
    """The cores that the queue's status says are allocated."""
    allocated = do(plane, "GET", f"{GROUP}/queues/{queue}")["status"].get("allocated") or {}
    return str(allocated.get("cpu", "0"))


def command(plane: Cluster, team: str, action: str, target: Object) -> None:
    keys = ("name", "uid")
    body = {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": {"generateName": "command-"},
        "action": action,
        "target": {
            "apiVersion": target["apiVersion"],
            "kind": target["kind"],
            **{key: target["metadata"][key] for key in keys},
        },
    }
    where = f"/apis/bus.volcano.sh/v1alpha1/namespaces/{team}/commands"
    do(plane, "POST", where, body)
    eventually(lambda: not found(plane, where), "the command is deleted")


@pytest.mark.slow
def test_a_job_runs_and_completes(volcano: Cluster, team: str) -> None:
    job = a_job(volcano, team)
    group = eventually(lambda: groups_of(volcano, team), "a pod group")[0]
    assert group["metadata"]["name"] == f"train-{job['metadata']['uid']}"
    assert group["metadata"]["annotations"]["volcano.sh/card.request"] == "of the job"
    assert group["spec"]["minMember"] == 2
    assert group["spec"]["minResources"]["requests.cpu"] == "2"
    pods = eventually(lambda: pods_of(volcano, team), "pods")
    marks = pods[0]["metadata"]["annotations"]
    assert marks[GROUP_NAME] == group["metadata"]["name"]
    assert marks["volcano.sh/queue-name"] == "default"
    assert pods[0]["metadata"]["labels"]["volcano.sh/queue-name"] == "default"
    assert marks["volcano.sh/task-spec"] == "worker"
    assert pods[0]["spec"]["schedulerName"] == "volcano"
    eventually(lambda: job_phase(volcano, team) == "Completed", "the job completes")
    assert {one["metadata"]["name"] for one in pods_of(volcano, team)} == {
        "train-worker-0",
        "train-worker-1",
    }


@pytest.mark.slow
def test_a_deployment_has_a_group_per_replica_set(volcano: Cluster, team: str) -> None:
    """The group's name is no part of the pod that admission sees."""
    labels = {"app": "web"}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    spec = {"schedulerName": "volcano", "containers": [container]}
    body = {
        "metadata": {"name": "web", "annotations": {"volcano.sh/of-the-owner": "x"}},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    where = f"/apis/apps/v1/namespaces/{team}"
    do(volcano, "POST", f"{where}/deployments", body)
    eventually(lambda: running(volcano, team) == 3, "three running pods")
    (replica_set,) = found(volcano, f"{where}/replicasets")
    (group,) = groups_of(volcano, team)
    assert group["metadata"]["name"] == f"podgroup-{replica_set['metadata']['uid']}"
    assert group["spec"]["minMember"] == 1
    assert group["metadata"]["annotations"] == {"volcano.sh/of-the-owner": "x"}
    eventually(lambda: phases(volcano, team) == ["Running"], "the group runs")
    marks = {one["metadata"]["annotations"][GROUP_NAME] for one in pods_of(volcano, team)}
    assert marks == {group["metadata"]["name"]}
    change = {"spec": {"replicas": 0}}
    do(volcano, "PATCH", f"{where}/deployments/web", change, content_type=MERGE)
    eventually(lambda: phases(volcano, team) == ["Inqueue"], "back in the queue")


@pytest.mark.slow
def test_a_queue_is_closing_while_groups_are_in_it(
    volcano: Cluster, team: str, unique: str
) -> None:
    a_queue(volcano, unique)
    a_job(volcano, team, metadata=RUNS_ON, queue=unique)
    eventually(lambda: running(volcano, team) == 2, "the job runs")
    queue = do(volcano, "GET", f"{GROUP}/queues/{unique}")
    command(volcano, team, "CloseQueue", queue)
    eventually(lambda: queue_state(volcano, unique) == "Closing", "the queue is closing")
    job = do(volcano, "GET", f"{JOBS}/namespaces/{team}/jobs/train")
    command(volcano, team, "AbortJob", job)
    eventually(lambda: job_phase(volcano, team) == "Aborted", "the job is aborted")
    eventually(lambda: queue_state(volcano, unique) == "Closed", "the queue is closed")
    assert pods_of(volcano, team) == []
    late = {**job, "metadata": {"name": "late"}}
    refused = ask(volcano, "POST", f"{JOBS}/namespaces/{team}/jobs", late)
    assert f"queue {unique} is Closed" in refused.message
    command(volcano, team, "OpenQueue", queue)
    eventually(lambda: queue_state(volcano, unique) == "Open", "the queue is open")
    command(volcano, team, "ResumeJob", job)
    eventually(lambda: running(volcano, team) == 2, "the job runs again")


@pytest.mark.slow
def test_a_refused_binding_is_told_and_tried_again(volcano: Cluster, team: str) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/binding"]}
    policy = {
        "metadata": {"name": team},
        "spec": {
            "matchConstraints": {"resourceRules": [{**rule, "operations": ["CREATE"]}]},
            "validations": [{"expression": f"request.namespace != '{team}'", "message": "no!"}],
        },
    }
    binding = {
        "metadata": {"name": team},
        "spec": {"policyName": team, "validationActions": ["Deny"]},
    }
    do(volcano, "POST", f"{ADMISSION}/validatingadmissionpolicies", policy)
    do(volcano, "POST", f"{ADMISSION}/validatingadmissionpolicybindings", binding)
    where = f"/api/v1/namespaces/{team}/pods"
    containers = [{"name": "c", "image": "i"}]
    # Nobody's pod tells when the policy is in force.
    probe = {"schedulerName": "nobody", "containers": containers}
    do(volcano, "POST", where, {"metadata": {"name": "probe"}, "spec": probe})

    def refused() -> bool:
        body = {"metadata": {"name": "probe"}, "target": {"kind": "Node", "name": "plain-1"}}
        return "no!" in ask(volcano, "POST", f"{where}/probe/binding?dryRun=All", body).message

    eventually(refused, "the policy is in force")
    spec = {"schedulerName": "volcano", "containers": containers}
    do(volcano, "POST", where, {"metadata": {"name": "bare"}, "spec": spec})
    told = eventually(lambda: events_of(volcano, team, "FailedScheduling"), "an event")
    assert "no!" in told[0]["message"]
    do(volcano, "DELETE", f"{ADMISSION}/validatingadmissionpolicybindings/{team}")
    do(volcano, "DELETE", f"{ADMISSION}/validatingadmissionpolicies/{team}")
    eventually(lambda: running(volcano, team) == 1, "the pod runs")


@contextmanager
def extender(votes: dict[str, int], asked: list[Object]) -> Iterator[str]:
    """The URL of an extender that votes as a dictionary says at the time, and keeps the jobs."""

    class ExtenderHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["job"])
            body = json.dumps({"status": votes["now"] if self.path == "/v1/enqueue" else 0})
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), ExtenderHandler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.mark.slow
def test_an_extender_decides_whether_a_job_has_pods(
    volcano: Cluster, team: str, configuration: Path
) -> None:
    votes, asked = {"now": -1}, list[Object]()
    with extender(votes, asked) as url:
        arguments = {
            "extender.urlPrefix": url,
            "extender.jobEnqueueableVerb": "enqueue",
            "extender.httpTimeout": "5s",
            "extender.ignorable": False,
        }
        plugin = {"name": "extender", "arguments": arguments}
        tiers = [{"plugins": [plugin]}, {"plugins": [{"name": "capacity"}]}]
        configuration.write_text(json.dumps({"actions": "enqueue, allocate", "tiers": tiers}))
        a_job(volcano, team, metadata=RUNS_ON)
        (group,) = eventually(lambda: groups_of(volcano, team), "a group")
        mine = f"{team}/{group['metadata']['name']}"
        eventually(lambda: [one["UID"] for one in asked].count(mine) > 2, "it is asked about")
        assert phases(volcano, team) == ["Pending"]
        assert pods_of(volcano, team) == []
        told = next(one for one in asked if one["UID"] == mine)
        assert (told["Queue"], told["MinAvailable"], told["Tasks"]) == ("default", 2, {})
        assert told["PodGroup"]["spec"]["minResources"]["cpu"] == "2"
        votes["now"] = 1
        eventually(lambda: running(volcano, team) == 2, "the job runs")
    configuration.write_text("tiers: [{plugins: [{name: capacity}]}]\n")


def test_a_field_that_volcano_does_not_declare_cannot_be_applied(
    volcano: Cluster, unique: str
) -> None:
    a_queue(volcano, unique)
    where = f"{GROUP}/queues/{unique}/status?fieldManager=x&force=true"
    body = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": unique},
        "status": {"cards": []},
    }
    answer = ask(volcano, "PATCH", where, body, content_type="application/apply-patch+yaml")
    assert "field not declared in schema" in answer.message


@pytest.mark.slow
def test_a_write_of_the_status_wipes_what_volcano_does_not_know(
    volcano: Cluster, team: str, unique: str
) -> None:
    """On the product's definition of queues, which is a superset of Volcano's."""
    superset = CHECKOUT / "crds" / "scheduling.volcano.sh_queues.yaml"
    applied = volcano.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(superset))
    assert applied.returncode == 0, applied.stderr
    a_queue(volcano, unique)
    where = f"{GROUP}/queues/{unique}"
    ours = {"status": {"observedGeneration": 7}}

    def kept() -> bool:
        do(volcano, "PATCH", f"{where}/status", ours, content_type=MERGE)
        return "observedGeneration" in do(volcano, "GET", where)["status"]

    eventually(kept, "the definition is in force")
    a_job(volcano, team, metadata=RUNS_ON, queue=unique)
    eventually(lambda: running(volcano, team) == 2, "the job runs")
    eventually(lambda: held(volcano, unique) == "2", "what the queue holds is written")
    assert "observedGeneration" not in do(volcano, "GET", where)["status"]
