"""`cardquota simulate` over what kubectl exports of the plane with the product."""

import json
import subprocess
import sys
from pathlib import Path

from integration.asking import Object
from integration.roomy_nodes import T1000
from integration.team import Team
from integration.workload_bodies import create, workload

KINDS = "nodes,namespaces,queues,podgroups,priorityclasses,deployments,jobs,pods"
SIMULATE = (sys.executable, "-m", "cardquota.cli", "simulate", "-o", "json")


def answered(found: Object, kind: str, name: str, namespace: str) -> list[Object]:
    (one,) = (
        w
        for w in found["workloads"]
        if (w["kind"], w["name"], w["namespace"]) == (kind, name, namespace)
    )
    return list(one["pods"])


def test_what_runs_is_held_and_what_would_fit_is_answered(team: Team, tmp_path: Path) -> None:
    """The queue's numbers are those of the operator; nothing is created for the question."""
    queue = team.has_queue({T1000: 4})
    assert create(team, "Deployment", team.a_pod("chat", 1, T1000), replicas=1).ok
    team.until_row(T1000, allocated=1)
    train = team.a_pod("train", 1, T1000).annotated("cardquota.dev/run-seconds", "3600")
    assert create(team, "Job", train, parallelism=2).ok
    team.until_row(T1000, allocated=3)
    assert create(team, "Job", team.a_pod("two", 2, T1000)).ok
    team.until_row(T1000, allocated=3, requested=5)

    live = tmp_path / "live.json"
    done = team.cluster.kubectl("get", KINDS, "-A", "-o", "json")
    assert done.returncode == 0, done.stderr
    live.write_text(done.stdout)
    mine = workload(team, "Deployment", team.a_pod("mine", 1, T1000), replicas=2)
    mine["metadata"]["namespace"] = team.namespace
    (tmp_path / "mine.yaml").write_text(json.dumps(mine))
    run = subprocess.run(
        [*SIMULATE, "-f", live, "-f", tmp_path / "mine.yaml"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    found = json.loads(run.stdout)

    def answers(kind: str, name: str) -> list[str]:
        return [pod["answer"] for pod in answered(found, kind, name, team.namespace)]

    assert answers("Deployment", "chat") == ["held"]
    assert answers("Job", "train") == ["held", "held"]
    assert answers("Job", "two") == ["gated"]
    assert answers("Deployment", "mine") == ["admitted", "denied"]
    held = answered(found, "Deployment", "chat", team.namespace)[0]
    assert (held["cards"], held["queue"], held["text"]) == ({T1000: 1}, queue, "")
    (row,) = next(q for q in found["queues"] if q["name"] == queue)["cards"]
    assert (row["allocated"], row["requested"]) == (4, 6)
    assert len(team.pods()) == 4
