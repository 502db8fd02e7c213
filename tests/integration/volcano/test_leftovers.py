"""Beside Volcano, by a stand-in for it: `check` finds what another way to hold quotas has left."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from builders import GPU
from cardquota_dev.testing import Cluster
from integration.asking import MERGE, Object, ask
from integration.roomy_nodes import T1000
from integration.team import Team

from .conftest import ACCOUNTS, NAMESPACE
from .volcano_jobs import running, submit, volcano_job

pytestmark = [pytest.mark.plane, pytest.mark.disruptive]
NAME = "volcano-scheduler-configmap"
CONFIGURATION = {"tiers": [{"plugins": [{"name": "gang"}, {"name": "capacity-card"}]}]}


@pytest.fixture
def configuration(beside_volcano: Cluster) -> Iterator[None]:
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
    body = {"metadata": {"name": NAME}, "data": {"conf": yaml.safe_dump(CONFIGURATION)}}
    assert ask(beside_volcano, "POST", path, body).ok
    yield
    assert ask(beside_volcano, "DELETE", f"{path}/{NAME}").ok


def leftovers(team: Team, folder: Path) -> dict[tuple[str, str], Any]:
    """By reason and name, of the team and of what is in no namespace."""
    config = folder / "config.yaml"
    volcano = {"accounts": list(ACCOUNTS), "configuration": f"{NAMESPACE}/{NAME}"}
    config.write_text(yaml.safe_dump({"scheduler": "volcano", "volcano": volcano}))
    line = (sys.executable, "-m", "cardquota.cli", "check", "-o", "json", "--config", str(config))
    where = {**os.environ, "KUBECONFIG": str(team.cluster.kubeconfig)}
    done = subprocess.run(line, env=where, capture_output=True, text=True, timeout=60)
    sections = {one["section"]: one for one in json.loads(done.stdout)["sections"]}
    found = sections["leftover"]["findings"]
    assert done.returncode == (3 if any(one["findings"] for one in sections.values()) else 0)
    # Its scheduler keeps the failures of a task, as of itself.
    reasons = {one["reason"] for one in sections["installation"]["findings"]}
    assert reasons <= {"PredicateCacheOn", "ConfigurationMissing"}
    return {
        (one["reason"], one["name"]): one
        for one in found
        if one["namespace"] in ("", team.namespace, NAMESPACE)
    }


def _counted(found: dict[tuple[str, str], Any], queue: str) -> dict[tuple[str, str], Any]:
    """All of it, once cards that are held in the queue are among it."""
    return found if found["CardsInSpec", queue]["cards"] else {}


def an_event(team: Team, name: str) -> Object:
    """As the plugin capacity-card writes them, each session."""
    about = {"kind": "PodGroup", "namespace": team.namespace, "name": name}
    return {
        "metadata": {"name": f"{name}.1"},
        "type": "Warning",
        "reason": "InsufficientScalarQuota",
        "message": "so many milli-cards",
        "source": {"component": "volcano.capacity-card"},
        "involvedObject": about,
    }


@pytest.mark.slow
@pytest.mark.usefixtures("configuration")
def test_all_that_is_left_over_is_found_and_nothing_once_it_is_gone(
    team: Team, tmp_path: Path
) -> None:
    """A team that came from the plugin `capacity`, with a job that ran before we were there."""
    where = f"/api/v1/namespaces/{team.namespace}"
    label = {"metadata": {"labels": {"volcano.sh/card-quota": "audit"}}}
    assert ask(team.cluster, "PATCH", where, label, content_type=MERGE).ok
    queue = team.a_queue({}).annotated("volcano.sh/card.quota", None)
    team.has_queue(queue.put({"capability": {GPU: "4"}}, "spec"))
    job = volcano_job(team, "train", 1, T1000)
    job["metadata"]["annotations"] = {
        "volcano.sh/card.request": '{"NVIDIA-T1000": 0}',
        "volcano.sh/card.quantity": "1",
    }
    job["spec"]["tasks"][0]["template"]["spec"]["nodeSelector"] = {"nvidia.com/gpu.product": T1000}
    assert submit(team, job).ok
    team.until(lambda: running(team, "train") == 1, "it runs")
    path = f"/api/v1/namespaces/{team.namespace}/events"
    assert ask(team.cluster, "POST", path, an_event(team, "other")).ok

    name = team.queue_name()
    # What runs is found by its label, which the operator writes once it has seen it.
    found = team.until(
        lambda: _counted(leftovers(team, tmp_path), name), "what its job holds is counted"
    )
    assert found["CardsInSpec", name]["cards"] == {T1000: 1}
    assert found["PluginConfigured", NAME]["kind"] == "ConfigMap"
    assert found["PluginActive", "other"]["kind"] == "PodGroup"
    assert found["RequestUnreadable", "train"]["kind"] == "Job"
    assert found["UnknownKey", "train"]["message"].endswith(
        "annotations that have no effect: volcano.sh/card.quantity"
    )

    spec = {"capability": {GPU: None}}
    assert team.patch(team.a_queue({}), {"spec": spec}).ok
    assert ("QuotaMissing", name) in leftovers(team, tmp_path)
    team.set_quota({T1000: 1})
    left = {reason for reason, which in leftovers(team, tmp_path) if which == name}
    assert left == set()
