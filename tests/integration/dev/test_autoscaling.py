"""Real autoscalers on a plane that serves their metrics: they go by what annotations say."""

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client

from cardquota_dev.testing import Cluster, eventually, fresh_namespace, running_plane

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]

USAGE = "cardquota.dev/usage"
CUSTOM = "/apis/custom.metrics.k8s.io/v1beta2"


@pytest.fixture(scope="module")
def metered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A bare plane with the quick autoscaler."""
    folder = tmp_path_factory.mktemp("metered")
    with running_plane(folder, replicas=0, quick_autoscaler=True) as cluster:
        cluster.warm()
        yield cluster


@pytest.fixture
def team(metered: Cluster, unique: str) -> Iterator[str]:
    """A namespace of the test's own."""
    with fresh_namespace(metered, unique) as name:
        yield name


def deploy(plane: Cluster, team: str) -> None:
    """A Deployment `web` with one running pod that requests 100m and 64Mi."""
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    labels = {"app": "web"}
    client.AppsV1Api(plane.admin).create_namespaced_deployment(
        team,
        {
            "metadata": {"name": "web"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "containers": [{"name": "main", "image": "any", "resources": resources}]
                    },
                },
            },
        },
    )
    eventually(lambda: running(plane, team) == 1, "a running pod")


def autoscale(plane: Cluster, team: str, at_most: int, metric: dict[str, Any]) -> None:
    """An autoscaler of `web`, from one pod."""
    client.AutoscalingV2Api(plane.admin).create_namespaced_horizontal_pod_autoscaler(
        team,
        {
            "metadata": {"name": "web"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "minReplicas": 1,
                "maxReplicas": at_most,
                "metrics": [metric],
            },
        },
    )


def running(plane: Cluster, team: str) -> int:
    pods = client.CoreV1Api(plane.admin).list_namespaced_pod(team).items
    return sum(pod.status.phase == "Running" for pod in pods)


def seen(plane: Cluster, team: str) -> Any:
    """The autoscaler's status."""
    api = client.AutoscalingV2Api(plane.admin)
    return api.read_namespaced_horizontal_pod_autoscaler("web", team).status


def raw(plane: Cluster, path: str) -> Any:
    answer = plane.kubectl("get", "--raw", path)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.mark.slow
def test_busy_pods_become_more_and_idle_ones_fewer(metered: Cluster, team: str) -> None:
    deploy(metered, team)
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    autoscale(metered, team, 4, {"type": "Resource", "resource": cpu})
    eventually(lambda: running(metered, team) == 4, "as many as there may be")
    said = metered.kubectl("annotate", "namespace", team, f'{USAGE}={{"cpu":"1m"}}')
    assert said.returncode == 0, said.stderr
    eventually(lambda: running(metered, team) == 1, "as few as there may be")


@pytest.mark.slow
def test_one_grows_as_a_custom_metric_of_its_pods_says(metered: Cluster, team: str) -> None:
    """It stops where the average is as wanted: pods that do not say the metric count as idle."""
    deploy(metered, team)
    busy = metered.kubectl(
        "annotate", "pods", "--all", "-n", team, f'{USAGE}={{"requests_per_second":"30"}}'
    )
    assert busy.returncode == 0, busy.stderr
    target = {"type": "AverageValue", "averageValue": "10"}
    pods = {"metric": {"name": "requests_per_second"}, "target": target}
    autoscale(metered, team, 9, {"type": "Pods", "pods": pods})
    eventually(lambda: running(metered, team) == 3, "three pods")
    # It has looked at all three, and wants no more.
    eventually(lambda: seen(metered, team).current_replicas == 3, "three are seen")
    assert seen(metered, team).desired_replicas == 3


def test_kubectl_top(metered: Cluster, team: str) -> None:
    deploy(metered, team)
    pods = metered.kubectl("top", "pods", "-n", team, "--no-headers")
    assert pods.stdout.split()[1:] == ["100m", "64Mi"], pods.stderr
    nodes = metered.kubectl("top", "nodes")
    assert "hopper-1" in nodes.stdout, nodes.stderr


def test_an_unreadable_annotation_does_no_harm(metered: Cluster, team: str) -> None:
    deploy(metered, team)
    core = client.CoreV1Api(metered.admin)
    core.patch_namespace(team, {"metadata": {"annotations": {USAGE: "{requests_per_second: 30}"}}})
    name = core.list_namespaced_pod(team).items[0].metadata.name
    core.patch_namespaced_pod(name, team, {"metadata": {"annotations": {USAGE: '{"cpu":"much"}'}}})
    pods = metered.kubectl("top", "pods", "-n", team, "--no-headers")
    assert pods.stdout.split()[1:] == ["100m", "64Mi"], pods.stderr
    assert raw(metered, f"{CUSTOM}/namespaces/{team}/pods/*/requests_per_second")["items"] == []
    assert metered.folder is not None
    log = metered.folder.log("usage").read_text()
    assert f"{USAGE} of {team} cannot be read" in log
    assert f"{USAGE} of {team}/{name} cannot be read" in log


@pytest.mark.slow
def test_what_was_pointed_elsewhere_stays_there(metered: Cluster, team: str) -> None:
    """When the stand-in is started again, it answers again, and applies nothing."""
    api = client.ApiregistrationV1Api(metered.admin)
    name = "v1beta2.custom.metrics.k8s.io"
    before = api.read_api_service(name)
    api.patch_api_service(name, {"spec": {"versionPriority": 7}})
    old = metered.state.process("usage")
    os.kill(old.pid, signal.SIGKILL)
    eventually(lambda: metered.state.process("usage").pid != old.pid, "another process")
    asked = f"/apis/metrics.k8s.io/v1beta1/namespaces/{team}/pods"
    eventually(lambda: metered.kubectl("get", "--raw", asked).returncode == 0, "it answers")
    after = api.read_api_service(name)
    assert after.spec.version_priority == 7
    assert after.spec.service == before.spec.service
