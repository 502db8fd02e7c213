"""`kubectl cardquota simulate`: files against a cluster, of which nothing is written."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from builders import H200, H800, a_group, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.cli.plugin import plugin

from ..answering_api import NOT_SERVED, Answer, answering

GROUP = "/apis/scheduling.volcano.sh/v1beta1"
FORBIDDEN: Answer = (403, '{"reason": "Forbidden", "message": "no"}')
CHAT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "chat"},
    "spec": {
        "replicas": 2,
        "template": {
            "metadata": {
                "annotations": {
                    "scheduling.volcano.sh/queue-name": "q",
                    "volcano.sh/card.name": H200,
                }
            },
            "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
        },
    },
}


def listing(*items: Any) -> Answer:
    return 200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": [i.body for i in items]})


def running(name: str, cards: int = 1) -> PodBody:
    """A pod that the operator has let through, and that has a node."""
    pod = a_pod(name).with_uid(name).in_queue("q").naming(H200).asking_for(cards)
    return pod.managed().stamped("q", {H200: cards}).on_node("n")


def waiting(name: str, cards: int = 1) -> PodBody:
    return a_pod(name).with_uid(name).in_queue("q").naming(H200).asking_for(cards).gated()


def cluster(*pods: PodBody, quota: int = 3, cards: int = 8, **others: Answer) -> dict[str, Answer]:
    return {
        f"{GROUP}/queues": listing(a_queue("q").with_quota({H200: quota})),
        f"{GROUP}/podgroups": listing(),
        "/api/v1/nodes": listing(a_node("n").with_cards(H200, cards)),
        "/api/v1/namespaces": listing(),
        "/api/v1/pods": listing(*pods),
        **{f"/api/v1/{kind}": answer for kind, answer in others.items()},
    }


async def simulate(
    answers: dict[str, Answer], folder: Path, *options: str, body: Any = CHAT
) -> Result:
    (folder / "files.yaml").write_text(json.dumps(body))
    asked: list[str] = []
    async with answering(answers, folder, lambda path, _: asked.append(path)) as config:
        arguments = ["simulate", "-f", str(folder / "files.yaml"), "--kubeconfig", str(config)]
        return await asyncio.to_thread(CliRunner().invoke, plugin, [*arguments, *options])


async def test_what_runs_holds_its_cards_and_the_rest_fits_or_not(tmp_path: Path) -> None:
    found = await simulate(cluster(running("a"), running("b")), tmp_path)
    assert found.exit_code == 0, found.output
    head, fits, refused, _, _, queue = found.stdout.splitlines()
    assert head == "Deployment default/chat: 1 fits now, 1 refused"
    assert fits.startswith("  fits now  chat-")
    assert fits.endswith(f": {H200} 1; room on n")
    assert "requested <1>, total would be <4>, but capability is <3>" in refused
    assert queue.split()[:4] == ["q", "Open", H200, "3/3"]


async def test_who_waits_there_comes_first(tmp_path: Path) -> None:
    """What it takes the others lack. If it has waited for too long (E6) nobody passes it."""
    gates = {f"{GROUP}/queues": listing(a_queue("q").with_quota({H200: 3}).with_policy("Gate"))}
    found = await simulate({**cluster(running("a"), waiting("b", 2)), **gates}, tmp_path)
    head, waits, *_ = found.stdout.splitlines()
    assert head == "Deployment default/chat: 2 wait"
    assert "total would be <4>, but capability is <3>" in waits
    found = await simulate({**cluster(running("a"), waiting("b", 3)), **gates}, tmp_path)
    head, waits, *_ = found.stdout.splitlines()
    assert head == "Deployment default/chat: 2 wait"
    assert "sets aside what is free for a pod, which comes before this pod" in waits


async def test_what_is_on_nodes_takes_their_room(tmp_path: Path) -> None:
    """Also what no quota is about, as long as it has not ended."""
    other = a_pod("other").with_uid("other").asking_for(1).on_node("n")
    over = a_pod("over").with_uid("over").asking_for(8).on_node("n").in_phase("Succeeded")
    found = await simulate(cluster(other, over, quota=9, cards=2), tmp_path)
    first, second = found.stdout.splitlines()[1:3]
    assert first.endswith("room on n")
    assert second.endswith("no node has room: stays Pending")


async def test_data_is_that_of_the_simulation_of_files(tmp_path: Path) -> None:
    for form in ("json", "yaml"):
        found = await simulate(cluster(running("a")), tmp_path, "-o", form, "-n", "team")
        data = yaml.safe_load(found.stdout)
        (chat,) = data["workloads"]
        assert (chat["kind"], chat["namespace"], chat["name"]) == ("Deployment", "team", "chat")
        assert [pod["answer"] for pod in chat["pods"]] == ["admitted", "admitted"]
        assert [queue["name"] for queue in data["queues"]] == ["q"]


async def test_a_queue_of_the_files_takes_the_place_of_the_one_that_is_there(
    tmp_path: Path,
) -> None:
    larger = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        **a_queue("q").with_quota({H200: 4}).body,
    }
    both = {"apiVersion": "v1", "kind": "List", "items": [CHAT, larger]}
    found = await simulate(cluster(running("a"), running("b")), tmp_path, body=both)
    assert found.stdout.splitlines()[0] == "Deployment default/chat: 2 fit now"


async def test_bad_objects_of_the_cluster_are_left_out_and_told(tmp_path: Path) -> None:
    answers = cluster(running("a"))
    bad = {"metadata": {"name": "bad\x1b[2J", "uid": "u"}, "spec": 7}
    items = json.dumps({"metadata": {"resourceVersion": "1"}, "items": [bad] * 30})
    answers["/apis/scheduling.k8s.io/v1/priorityclasses"] = FORBIDDEN
    answers["/api/v1/limitranges"] = (200, items)
    found = await simulate(answers, tmp_path)
    assert found.exit_code == 0, found.output
    notes = [line for line in found.stdout.splitlines() if line.startswith("note: ")]
    assert notes[0] == "note: you may not list priorityclasses: no: judged as if there were none"
    assert notes[1].startswith("note: left out: limitranges: bad?[2J cannot be read: ")
    assert notes[-1] == "note: and 11 more notes; -o json has all"
    assert "2 fit now" in found.stdout


@pytest.mark.parametrize(
    ("path", "answer", "says"),
    [
        (f"{GROUP}/queues", NOT_SERVED, "the cluster has no definition of Queue"),
        (f"{GROUP}/queues", FORBIDDEN, "you may not list queues: no"),
        (f"{GROUP}/podgroups", FORBIDDEN, "you may not list podgroups: no"),
        ("/api/v1/pods", FORBIDDEN, "you may not list pods: no"),
        ("/api/v1/nodes", (500, "oops"), "cannot list nodes: 500 : oops"),
        ("/api/v1/pods", (200, "no list"), "cannot list pods: the answer is no list"),
    ],
)
async def test_what_it_needs_and_cannot_have_is_one_line(
    tmp_path: Path, path: str, answer: Answer, says: str
) -> None:
    found = await simulate({**cluster(), path: answer}, tmp_path)
    assert (found.exit_code, found.stdout, found.stderr.count("\n")) == (1, "", 1)
    assert says in found.stderr


async def test_without_groups_and_without_workloads_there_is_an_answer(tmp_path: Path) -> None:
    answers = {**cluster(), f"{GROUP}/podgroups": NOT_SERVED}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
    found = await simulate(answers, tmp_path, body=service)
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (0, "No workloads in the files.")


def test_wrong_files_and_names_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("a: [")
    (tmp_path / "folder").mkdir()
    for name, says in (
        ("none", "No such file"),
        ("bad", "is not YAML"),
        ("folder", "is a directory without *.yaml files"),
    ):
        found = CliRunner().invoke(plugin, ["simulate", "-f", str(tmp_path / name)])
        assert (found.exit_code, found.stdout, found.stderr.count("\n")) == (1, "", 1)
        assert says in found.stderr
    for options in ((), ("-f", "x", "-n", "A b"), ("-f", "x", "-o", "wide")):
        found = CliRunner().invoke(plugin, ["simulate", *options])
        assert (found.exit_code, found.stdout, found.stderr.count("\n")) == (2, "", 1)


async def test_a_gang_and_a_group_that_are_there_are_taken_as_they_are(tmp_path: Path) -> None:
    """A pod of the files that joins a group of the cluster is judged with it."""
    group = a_group("gang").with_uid("gang").in_queue("q").of(2)
    answers = {**cluster(running("a")), f"{GROUP}/podgroups": listing(group)}
    pod = a_pod("new").in_group("gang").in_queue("q").naming(H800).asking_for(1).body
    found = await simulate(answers, tmp_path, body={"apiVersion": "v1", "kind": "Pod", **pod})
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[0].startswith("Pod team/new: 1 ")
