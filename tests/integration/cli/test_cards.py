"""`cardquota cards` and `kubectl cardquota cards`, as processes, on the plane with the product."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from builders import GPU, a_node
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import report_messages
from cardquota_dev.testing import eventually
from integration.asking import Object, ask, metric
from integration.own_node import a_node_of
from integration.team import Team

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
AMD = "amd.com/gpu"
PARTITION = "amd.com/compute-memory-partition"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
CARDS = (sys.executable, "-m", "cardquota.cli", "cards")
Done = subprocess.CompletedProcess[str]


def run(*command: str | Path, **environment: str) -> Done:
    return subprocess.run(
        [*map(str, command)],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def listed(kubeconfig: Path) -> Object:
    """What `cardquota cards` finds with this kubeconfig, for programs."""
    done = run(*CARDS, "--kubeconfig", kubeconfig, "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    return dict(json.loads(done.stdout))


def line(found: Object, card: str) -> Object:
    (one,) = (one for one in found["cards"] if one["name"] == card)
    return dict(one)


def not_counted(found: Object, node: str) -> list[str]:
    return [entry["problem"] for entry in found["not_counted"] if entry["node"] == node]


def the_tenants(team: Team) -> Path:
    assert team.cluster.folder is not None
    return team.cluster.folder.tenant_kubeconfig


@contextmanager
def somebody_who_may(team: Team, folder: Path, group: str, resource: str) -> Iterator[Path]:
    """The kubeconfig of an account that may list one kind of object, and nothing else."""
    name = f"{team.prefix}-{resource}"
    rule = {"apiGroups": [group], "resources": [resource], "verbs": ["list"]}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": team.namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    accounts = f"/api/v1/namespaces/{team.namespace}/serviceaccounts"
    meta = {"metadata": {"name": name}}
    for path, body in (
        (accounts, meta),
        (f"{RBAC}/clusterroles", {**meta, "rules": [rule]}),
        (f"{RBAC}/clusterrolebindings", {**meta, "roleRef": role, "subjects": [subject]}),
    ):
        assert (reply := ask(team.cluster, "POST", path, body)).ok, reply
    token = ask(team.cluster, "POST", f"{accounts}/{name}/token", {"spec": {}})
    assert token.ok, token
    config = json.loads(team.cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token.body["status"]["token"]}
    kubeconfig = folder / name
    kubeconfig.write_text(json.dumps(config))
    user = f"system:serviceaccount:{team.namespace}:{name}"
    collection = "/api/v1/nodes" if not group else f"/apis/{group}/{v.VERSION}/{resource}"
    eventually(lambda: ask(team.cluster, "GET", collection, as_user=user).ok, f"{name} may list")
    try:
        yield kubeconfig
    finally:
        for kind in ("clusterrolebindings", "clusterroles"):
            assert ask(team.cluster, "DELETE", f"{RBAC}/{kind}/{name}").ok


@pytest.mark.slow
def test_cards_and_quotas_as_they_are(team: Team) -> None:
    """Q3: the same numbers as the operator's; the tenant may see them too."""
    card = f"{team.prefix}-card"
    team.has_queue({card: 5}, "a")
    team.has_queue({card: 4, f"{team.prefix}-gone": 1}, "b")
    with a_node_of(team, a_node(f"{team.prefix}-one").with_cards(card, "8")):
        team.until_row(card, "a", quota=5, resource=GPU)
        for kubeconfig in (team.cluster.kubeconfig, the_tenants(team)):
            found = listed(kubeconfig)
            assert line(found, card) == {
                "name": card,
                "resource": GPU,
                "allocatable": 8,
                "nodes": 1,
                "quota": 9,
                "queues": 2,
                "oversold": 1,
                "allocated": 0,
                "inqueue": 0,
                "queue_names": sorted(map(team.queue_name, ("a", "b"))),
            }
            assert line(found, f"{team.prefix}-gone")["oversold"] == 1
    later = line(listed(team.cluster.kubeconfig), card)
    assert (later["resource"], later["allocatable"], later["nodes"]) == (GPU, 0, 0)


@pytest.mark.slow
def test_d9_event_metric_and_command_tell_the_same_of_a_node_with_bad_labels(team: Team) -> None:
    name = f"{team.prefix}-bad"
    card = f"{team.prefix}-card"
    node = a_node(name).with_cards(card, "4").offering("8", f"{GPU}.shared")
    node = node.labelled(f"{GPU}.replicas", "0").labelled("amd.com/gpu.product-name", "X")
    node = node.labelled(PARTITION, "odd").offering(8, AMD)
    before = metric(team.cluster, "cardquota_uncounted_nodes")
    with a_node_of(team, node):
        found = listed(team.cluster.kubeconfig)
        problems = not_counted(found, name)
        assert problems == [
            f"label {PARTITION}: <odd> is no known partition",
            f"label {GPU}.replicas: <0> is not a number above one",
        ]
        assert line(found, card)["allocatable"] == 4
        event = eventually(lambda: node_events(team, name), f"event on {name}")[0]
        assert (event["reason"], event["type"]) == (v.NOT_COUNTED, "Warning")
        assert event["message"] == report_messages.not_counted(name, problems, others=True)
        assert metric(team.cluster, "cardquota_uncounted_nodes") == before + 1
    eventually(
        lambda: metric(team.cluster, "cardquota_uncounted_nodes") == before, "the metric as before"
    )
    assert not_counted(listed(team.cluster.kubeconfig), name) == []


def node_events(team: Team, node: str) -> Sequence[Object]:
    path = f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={node}"
    found = ask(team.cluster, "GET", path).body["items"]
    return [event for event in found if event.get("reportingComponent") == "cardquota"]


@pytest.mark.slow
def test_as_kubectls_plugin(team: Team, tmp_path: Path) -> None:
    """As it is installed: the program that the project declares, found by kubectl on PATH."""
    declared = tomllib.loads(PROJECT.read_text())["project"]["scripts"]["kubectl-cardquota"]
    module, _, function = declared.partition(":")
    program = tmp_path / "bin" / "kubectl-cardquota"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom {module} import {function}\n{function}()\n")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    kubectl = team.cluster.binary
    for options, environment in (
        ((), {"KUBECONFIG": str(team.cluster.kubeconfig)}),
        (("--kubeconfig", str(the_tenants(team))), {"KUBECONFIG": "/nowhere"}),
    ):
        done = run(kubectl, "cardquota", "cards", *options, PATH=path, **environment)
        assert (done.returncode, done.stderr) == (0, "")
        head, *rows = done.stdout.splitlines()
        assert head.split() == [
            "CARD",
            "RESOURCE",
            "ALLOCATABLE",
            "QUOTA",
            "QUEUES",
            "NODES",
            "OVERSOLD",
        ]
        assert any(row.split()[:3] == ["NVIDIA-T1000", GPU, "2000"] for row in rows)
    done = run(kubectl, "cardquota", "cards", "--context", "gone", PATH=path, **environment)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.slow
def test_who_may_not_list_queues_sees_no_quotas_and_is_told_so(team: Team, tmp_path: Path) -> None:
    with somebody_who_may(team, tmp_path, "", "nodes") as kubeconfig:
        found = listed(kubeconfig)
        one = line(found, "NVIDIA-T1000")
        assert (one["allocatable"], one["quota"], found["queues"]) == (2000, None, None)
        (note,) = found["notes"]
        assert note.startswith("you may not list queues: queues.scheduling.volcano.sh is")
        assert note.endswith(": no quotas are shown")


@pytest.mark.slow
def test_who_may_not_list_nodes_is_told_in_one_line(team: Team, tmp_path: Path) -> None:
    with somebody_who_may(team, tmp_path, v.API_GROUP, "queues") as kubeconfig:
        done = run(*CARDS, "--kubeconfig", kubeconfig)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("cardquota: you may not list nodes: nodes is forbidden")


@pytest.mark.slow
def test_an_api_server_that_is_not_there_is_told_in_one_line(team: Team, tmp_path: Path) -> None:
    config = json.loads(team.cluster.kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    (tmp_path / "dead").write_text(json.dumps(config))
    done = run(*CARDS, "--kubeconfig", tmp_path / "dead")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "cannot list nodes: " in done.stderr
    assert "Cannot connect to host 127.0.0.1:1" in done.stderr
