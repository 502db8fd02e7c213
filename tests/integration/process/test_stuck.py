"""R7 on a real API server: what is stuck is found by the leader, and by the command without it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders import GPU, a_node
from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually, fresh_namespace
from integration.asking import Object, ask
from integration.own_node import a_node_of
from integration.scaling.leaving_pods import start
from integration.team import Team, of_a_job
from integration.workload_bodies import create

from .running import QUICK, OperatorProcess, install_base, json_lines, running, tracebacks

pytestmark = [pytest.mark.plane, pytest.mark.disruptive, pytest.mark.slow]

SETTINGS = {**QUICK, "stuck": {"terminatingAfter": 0, "gatedAfter": 0, "every": 0.5}}
SOON = ("--terminating-after", "0", "--gated-after", "0")


def check(kubeconfig: Path, *options: str) -> tuple[int, Object]:
    """Its exit code, and the section of what is stuck; there is nothing in the others."""
    command = (sys.executable, "-m", "cardquota.cli.plugin", "check", "-o", "json", *options)
    done = subprocess.run(
        [*command, "--kubeconfig", str(kubeconfig)],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    sections = {one["section"]: one for one in json.loads(done.stdout)["sections"]}
    section = sections.pop("stuck")
    assert [one for one in sections.values() if one["findings"]] == []
    return done.returncode, dict(section)


def metric(operator: OperatorProcess, name: str, queue: str, more: str = "") -> float:
    return operator.metric(f'cardquota_{name}{{{more}queue="{queue}"}}')


def test_r7_all_three_are_named_by_metric_event_log_and_command(
    bare: Cluster, tmp_path: Path, unique: str
) -> None:
    install_base(bare)
    with fresh_namespace(bare, unique) as namespace:
        team, card = Team(bare, namespace, unique), f"{unique}-card"
        node = a_node(f"{unique}-node").with_cards(card, "2")
        with a_node_of(team, node):
            with running(bare, tmp_path / "operator", SETTINGS) as operator:
                queue = team.has_queue({card: 2})
                team.until_row(card, quota=2, resource=GPU)
                tell_of_all_three(team, operator, queue, card)
            found_by_command(team, queue, card)
            nothing_is_found_without_rights(team, tmp_path)
            assert ask(bare, "DELETE", f"/api/v1/nodes/{node.name}").ok
            _, section = check(bare.kubeconfig, *SOON, "-n", namespace)
            late = section["findings"][0]
            assert (late["name"], late["reason"], late["node"]) == ("stuck", "NodeGone", node.name)
            assert "--force" in late["advice"]
        assert len(team.events("stuck", v.STUCK_TERMINATING)) == 1
        for start_of_line in (
            f"Pod {namespace}/stuck ",
            f"Pod {namespace}/waits ",
            f"ReplicaSet {namespace}/web-",
            f"StatefulSet {namespace}/set ",
        ):
            assert len(logged(operator, start_of_line)) == 1, start_of_line
        assert tracebacks(operator.log) == []


def logged(operator: OperatorProcess, start_of_line: str) -> list[str]:
    said = [str(line["message"]) for line in json_lines(operator.log)]
    return [line for line in said if line.startswith(start_of_line)]


def tell_of_all_three(team: Team, operator: OperatorProcess, queue: str, card: str) -> None:
    stuck = team.a_pod("stuck", 2, card)
    start(team, stuck, stops_in=600)
    team.until_bound("stuck")
    assert team.create(of_a_job(team.a_pod("waits", 1, card))).ok
    create(team, "Deployment", team.a_pod("web", 1, card), replicas=2)
    create(team, "StatefulSet", team.a_pod("set", 1, card), replicas=1)
    eventually(lambda: metric(operator, "denied_workloads", queue) == 2, "two lack pods")
    eventually(lambda: metric(operator, "gated_stuck_pods", queue) == 1, "one waits")
    path = f"{team.path(stuck)}/stuck?gracePeriodSeconds=1"
    assert ask(team.cluster, "DELETE", path).ok
    told = team.until_told("stuck", v.STUCK_TERMINATING)
    assert f"holds <{card}> <2>" in told["message"]
    eventually(lambda: metric(operator, "terminating_stuck_pods", queue) == 1, "it is shown")
    assert metric(operator, "terminating_stuck_cards", queue, f'card="{card}",') == 2
    assert metric(operator, "terminating_stuck_oldest_seconds", queue) >= 0
    eventually(lambda: failed_creates(team) == 2, "the events by which it is known since when")


def failed_creates(team: Team) -> int:
    """Of how many workloads there are events that say so."""
    events = ask(team.cluster, "GET", f"/api/v1/namespaces/{team.namespace}/events").body["items"]
    return len({e["involvedObject"]["uid"] for e in events if e["reason"] == "FailedCreate"})


def nothing_is_found_without_rights(team: Team, folder: Path) -> None:
    path = f"/api/v1/namespaces/{team.namespace}/serviceaccounts/default/token"
    token = eventually(lambda: ask(team.cluster, "POST", path, {"spec": {}}).body.get("status"), "")
    config = json.loads(team.cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token["token"]}
    (folder / "nobody").write_text(json.dumps(config))
    code, section = check(folder / "nobody", *SOON)
    assert (code, section["complete"], section["findings"]) == (1, False, [])
    lost = [note.partition(":")[0].removeprefix("you may not list ") for note in section["notes"]]
    kinds = ["daemonsets", "jobs", "namespaces", "nodes", "podgroups", "pods", "queues"]
    assert lost == [*kinds, "replicasets", "statefulsets"]


def found_by_command(team: Team, queue: str, card: str) -> None:
    """The operator does not run any more."""
    code, section = check(team.cluster.kubeconfig, *SOON, "-n", team.namespace)
    assert (code, section["complete"], section["notes"]) == (3, True, [])
    found = {f"{one['kind']}/{one['name'].partition('-')[0]}": one for one in section["findings"]}
    assert set(found) == {"Pod/stuck", "Pod/waits", "ReplicaSet/web", "StatefulSet/set"}
    assert {one["queue"] for one in found.values()} == {queue}
    late, pod = found["Pod/stuck"], team.pod("stuck")
    assert (late["finding"], late["cards"]) == ("terminating", {card: 2})
    assert (late["reason"], late["node"]) == ("StillStopping", pod["spec"]["nodeName"])
    assert late["since"] == pod["metadata"]["deletionTimestamp"]
    for other in ("Pod/waits", "ReplicaSet/web", "StatefulSet/set"):
        one = found[other]
        assert one["reason"] == v.Reason.INSUFFICIENT_CARD
        assert f"Queue <{queue}> has insufficient <{card}> quota" in one["message"]
        assert one["since"] is not None
    assert found["Pod/waits"]["since"] == team.pod("waits")["metadata"]["creationTimestamp"]
    assert found["ReplicaSet/web"]["cards"] == {card: 2}
    _, section = check(team.cluster.kubeconfig, "-n", team.namespace)
    assert {one["finding"] for one in section["findings"]} == {"denied"}
