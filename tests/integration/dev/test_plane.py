"""The shared plane behaves like a cluster: nodes, scheduling, run times, rights."""

import json
import os
import signal
import time

import pytest
from kubernetes import client

from cardquota_dev.testing import Cluster, eventually

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, annotations: %s}
spec: {containers: [{name: main, image: any, resources: {limits: {nvidia.com/gpu: 1}}}], %s}
"""


def pod(name: str, spec: str = "", **annotations: str) -> str:
    return POD % (name, json.dumps(annotations), spec)


def phase(plane: Cluster, namespace: str, name: str) -> str:
    return str(client.CoreV1Api(plane.admin).read_namespaced_pod(name, namespace).status.phase)


def test_kubectl_and_server_are_of_one_version(plane: Cluster) -> None:
    answer = json.loads(plane.kubectl("version", "-o", "json").stdout)
    assert answer["clientVersion"]["gitVersion"] == answer["serverVersion"]["gitVersion"]


def test_nodes_with_cards_are_ready(plane: Cluster) -> None:
    nodes = {node.metadata.name: node for node in client.CoreV1Api(plane.admin).list_node().items}
    assert len(nodes) == 7
    for node in nodes.values():
        assert [one.status for one in node.status.conditions if one.type == "Ready"] == ["True"]
    mig = nodes["hopper-2"].status.allocatable
    assert (mig["nvidia.com/gpu"], mig["nvidia.com/mig-3g.71gb"]) == ("6", "2")


def test_a_pod_is_bound_by_the_scheduler_and_runs(plane: Cluster, namespace: str) -> None:
    made = plane.kubectl("apply", "-n", namespace, "-f", "-", input=pod("p"), tenant=True)
    assert made.returncode == 0, made.stderr
    eventually(lambda: phase(plane, namespace, "p") == "Running")
    seen = client.CoreV1Api(plane.admin).read_namespaced_pod("p", namespace)
    assert seen.spec.node_name
    assert ("Ready", "True") in [(one.type, one.status) for one in seen.status.conditions]
    gone = plane.kubectl("delete", "pod", "p", "-n", namespace, "--timeout=10s", tenant=True)
    assert gone.returncode == 0, gone.stderr


def test_a_gated_pod_is_left_alone(plane: Cluster, namespace: str) -> None:
    core = client.CoreV1Api(plane.admin)
    manifest = pod("gated", "schedulingGates: [{name: example.com/wait}]")
    plane.kubectl("apply", "-n", namespace, "-f", "-", input=manifest)
    plane.kubectl("apply", "-n", namespace, "-f", "-", input=pod("later"))
    eventually(lambda: phase(plane, namespace, "later") == "Running")
    seen = core.read_namespaced_pod("gated", namespace)
    assert seen.status.phase == "Pending"
    assert [one.reason for one in seen.status.conditions] == ["SchedulingGated"]


@pytest.mark.slow
def test_a_pod_runs_as_long_as_it_says(plane: Cluster, namespace: str) -> None:
    manifest = pod("short", **{"cardquota.dev/run-seconds": "1"})
    plane.kubectl("apply", "-n", namespace, "-f", "-", input=manifest)
    eventually(lambda: phase(plane, namespace, "short") == "Running")
    eventually(lambda: phase(plane, namespace, "short") == "Succeeded")


@pytest.mark.slow
def test_a_pod_takes_as_long_to_stop_as_it_says(plane: Cluster, namespace: str) -> None:
    core = client.CoreV1Api(plane.admin)
    manifest = pod("slow", **{"cardquota.dev/stop-seconds": "2"})
    plane.kubectl("apply", "-n", namespace, "-f", "-", input=manifest)
    eventually(lambda: phase(plane, namespace, "slow") == "Running")
    before = time.monotonic()
    core.delete_namespaced_pod("slow", namespace)
    # kwok plans anew for a pod that changes: what has passed is not forgotten.
    changed = core.patch_namespaced_pod("slow", namespace, {"metadata": {"labels": {"a": "b"}}})
    assert changed.metadata.deletion_timestamp
    assert changed.status.phase == "Running"
    eventually(lambda: not core.list_namespaced_pod(namespace).items, seconds=20)
    assert time.monotonic() - before >= 2


def test_a_pod_whose_time_to_stop_cannot_be_read_is_gone_at_once(
    plane: Cluster, namespace: str
) -> None:
    core = client.CoreV1Api(plane.admin)
    manifest = pod("odd", **{"cardquota.dev/stop-seconds": "soon"})
    plane.kubectl("apply", "-n", namespace, "-f", "-", input=manifest)
    eventually(lambda: phase(plane, namespace, "odd") == "Running")
    core.delete_namespaced_pod("odd", namespace)
    eventually(lambda: not core.list_namespaced_pod(namespace).items, seconds=20)


@pytest.mark.slow
def test_a_job_completes(plane: Cluster, namespace: str) -> None:
    made = plane.kubectl("create", "job", "-n", namespace, "once", "--image=any", tenant=True)
    assert made.returncode == 0, made.stderr
    batch = client.BatchV1Api(plane.admin)
    eventually(lambda: batch.read_namespaced_job("once", namespace).status.succeeded == 1)


@pytest.mark.slow
def test_a_late_kwok_does_not_delete_the_next_pod_of_a_name(plane: Cluster, namespace: str) -> None:
    names = [f"p{number}" for number in range(5)]

    def create(*some: str) -> None:
        here = "nodeName: plain-1"
        made = plane.kubectl(
            "create", "-n", namespace, "-f", "-", input="---".join(pod(name, here) for name in some)
        )
        assert made.returncode == 0, made.stderr

    create(*names)
    eventually(lambda: all(phase(plane, namespace, name) == "Running" for name in names))
    kwok = plane.state.process("kwok").pid
    os.kill(kwok, signal.SIGSTOP)
    try:
        deleted = plane.kubectl("delete", "pods", "-n", namespace, "--force", *names)
        assert deleted.returncode == 0, deleted.stderr
        create(*names, "later")
    finally:
        os.kill(kwok, signal.SIGCONT)
    eventually(lambda: phase(plane, namespace, "later") == "Running")
    assert all(phase(plane, namespace, name) in ("Pending", "Running") for name in names)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("create pods", "yes"),
        ("patch deployments.apps/scale", "yes"),
        ("delete jobs.batch", "yes"),
        ("update podgroups.scheduling.volcano.sh", "yes"),
        ("create horizontalpodautoscalers.autoscaling", "yes"),
        ("list queues.scheduling.volcano.sh", "yes"),
        ("list nodes", "yes"),
        ("list events", "yes"),
        ("update queues.scheduling.volcano.sh", "no"),
        ("create queues.scheduling.volcano.sh", "no"),
        ("get secrets", "no"),
        ("create secrets", "no"),
        ("patch nodes", "no"),
        ("create namespaces", "no"),
        ("create pods/binding", "no"),
        ("update pods/status", "no"),
        ("create serviceaccounts/token", "no"),
    ],
)
def test_what_the_tenant_may_do(plane: Cluster, question: str, answer: str) -> None:
    verb, kind = question.split()
    group = kind.split("/")[0].partition(".")[2]
    review = client.V1SubjectAccessReview(
        spec=client.V1SubjectAccessReviewSpec(
            user="tenant",
            groups=["system:authenticated"],
            resource_attributes=client.V1ResourceAttributes(
                namespace="default",
                verb=verb,
                group=group,
                resource=kind.split("/")[0].partition(".")[0],
                subresource=kind.partition("/")[2] or None,
            ),
        )
    )
    api = client.AuthorizationV1Api(plane.admin)
    allowed = api.create_subject_access_review(review).status.allowed
    assert allowed == (answer == "yes")


def test_the_tenant_is_refused_by_the_server(plane: Cluster, namespace: str) -> None:
    refused = plane.kubectl("get", "secrets", "-n", namespace, tenant=True)
    assert refused.returncode != 0
    assert 'User "tenant" cannot list resource "secrets"' in refused.stderr
