"""Real autoscalers on a plane that serves their metrics: they go by what annotations say."""

import json
import os
import signal
from typing import Any

import pytest
from kubernetes import client

from cardquota_dev.testing import Cluster, eventually

USAGE = "cardquota.dev/usage"
CUSTOM = "/apis/custom.metrics.k8s.io/v1beta2"


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


def running(plane: Cluster, team: str) -> int:
    pods = client.CoreV1Api(plane.admin).list_namespaced_pod(team).items
    return sum(pod.status.phase == "Running" for pod in pods)


def raw(plane: Cluster, path: str) -> Any:
    answer = plane.kubectl("get", "--raw", path)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_an_unreadable_annotation_does_no_harm(product_plane: Cluster, namespace: str) -> None:
    deploy(product_plane, namespace)
    core = client.CoreV1Api(product_plane.admin)
    core.patch_namespace(
        namespace, {"metadata": {"annotations": {USAGE: "{requests_per_second: 30}"}}}
    )
    name = core.list_namespaced_pod(namespace).items[0].metadata.name
    core.patch_namespaced_pod(
        name, namespace, {"metadata": {"annotations": {USAGE: '{"cpu":"much"}'}}}
    )
    pods = product_plane.kubectl("top", "pods", "-n", namespace, "--no-headers")
    assert pods.stdout.split()[1:] == ["100m", "64Mi"], pods.stderr
    assert (
        raw(product_plane, f"{CUSTOM}/namespaces/{namespace}/pods/*/requests_per_second")["items"]
        == []
    )
    assert product_plane.folder is not None
    log = product_plane.folder.log("usage").read_text()
    assert f"{USAGE} of {namespace} cannot be read" in log
    assert f"{USAGE} of {namespace}/{name} cannot be read" in log


@pytest.mark.slow
def test_what_was_pointed_elsewhere_stays_there(product_plane: Cluster, namespace: str) -> None:
    """When the stand-in is started again, it answers again, and applies nothing."""
    api = client.ApiregistrationV1Api(product_plane.admin)
    name = "v1beta2.custom.metrics.k8s.io"
    before = api.read_api_service(name)
    api.patch_api_service(name, {"spec": {"versionPriority": 7}})
    old = product_plane.state.process("usage")
    os.kill(old.pid, signal.SIGKILL)
    eventually(lambda: product_plane.state.process("usage").pid != old.pid, "another process")
    asked = f"/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods"
    eventually(lambda: product_plane.kubectl("get", "--raw", asked).returncode == 0, "it answers")
    after = api.read_api_service(name)
    assert after.spec.version_priority == 7
    assert after.spec.service == before.spec.service
