"""`cardquota cards` over files: what it prints, exit codes, and one line for what is wrong."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from builders import GPU, H200, H800, Body, a_node, a_queue
from builders.node import NodeBody
from cardquota.cli.app import app
from cardquota.quota import API_GROUP, VERSION

ROOT = Path(__file__).parents[4]
DOCUMENT = ROOT / "docs" / "install.md"
Written = Callable[..., str]


def called(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(app, ["cards", *arguments], input=text)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """The name of a file with these objects."""

    def write(*things: Body) -> str:
        path = tmp_path / "things.yaml"
        bodies = []
        for thing in things:
            is_node = isinstance(thing, NodeBody)
            kind, version = ("Node", "v1") if is_node else ("Queue", f"{API_GROUP}/{VERSION}")
            bodies.append(json.dumps({"apiVersion": version, "kind": kind, **thing.body}))
        path.write_text("\n---\n".join(bodies))
        return str(path)

    return write


def test_a_table_sorted_by_name(written: Written) -> None:
    nodes = a_node("b").with_cards(H800, 8), a_node("a").with_cards(H200, 8)
    queues = a_queue("x").with_quota({H200: 6, "Gone": 2}), a_queue("y").with_quota({H200: 6})
    result = called("-f", written(*nodes, *queues))
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "CARD          RESOURCE         ALLOCATABLE   QUOTA   QUEUES   NODES   OVERSOLD",
        "Gone          -                0             2       1        0       2",
        "NVIDIA-H200   nvidia.com/gpu   8             12      2        1       4",
        "NVIDIA-H800   nvidia.com/gpu   8             0       0        1       -",
    ]


def test_the_same_problem_of_many_nodes_is_one_line(written: Written) -> None:
    bad = a_node().sharing(H200, 8, "lots").body
    nodes = [NodeBody({**bad, "metadata": {**bad["metadata"], "name": f"n-{i}"}}) for i in range(7)]
    result = called("-f", written(a_node("a").offering(1), *nodes))
    assert result.output.splitlines() == [
        "No cards.",
        "",
        "Not counted:",
        f"  n-0, n-1, n-2, n-3 and 3 more: label {GPU}.memory: <lots> is not a number above zero",
        f"  a: {GPU} is offered, but no label says of which product ({GPU}.product)",
    ]


def test_d6_cards_of_a_resource_in_no_vendor_row_are_one_line(written: Written) -> None:
    nodes = [a_node(name).with_cards(name.upper(), 8, "new.example/xpu") for name in ("x1", "x2")]
    result = called("-f", written(a_node("a").with_cards(H200, 8), *nodes))
    assert result.output.splitlines()[-2:] == [
        "In no vendor row:",
        (
            "  X1, X2: new.example/xpu is in no vendor row: the webhook does not see pods that "
            "ask for it and carry no annotation, even if their namespace has a queue, unless it "
            "is labelled `enforced`; add a row to `vendors` in the configuration, then apply the "
            "output of `cardquota manifests`"
        ),
    ]


def test_quotas_that_cannot_be_read_come_last(written: Written) -> None:
    result = called("-f", written(a_node().offering(1), a_queue("research").with_quota_text("[]")))
    assert result.exit_code == 0
    assert result.output.splitlines()[-2:] == [
        "Quotas that cannot be read:",
        (
            "  research: annotation volcano.sh/card.quota cannot be read: it is a list, not a JSON "
            "object; there is no earlier one: all cards are 0 until it is corrected"
        ),
    ]


def test_as_json_every_node_is_named(written: Written) -> None:
    path = written(
        a_node("a").with_cards(H200, str(2**60 + 1)),
        *(a_node(f"b{i}").offering(1) for i in range(9)),
        a_queue("x").with_quota({H200: 6}),
        a_queue("y").with_quota_text("[]"),
    )
    found = json.loads(called("-f", path, "-o", "json").output)
    assert found["cards"] == [
        {
            "name": H200,
            "resource": GPU,
            "allocatable": 2**60 + 1,
            "nodes": 1,
            "quota": 6,
            "queues": 1,
            "oversold": 0,
            "allocated": None,
            "inqueue": None,
            "queue_names": ["x"],
        }
    ]
    assert [entry["node"] for entry in found["not_counted"]] == [f"b{i}" for i in range(9)]
    assert [entry["queue"] for entry in found["unreadable_quotas"]] == ["y"]
    assert (found["nodes"], found["queues"], found["notes"]) == (10, 2, [])


def test_other_objects_are_skipped_and_a_second_one_replaces_the_first(written: Written) -> None:
    pods = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, spec: 7}\n"
    node = json.dumps({"apiVersion": "v1", "kind": "Node", **a_node().with_cards(H800, 1).body})
    result = called("-f", written(a_node().with_cards(H200, 8)), "-f", "-", text=pods + f"- {node}")
    assert result.output.splitlines() == [
        "note: standard input, item 2: Node node again: it replaces the one before",
        "note: 1 object of other kinds skipped: they say nothing of cards",
        "",
        "CARD          RESOURCE         ALLOCATABLE   QUOTA   QUEUES   NODES   OVERSOLD",
        "NVIDIA-H800   nvidia.com/gpu   1             0       0        1       -",
    ]


def test_makers_of_the_configuration_count(written: Written, tmp_path: Path) -> None:
    node = a_node().labelled("x.example/model", "X1").offering(4, "x.example/npu")
    config = tmp_path / "config.yaml"
    config.write_text(
        "vendors: [{name: X, prefix: x.example, type: npu, productLabels: [x.example/model]}]\n"
    )
    path = written(node)
    assert called("-f", path).output == "No cards.\n"
    assert "X1     x.example/npu   4 " in called("-f", path, "--config", str(config)).output


def test_what_cannot_be_read_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    result = called("-f", str(tmp_path / "none.yaml"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"cardquota: {tmp_path}/none.yaml: cannot be read: ")
    assert result.stderr.count("\n") == 1


def test_the_document_shows_what_the_command_prints(written: Written) -> None:
    shared = a_node("hopper-9").sharing(H800, 4, "81559", replicas="0").offering(6)
    nodes = (a_node("hopper-7").offering(8), a_node("hopper-8").offering(8), shared)
    plane, sample = "dev/cardquota_dev/plane/cluster.yaml", "manifests/samples/queue.yaml"
    files = (ROOT / plane, ROOT / sample, written(*nodes))
    printed = called(*(argument for file in files for argument in ("-f", str(file)))).output
    assert f"```console\n$ kubectl cardquota cards\n{printed}```\n" in DOCUMENT.read_text()


def test_what_is_claimed_and_which_labels_mean_nothing_stand_at_the_end() -> None:
    text = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: npu}
---
apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {volcano.sh/card-quota: enforce}}
"""
    result = called("-f", "-", text=text)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[:3] == ["No cards.", "", "Claimed from DeviceClasses:"]
    assert lines[3].startswith("  npu: no quota counts devices asked for as deviceclass.resource.")
    assert lines[4:6] == ["", "Labels of namespaces that mean nothing:"]
    assert lines[6].startswith("  Namespace <team>: the label volcano.sh/card-quota is <enforce>")


def test_wide_shows_what_is_in_use_and_which_queues_have_a_quota(tmp_path: Path) -> None:
    row = {"name": H200, "quota": 2, "allocated": 2, "inqueue": 1}
    odd = {"name": H200, "quota": 2, "allocated": "many", "inqueue": -7}
    queues = [a_queue(f"q{i}").with_quota({H200: 2}).body for i in range(7)]
    queues[0]["status"] = {"cards": [row]}
    queues[1]["metadata"]["annotations"]["volcano.sh/card.status"] = json.dumps({"cards": [row]})
    queues[2]["status"] = {"cards": [odd]}
    bodies = [{"apiVersion": f"{API_GROUP}/{VERSION}", "kind": "Queue", **one} for one in queues]
    bodies.append({"apiVersion": "v1", "kind": "Node", **a_node("n").with_cards(H800, 8).body})
    (tmp_path / "files.yaml").write_text("\n---\n".join(map(json.dumps, bodies)))
    arguments = ("-f", str(tmp_path / "files.yaml"))
    head, *rows = called(*arguments, "-o", "wide").output.splitlines()
    assert head.endswith("OVERSOLD   ALLOCATED   INQUEUE   QUOTA IN")
    assert rows[0].endswith("14         4           2         q0, q1, q2, q3, q4 and 2 more")
    assert rows[1].endswith("-          -           -         -")
    (first, _) = yaml.safe_load(called(*arguments, "-o", "yaml").output)["cards"]
    assert (first["allocated"], first["inqueue"]) == (4, 2)
    assert first["queue_names"] == [f"q{i}" for i in range(7)]
