"""`kubectl cardquota simulate`: files against a cluster, of which nothing is written."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from builders import H200, H800, a_group, a_namespace, a_node, a_pod, a_queue
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
        "/api/v1/namespaces": listing(a_namespace("default"), a_namespace("team")),
        "/api/v1/pods": listing(*pods),
        **{f"/api/v1/{kind}": answer for kind, answer in others.items()},
    }


async def simulate(
    answers: dict[str, Answer],
    folder: Path,
    *options: str,
    body: Any = CHAT,
    namespace: str = "",
) -> Result:
    (folder / "files.yaml").write_text(json.dumps(body))
    asked: list[str] = []
    async with answering(answers, folder, lambda path, _: asked.append(path)) as config:
        text = config.read_text()
        config.write_text(text.replace("user: u}", f"user: u, namespace: '{namespace}'}}"))
        arguments = ["simulate", "-f", str(folder / "files.yaml"), "--kubeconfig", str(config)]
        return await asyncio.to_thread(CliRunner().invoke, plugin, [*arguments, *options])


async def test_what_runs_holds_its_cards_and_the_rest_fits_or_not(tmp_path: Path) -> None:
    found = await simulate(cluster(running("a"), running("b")), tmp_path)
    assert found.exit_code == 0, found.output
    head, fits, refused, _, _, queue = found.stdout.splitlines()
    assert head == "Deployment default/chat: 1 fits now, 1 refused"
    assert fits.startswith("  fits now   chat-")
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
    assert "keeps what is free for a pod, which comes before this pod" in waits


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


def written(kind: str, thing: Any) -> dict[str, Any]:
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": kind, **thing.body}


def a_list(*items: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


async def test_a_queue_that_is_refused_takes_no_place(tmp_path: Path) -> None:
    """As nothing would be written, what is there goes on."""
    bad = written("Queue", a_queue("q").with_quota_text("{"))
    found = await simulate(cluster(running("a")), tmp_path, body=a_list(CHAT, bad))
    refused, _, head, *_ = found.stdout.splitlines()
    assert refused.startswith("Queue q: refused: ")
    assert head == "Deployment default/chat: 2 fit now"


async def test_a_queue_of_the_files_keeps_the_status_of_the_one_that_is_there(
    tmp_path: Path,
) -> None:
    """So a queue that is closed stays so, whatever its file says of its quota."""
    there = a_queue("q").with_quota({H200: 1}).in_state("Closed")
    answers = {**cluster(), f"{GROUP}/queues": listing(there)}
    more = written("Queue", a_queue("q").with_quota({H200: 9}))
    found = await simulate(answers, tmp_path, body=a_list(CHAT, more))
    assert found.stdout.splitlines()[0] == "Deployment default/chat: 2 refused"
    assert found.stdout.splitlines()[-1].split()[:2] == ["q", "Closed"]
    assert found.stdout.splitlines()[-1].endswith(f"closed; oversold: {H200}")


async def test_a_card_that_only_the_status_knows_stays_known(tmp_path: Path) -> None:
    """P4: a pool that is scaled to zero."""
    there = a_queue("q").with_quota({H800: 2}).having_reported(H800, 2, "nvidia.com/gpu")
    answers = {**cluster(), f"{GROUP}/queues": listing(there)}
    more = written("Queue", a_queue("q").with_quota({H800: 3}))
    found = await simulate(answers, tmp_path, "-o", "json", body=a_list(CHAT, more))
    (queue,) = json.loads(found.stdout)["queues"] or [None]
    rows = {row["name"]: row["resource"] for row in queue["cards"]}
    assert rows[H800] == "nvidia.com/gpu"


async def test_a_group_of_the_files_keeps_what_is_reserved_for_the_one_that_is_there(
    tmp_path: Path,
) -> None:
    """Whether it is written by hand, or was read from the cluster."""
    there = a_group("gang").with_uid("gang").in_queue("q").of(2).requesting({H200: 2})
    there = there.enqueued("q", {H200: 2})
    answers = {**cluster(quota=3), f"{GROUP}/podgroups": listing(there)}
    by_hand = a_group("gang").in_queue("q").of(2).requesting({H200: 2})
    for group in (by_hand, there):
        body = a_list(written("PodGroup", group), CHAT)
        found = await simulate(answers, tmp_path, body=body)
        assert "Deployment default/chat: 1 fits now, 1 refused" in found.stdout.splitlines()


async def test_nobody_gets_what_is_reserved_while_a_group_is_written(tmp_path: Path) -> None:
    """Also not who has waited for longer."""
    there = a_group("gang").with_uid("gang").in_queue("q").of(2).requesting({H200: 2})
    answers = {
        **cluster(waiting("first", 2), quota=3),
        f"{GROUP}/queues": listing(a_queue("q").with_quota({H200: 3}).with_policy("Gate")),
        f"{GROUP}/podgroups": listing(there.enqueued("q", {H200: 2})),
    }
    by_hand = a_group("gang").with_uid("").in_queue("q").of(2).requesting({H200: 2})
    body = a_list(written("PodGroup", by_hand), CHAT)
    found = await simulate(answers, tmp_path, "-o", "json", body=body)
    (queue,) = json.loads(found.stdout)["queues"]
    (row,) = queue["cards"]
    assert (row["allocated"], row["inqueue"]) == (0, 2)


async def test_a_group_of_another_cluster_brings_no_reservation(tmp_path: Path) -> None:
    """Its pods would be the first to reserve."""
    there = a_group("gang").with_uid("gang").in_queue("q").of(2).enqueued("q", {H200: 3})
    body = a_list(written("PodGroup", there), CHAT)
    found = await simulate(cluster(quota=3), tmp_path, body=body)
    assert found.stdout.splitlines()[0] == "Deployment default/chat: 2 fit now"


async def test_the_namespace_is_that_of_the_context(tmp_path: Path) -> None:
    found = await simulate(cluster(), tmp_path, namespace="team")
    assert found.stdout.splitlines()[0] == "Deployment team/chat: 2 fit now"
    found = await simulate(cluster(), tmp_path, "-n", "default", namespace="team")
    assert found.stdout.splitlines()[0] == "Deployment default/chat: 2 fit now"


async def test_nothing_is_created_in_a_namespace_that_is_not_there(tmp_path: Path) -> None:
    found = await simulate(cluster(), tmp_path, "-n", "typo")
    assert found.stdout.splitlines()[0] == "Deployment typo/chat: namespace <typo> does not exist"
    group = written("PodGroup", a_group("gang").in_namespace("typo").in_queue("q"))
    found = await simulate(cluster(), tmp_path, body=group)
    assert found.stdout.startswith("PodGroup typo/gang: refused: namespace <typo> does not exist\n")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "typo"}}
    found = await simulate(cluster(), tmp_path, "-n", "typo", body=a_list(namespace, CHAT))
    assert found.stdout.splitlines()[0] == "Deployment typo/chat: 2 fit now"


def of_chat(name: str) -> PodBody:
    pod = running(name).in_namespace("default")
    return pod.owned_by("ReplicaSet", "apps/v1", name="chat-5d4f8c7b9")


async def test_of_a_deployment_that_is_there_the_pods_that_it_lacks_are_tried(
    tmp_path: Path,
) -> None:
    found = await simulate(cluster(of_chat("a")), tmp_path)
    head = found.stdout.splitlines()[0]
    assert head == "Deployment default/chat: 1 fits now, 1 more pod of it is there"
    found = await simulate(cluster(of_chat("a"), of_chat("b")), tmp_path)
    assert found.stdout.splitlines()[0] == "Deployment default/chat: its pods are there"


async def test_what_was_read_from_the_cluster_is_not_there_twice(tmp_path: Path) -> None:
    """`kubectl get deploy,rs,pods -o yaml` as a file."""
    pod = {"apiVersion": "v1", "kind": "Pod", **of_chat("a").body}
    bare = {"apiVersion": "v1", "kind": "Pod", **running("old").body}
    owner = {"kind": "Deployment", "apiVersion": "apps/v1", "name": "chat", "controller": True}
    meta = {"name": "chat-5d4f8c7b9", "uid": "rs", "ownerReferences": [owner]}
    replicas = {**CHAT, "kind": "ReplicaSet", "metadata": meta}
    chat = {**CHAT, "metadata": {"name": "chat", "uid": "chat"}}
    body = a_list(chat, replicas, pod, bare)
    found = await simulate(cluster(of_chat("a")), tmp_path, body=body)
    assert found.stdout.splitlines()[:4] == [
        "note: 1 pod of the files is there already: left out",
        "note: 1 pod of the files is of another cluster, or gone: left out",
        "",
        "Deployment default/chat: 1 fits now, 1 more pod of it is there",
    ]


async def test_a_job_that_has_run_is_not_run_again(tmp_path: Path) -> None:
    job = {**CHAT, "apiVersion": "batch/v1", "kind": "Job"}
    job["spec"] = {"template": CHAT["spec"]["template"], "completions": 2, "parallelism": 2}
    done = running("a").in_namespace("default").owned_by("Job", name="chat")
    found = await simulate(cluster(done.in_phase("Succeeded")), tmp_path, body=job)
    assert found.stdout.splitlines()[0] == "Job default/chat: 1 fits now"


async def test_a_job_of_volcano_has_the_group_that_is_there(tmp_path: Path) -> None:
    """It is charged once."""
    uid = "0f7c1f5e-53a5-4c1f-9d0a-4e1de84a1b2c"
    name = f"train-{uid}"
    group = a_group(name).in_namespace("default").with_uid("g").in_queue("q").of(2)
    group = group.enqueued("q", {H200: 2}).requesting({H200: 2})
    task = {"name": "w", "replicas": 2, "template": CHAT["spec"]["template"]}
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {
            "name": "train",
            "annotations": {"volcano.sh/card.request": f'{{"{H200}": 2}}'},
        },
        "spec": {"queue": "q", "minAvailable": 2, "tasks": [task]},
    }
    answers = {**cluster(quota=2), f"{GROUP}/podgroups": listing(group)}
    found = await simulate(answers, tmp_path, body=job)
    assert found.stdout.splitlines()[0] == "Volcano Job default/train: 2 fit now"


async def test_classes_that_are_missing_are_missing_in_the_cluster(tmp_path: Path) -> None:
    pod = a_pod("new").with_uid("").in_queue("q").naming(H200).asking_for(1)
    pod = pod.with_spec(runtimeClassName="lost", priorityClassName="gone")
    found = await simulate(
        cluster(), tmp_path, body={"apiVersion": "v1", "kind": "Pod", **pod.body}
    )
    notes = [line for line in found.stdout.splitlines() if line.startswith("note: ")]
    assert notes[0].startswith("note: RuntimeClass lost is not in the cluster: ")
    assert notes[1].startswith("note: PriorityClass gone is not in the cluster: ")


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
        ("/api/v1/pods", (200, "no list"), "cannot list pods: the answer is not a list"),
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
    pod = a_pod("new").with_uid("").in_group("gang").in_queue("q").naming(H800).asking_for(1).body
    found = await simulate(answers, tmp_path, body={"apiVersion": "v1", "kind": "Pod", **pod})
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[0].startswith("Pod team/new: 1 ")
