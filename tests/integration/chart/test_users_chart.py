"""A user's chart with a Queue, a group and a Deployment, which Helm creates in its own order."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from integration.asking import ask

from .helm import helm

pytestmark = [pytest.mark.long]

CARD = "NVIDIA-H200"
QUEUES = f"/apis/{v.API_GROUP}/{v.VERSION}/queues"
OURS = {"apiVersion": f"{v.API_GROUP}/{v.VERSION}"}


def pods(annotations: dict[str, str], **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    notes = {v.CARD_NAME: CARD, "cardquota.dev/run-seconds": "600", **annotations}
    metadata = {"labels": {"app": "x"}, "annotations": notes}
    return {"metadata": metadata, "spec": {"containers": [container], **spec}}


def objects(queue: str) -> list[dict[str, Any]]:
    """Queue, PodGroup and what uses them. Helm knows neither kind, and so creates them last."""
    quota = {v.QUOTA: json.dumps({CARD: 3})}
    request = {v.REQUEST: json.dumps({CARD: 2})}
    member = pods({v.GROUP_NAME: "pair"}, restartPolicy="Never")
    server = pods({v.QUEUE_NAME: queue})
    return [
        {**OURS, "kind": "Queue", "metadata": {"name": queue, "annotations": quota}, "spec": {}},
        {
            **OURS,
            "kind": "PodGroup",
            "metadata": {"name": "pair", "annotations": request},
            "spec": {"queue": queue, "minMember": 2},
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "pair"},
            "spec": {"parallelism": 2, "completions": 2, "template": member},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "chat"},
            "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": server},
        },
    ]


def test_it_is_installed_at_once_and_runs(
    product_plane: Cluster, namespace: str, tmp_path: Path
) -> None:
    chart = tmp_path / "team"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text('{"apiVersion": "v2", "name": "team", "version": "0.1.0"}')
    (chart / "templates" / "all.yaml").write_text(yaml.safe_dump_all(objects(namespace)))

    def run(*arguments: str) -> bool:
        done = helm(*arguments, f"-n={namespace}", kubeconfig=product_plane.kubeconfig)
        return done.returncode == 0

    assert run("install", "team", str(chart))
    path = f"/api/v1/namespaces/{namespace}/pods"
    eventually(lambda: running(product_plane, path) == ["chat", "pair", "pair"], "three pods run")
    # Helm does not wait for the end of the pods, and a queue that has some stays (Q8).
    eventually(lambda: run("uninstall", "team"), "uninstalled", 120)
    assert not ask(product_plane, "GET", f"{QUEUES}/{namespace}").ok


def running(cluster: Cluster, path: str) -> list[str]:
    items = ask(cluster, "GET", path).body["items"]
    return sorted(
        one["metadata"]["name"].partition("-")[0]
        for one in items
        if one["status"].get("phase") == "Running"
    )
