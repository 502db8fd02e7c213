"""What an API server may answer, by one of a few lines, and what `check` makes of it (R7)."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from builders import H200, Body, a_group, a_namespace, a_node, a_queue
from cardquota.cli.check.checked_cluster import read_cluster
from cardquota.cli.check.section import CheckSection
from cardquota.cli.check.stuck_section import stuck_section
from cardquota.cli.cluster_error import ClusterError
from cardquota.quota import vocabulary as v
from cardquota.settings import Settings
from unit.quota.stuck.stuck_things import NOON, OURS, deleted, holding, waiting

from ..answering_api import Answer, answering

PODS = "/api/v1/pods"
GROUP = "/apis/scheduling.volcano.sh/v1beta1"
FORBIDDEN = 403, json.dumps({"kind": "Status", "reason": "Forbidden", "message": "no"})


def a_list(*bodies: Body | dict[str, Any]) -> Answer:
    items = [body.body if isinstance(body, Body) else body for body in bodies]
    return 200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": items})


def a_workload(name: str = "web") -> dict[str, Any]:
    pod = waiting().body
    template = {"metadata": {"annotations": pod["metadata"]["annotations"]}, "spec": pod["spec"]}
    return {
        "metadata": {"name": name, "namespace": "team", "uid": f"uid-{name}"},
        "spec": {"replicas": 1, "template": template},
        "status": {"replicas": 0},
    }


def failed_create(at: str, message: str = OURS, uid: str = "uid-web") -> dict[str, Any]:
    meta = {"name": "e", "namespace": "team"}
    about = {"uid": uid}
    return {"metadata": meta, "involvedObject": about, "message": message, "firstTimestamp": at}


@pytest.fixture
def asked() -> list[tuple[str, dict[str, str]]]:
    """What was asked for."""
    return []


@pytest.fixture
def answers() -> dict[str, Answer]:
    """By path: a cluster with a queue; what is not here is not served."""
    apps = ("replicasets", "statefulsets", "daemonsets")
    return {
        "/api/v1/nodes": a_list(a_node("h200-a").with_cards(H200, 8)),
        "/api/v1/namespaces": a_list(a_namespace("team")),
        f"{GROUP}/queues": a_list(a_queue().with_quota({H200: 1})),
        f"{GROUP}/podgroups": a_list(a_group("g")),
        PODS: a_list(),
        "/api/v1/events": a_list(),
        "/apis/batch/v1/jobs": a_list(),
        **{f"/apis/apps/v1/{kind}": a_list() for kind in apps},
    }


@pytest.fixture
async def kubeconfig(
    answers: Mapping[str, Answer], asked: list[tuple[str, dict[str, str]]], tmp_path: Path
) -> AsyncIterator[Path]:
    async with answering(answers, tmp_path, lambda *one: asked.append(one)) as path:
        yield path


async def checked(kubeconfig: Path, namespace: str = "") -> CheckSection:
    return stuck_section(
        await read_cluster(kubeconfig, "", namespace, Settings()),
        NOON,
        terminating_after=300,
        gated_after=3_600,
        require_queue=False,
    )


async def test_only_managed_pods_are_asked_for(
    kubeconfig: Path, asked: list[tuple[str, dict[str, str]]]
) -> None:
    section = await checked(kubeconfig)
    assert (section.findings, section.notes, section.complete) == ([], [], True)
    assert dict(asked)[PODS] == {"limit": "500", "labelSelector": v.MANAGED}
    assert "/apis/apps/v1/deployments" not in dict(asked)
    assert "/api/v1/events" not in dict(asked)


async def test_the_oldest_comes_first(answers: dict[str, Answer], kubeconfig: Path) -> None:
    answers[PODS] = a_list(
        deleted(holding("young")),
        deleted(holding("old"), "2026-01-01T00:00:00Z"),
        waiting(),
    )
    found = (await checked(kubeconfig)).findings
    assert [one.name for one in found] == ["old", "young", "train"]


async def test_since_when_by_the_first_event_that_is_ours(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    answers[PODS] = a_list(holding(cards=1))
    answers["/apis/apps/v1/statefulsets"] = a_list(a_workload(), a_workload("other"))
    answers["/api/v1/events"] = a_list(
        failed_create("2026-01-02T11:30:00Z"),
        failed_create("2026-01-02T11:00:00Z"),
        failed_create("2026-01-02T11:45:00Z"),
        failed_create("2026-01-02T10:00:00Z", "exceeded quota"),
        failed_create("2026-01-02T09:00:00Z", uid="somebody"),
        failed_create("soon"),
        {"metadata": 7},
    )
    found = (await checked(kubeconfig)).findings
    assert [(one.name, one.age) for one in found] == [("web", 3_600), ("other", None)]
    assert found[1].since is None
    answers["/api/v1/events"] = FORBIDDEN
    section = await checked(kubeconfig)
    assert [one.age for one in section.findings] == [None, None]
    assert section.notes == [
        (
            "you may not list events: no: it is not known since when workloads other than "
            "ReplicaSets lack pods"
        )
    ]
    assert section.complete


@pytest.mark.parametrize("kind", ["nodes", "namespaces"])
async def test_without_a_kind_that_decides_it_is_not_said_why(
    answers: dict[str, Answer], kubeconfig: Path, kind: str
) -> None:
    answers[f"/api/v1/{kind}"] = FORBIDDEN
    answers[PODS] = a_list(waiting(), deleted(holding()))
    answers["/apis/apps/v1/statefulsets"] = a_list(a_workload(), a_workload("other"))
    answers["/api/v1/events"] = a_list(failed_create("2026-01-02T11:00:00Z"))
    section = await checked(kubeconfig)
    late, waits, lacks = section.findings
    assert late.reason == ("NodeNotKnown" if kind == "nodes" else "StillStopping")
    assert (waits.reason, lacks.name, lacks.reason) == ("", "web", "")
    assert "not everything that it depends on could be listed" in waits.why
    (note,) = section.notes
    assert note.startswith(f"you may not list {kind}: no: it is not known ")


async def test_deployments_are_asked_for_where_updates_may_borrow(
    answers: dict[str, Answer], kubeconfig: Path, asked: list[tuple[str, dict[str, str]]]
) -> None:
    answers[f"{GROUP}/queues"] = a_list(a_queue().with_quota({H200: 1}).annotated(v.SURGE, "1"))
    answers["/apis/apps/v1/deployments"] = FORBIDDEN
    section = await checked(kubeconfig)
    paths = [path for path, _ in asked]
    assert paths.index("/apis/apps/v1/deployments") == paths.index(PODS) - 1
    assert section.complete
    assert section.notes == [
        (
            "you may not list deployments: no: it is not known which pods of rolling "
            "updates may borrow cards"
        )
    ]


async def test_who_may_not_list_pods(answers: dict[str, Answer], kubeconfig: Path) -> None:
    answers[PODS] = FORBIDDEN
    answers["/apis/batch/v1/jobs"] = FORBIDDEN
    section = await checked(kubeconfig)
    assert not section.complete
    assert section.notes == [
        "you may not list jobs: no: it is not known which of them lack refused pods",
        "you may not list pods: no: it is not known which of them are stuck",
    ]


async def test_who_may_list_pods_of_one_namespace(
    answers: dict[str, Answer], kubeconfig: Path, asked: list[tuple[str, dict[str, str]]]
) -> None:
    answers[PODS] = answers[f"{GROUP}/podgroups"] = FORBIDDEN
    answers["/api/v1/namespaces/team/pods"] = a_list(waiting(), deleted(holding()))
    answers[f"{GROUP}/namespaces/team/podgroups"] = a_list()
    for kind in ("replicasets", "statefulsets", "daemonsets"):
        answers[f"/apis/apps/v1/namespaces/team/{kind}"] = a_list()
    answers["/apis/batch/v1/namespaces/team/jobs"] = a_list()
    section = await checked(kubeconfig, "team")
    assert [one.name for one in section.findings] == ["web", "train"]
    assert section.complete
    assert section.notes == [
        ("podgroups and pods of other namespaces cannot be listed: it is not known why pods wait")
    ]
    assert "/apis/batch/v1/jobs" not in dict(asked)


async def test_what_is_in_other_namespaces_is_left_out(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    answers[PODS] = a_list(
        waiting(), waiting("b").in_namespace("other"), deleted(holding().in_namespace("other"))
    )
    section = await checked(kubeconfig, "team")
    assert [one.name for one in section.findings] == ["train"]
    assert section.findings[0].reason == v.Reason.INSUFFICIENT_CARD


async def test_objects_that_are_none_keep_no_other_away(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    """And it is not said that there is nothing."""
    bad = deleted(holding("odd")).put("x", "metadata", "resourceVersion")
    form = deleted(holding("form")).put(7, "spec", "containers")
    answers[PODS] = a_list({"metadata": 7}, form, bad, deleted(holding()))
    section = await checked(kubeconfig)
    assert [one.name for one in section.findings] == ["web"]
    starts = [note.partition(" cannot be read")[0] for note in section.notes]
    assert starts == ["pods: one of them", "pods: team/form", "pods: team/odd"]
    assert not section.complete


async def test_a_node_that_cannot_be_read_is_not_gone(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    answers["/api/v1/nodes"] = a_list({"metadata": {"name": "h200-a"}, "spec": 7})
    answers[PODS] = a_list(deleted(holding()))
    section = await checked(kubeconfig)
    assert section.complete
    assert [one.reason for one in section.findings] == ["NodeNotKnown"]
    assert [note.partition(" cannot")[0] for note in section.notes] == ["nodes: h200-a"]


@pytest.mark.parametrize("path", [PODS, "/api/v1/events"])
@pytest.mark.parametrize("answer", [(500, "{}"), (200, "[]")])
async def test_any_other_answer_is_an_error(
    answers: dict[str, Answer], kubeconfig: Path, path: str, answer: Answer
) -> None:
    answers["/apis/apps/v1/statefulsets"] = a_list(a_workload())
    answers[path] = answer
    with pytest.raises(ClusterError, match=f"cannot list {path.rpartition('/')[2]}"):
        await checked(kubeconfig)


async def test_keys_of_queues_that_mean_nothing_are_kept(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    odd = (
        a_queue("odd").annotated("volcano.sh/card.qouta", "{}").annotated("volcano.sh/card.x", "x")
    )
    bad = {"metadata": {"name": "bad", "annotations": {"volcano.sh/card.qouta": 7}}, "spec": 7}
    answers[f"{GROUP}/queues"] = a_list(a_queue().with_quota({H200: 1}), odd, bad, {"metadata": 7})
    read = await read_cluster(kubeconfig, "", "", Settings())
    keys = [("volcano.sh/card.qouta", v.QUOTA), ("volcano.sh/card.x", "")]
    assert read.queue_keys == {"odd": keys, "bad": keys[:1]}
