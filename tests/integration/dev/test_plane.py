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


@pytest.mark.slow
def test_a_pod_runs_as_long_as_it_says(plane: Cluster, namespace: str) -> None:
    manifest = pod("short", **{"cardquota.dev/run-seconds": "1"})
    plane.kubectl("apply", "-n", namespace, "-f", "-", input=manifest)
    eventually(lambda: phase(plane, namespace, "short") == "Succeeded")
    found = client.CoreV1Api(plane.admin).read_namespaced_pod("short", namespace)
    ended = found.status.container_statuses[0].state.terminated
    assert (ended.finished_at - ended.started_at).total_seconds() >= 1


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
