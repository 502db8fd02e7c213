"""`check` finds what is left over of another way to hold quotas."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from builders import GPU, H200, Body, a_group, a_namespace, a_node, a_pod, a_queue
from cardquota.cli.check.bounded_section import MOST_SHOWN
from cardquota.cli.check.check import lines
from cardquota.cli.check.checked_cluster import read_cluster
from cardquota.cli.check.leftovers.leftover_objects import KNOWN, NotedPods, read_leftovers
from cardquota.cli.check.leftovers.leftover_section import leftover_section
from cardquota.cli.check.section import CheckSection
from cardquota.cli.cluster_error import ClusterError
from cardquota.cluster.api.client import Client
from cardquota.cluster.api.find_access import find_access
from cardquota.quota import vocabulary as v
from cardquota.quota.moments import seconds_of
from cardquota.settings import Settings

from ...answering_api import Answer, answering

NOON = seconds_of("2026-01-02T12:00:00Z") or 0
GROUP = "/apis/scheduling.volcano.sh/v1beta1"
JOBS = "/apis/batch.volcano.sh/v1alpha1/jobs"
PODS = "/api/v1/pods"
EVENTS = "/api/v1/events"
CONFIGURATION = "/api/v1/namespaces/volcano-system/configmaps/volcano-scheduler-configmap"
FORBIDDEN = 403, json.dumps({"kind": "Status", "reason": "Forbidden", "message": "no"})
OLD = {"capability": {"cpu": "8", GPU: "4"}}
TEAM = a_namespace("team")


def a_list(*bodies: Body | dict[str, Any]) -> Answer:
    items = [body.body if isinstance(body, Body) else body for body in bodies]
    return 200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": items})


def a_job(notes: object = None, *tasks: object) -> dict[str, Any]:
    meta = {"name": "train", "namespace": "team", "annotations": notes}
    return {"metadata": meta, "spec": {"tasks": list(tasks)}}


def configured(*plugins: str) -> Answer:
    text = json.dumps({"tiers": [{"plugins": [{"name": name} for name in plugins]}]})
    meta = {"name": "volcano-scheduler-configmap", "creationTimestamp": "2026-01-02T11:00:00Z"}
    return 200, json.dumps({"metadata": meta, "data": {"volcano-scheduler.conf": text}})


@pytest.fixture
def asked() -> list[tuple[str, dict[str, str]]]:
    return []


@pytest.fixture
def answers() -> dict[str, Answer]:
    return {
        "/api/v1/nodes": a_list(a_node("n").with_cards(H200, 8)),
        "/api/v1/namespaces": a_list(TEAM),
        f"{GROUP}/queues": a_list(a_queue("q").with_quota({H200: 1})),
        f"{GROUP}/podgroups": a_list(),
        PODS: a_list(),
        EVENTS: a_list(),
    }


@pytest.fixture
async def kubeconfig(
    answers: Mapping[str, Answer], asked: list[tuple[str, dict[str, str]]], tmp_path: Path
) -> AsyncIterator[Path]:
    async with answering(answers, tmp_path, lambda *one: asked.append(one)) as path:
        yield path


async def checked(kubeconfig: Path, namespace: str = "") -> CheckSection:
    noted = NotedPods()
    read = await read_cluster(kubeconfig, "", namespace, Settings(), look_at_pod=noted.look)
    client = Client(await find_access(kubeconfig, ""))
    try:
        left = await read_leftovers(
            client,
            namespace,
            Settings(),
            pods=noted.found,
            pods_unread=read.unread.get("pods", ""),
        )
    finally:
        await client.close()
    return leftover_section(read, left, NOON)


def found_in(section: CheckSection) -> list[tuple[str, str, str]]:
    return [(one.reason, one.kind, one.name) for one in section.findings]


async def test_nothing(kubeconfig: Path) -> None:
    section = await checked(kubeconfig)
    assert (section.findings, section.notes, section.complete) == ([], [], True)
    assert list(lines([section])) == []


async def test_the_scheduler_still_names_an_old_plugin(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    answers[CONFIGURATION] = configured("gang", "capacity-card", "proportion")
    section = await checked(kubeconfig)
    name = "volcano-scheduler-configmap"
    assert found_in(section) == [("PluginConfigured", "ConfigMap", name)] * 2
    assert [one.age for one in section.findings] == [3_600] * 2
    last = [line.plain for line in lines([section])][-1]
    assert last.startswith(f"leftover: ConfigMap volcano-system/{name}: plugin proportion counts")
    assert last.endswith("; take the plugin out of the scheduler's configuration, and restart it")
    answers[CONFIGURATION] = configured("gang", "capacity")
    assert found_in(await checked(kubeconfig)) == []
    answers[CONFIGURATION] = 200, "[]"
    assert found_in(await checked(kubeconfig)) == []


async def test_the_old_plugin_still_tells_pods_and_groups_to_wait(
    answers: dict[str, Answer], kubeconfig: Path, asked: list[tuple[str, dict[str, str]]]
) -> None:
    about = {"kind": "PodGroup", "namespace": "team", "name": "train"}
    meta = {"name": "e", "namespace": "team"}
    event = {"metadata": meta, "involvedObject": about, "firstTimestamp": "2026-01-02T11:00:00Z"}
    answers[EVENTS] = a_list(event, event)
    section = await checked(kubeconfig)
    assert found_in(section) == [("PluginActive", "PodGroup", "train")]
    assert ("fieldSelector", "source=volcano.capacity-card") in dict(asked)[EVENTS].items()


@pytest.mark.parametrize("quota", [True, False])
async def test_q2_card_resources_in_a_queues_specification(
    answers: dict[str, Answer], kubeconfig: Path, *, quota: bool
) -> None:
    queue = a_queue("old").put(OLD, "spec")
    answers[f"{GROUP}/queues"] = a_list(queue.with_quota({H200: 4}) if quota else queue)
    (one,) = (await checked(kubeconfig)).findings
    assert (one.reason, one.queue) == ("CardsInSpec", "old")
    assert one.why.startswith(f"spec.capability {GPU} 4: not a card quota, and ")
    assert ("Volcano's plugin capacity limits the queue by it too" in one.why) == quota
    assert ("write volcano.sh/card.quota" in one.advice) != quota


async def test_cards_that_are_held_where_there_is_no_quota(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    """As of pods that ran in a queue of Volcano's before."""
    runs = a_pod().in_queue("plain").managed().asking_for(2).on_node("n")
    answers[f"{GROUP}/queues"] = a_list(a_queue("plain").put({"weight": 1}, "spec"), a_queue("x"))
    answers[PODS] = a_list(runs, a_pod("out").with_uid("out").managed().asking_for(1).on_node("n"))
    (one,) = (await checked(kubeconfig)).findings
    assert (one.reason, one.name, dict(one.cards)) == ("QuotaMissing", "plain", {H200: 2})


async def test_pods_from_before_that_no_gate_holds(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    early = a_pod("early").in_queue("q").managed().naming(H200).asking_for(1)
    gated = a_pod("gated").with_uid("g").in_queue("q").managed().naming(H200).asking_for(1).gated()
    plain = a_pod("plain").with_uid("p").in_queue("q").managed()
    runs = early.with_uid("r").on_node("n")
    answers[PODS] = a_list(early, gated, plain, runs)
    (one,) = (await checked(kubeconfig)).findings
    assert (one.reason, one.name, dict(one.cards)) == ("WaitsWithoutGate", "early", {H200: 1})
    assert one.queue == "q"


async def test_requests_that_cannot_be_read(answers: dict[str, Answer], kubeconfig: Path) -> None:
    answers[f"{GROUP}/podgroups"] = a_list(a_group("bad").requesting("{"), a_group("good"))
    answers[JOBS] = a_list(a_job({v.REQUEST: '{"A": 0}'}), a_job({v.REQUEST: '{"A": 1}'}))
    section = await checked(kubeconfig)
    assert found_in(section) == [
        ("RequestUnreadable", "PodGroup", "bad"),
        ("RequestUnreadable", "Job", "train"),
    ]
    assert section.findings[0].why.startswith(
        "the annotation volcano.sh/card.request cannot be read"
    )


async def test_keys_that_mean_nothing(answers: dict[str, Answer], kubeconfig: Path) -> None:
    queue = a_queue("q").with_quota({H200: 1})
    answers[f"{GROUP}/queues"] = a_list(queue.annotated("volcano.sh/card.colour", "{}"))
    answers[f"{GROUP}/podgroups"] = a_list(a_group("g").annotated("volcano.sh/card.requests", "{}"))
    template = {"metadata": {"annotations": {"volcano.sh/card.names": "x", v.CARD_NAME: H200}}}
    odd = ({"template": template}, {"template": None}, {"template": {"metadata": None}})
    answers[JOBS] = a_list(a_job(7, *odd), {"metadata": 7}, a_job({"volcano.sh/queue-name": "q"}))
    answers[PODS] = a_list(a_pod("p").managed().annotated("volcano.sh/cards", "x"))
    section = await checked(kubeconfig)
    assert found_in(section) == [
        ("UnknownKey", "Queue", "q"),
        ("UnknownKey", "PodGroup", "g"),
        ("UnknownKey", "Job", "train"),
        ("UnknownKey", "Pod", "p"),
    ]
    assert section.findings[2].why == "annotations that have no effect: volcano.sh/card.names"


async def test_a_key_of_a_queue_that_was_meant_to_be_ours_is_told_by_another_section(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    queue = a_queue("q").annotated("volcano.sh/card.qouta", "{}").annotated("card.policy", "Gate")
    answers[f"{GROUP}/queues"] = a_list(queue)
    client = Client(await find_access(kubeconfig, ""))
    try:
        (one,) = (await read_leftovers(client, "", Settings())).objects
    finally:
        await client.close()
    assert dict(one.mistyped) == {"volcano.sh/card.qouta": v.QUOTA, "card.policy": v.POLICY}
    assert one.unknown == ()


def test_keys_of_ours_are_known() -> None:
    assert {v.QUOTA, v.CARD_NAME, v.STATUS, v.TERM, v.NAMESPACE_MODE} <= KNOWN
    assert "volcano.sh/card.request" in KNOWN
    assert v.QUEUE_NAME not in KNOWN


async def test_in_a_namespace_only_what_is_in_it(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    answers[f"{GROUP}/queues"] = a_list(a_queue("old").put(OLD, "spec"))
    answers[CONFIGURATION] = configured("capacity-card")
    inside = f"{GROUP}/namespaces/team/podgroups"
    answers[inside] = a_list(a_group("bad").requesting("{"))
    answers["/api/v1/namespaces/team/events"] = a_list()
    answers["/api/v1/namespaces/team/pods"] = a_list()
    assert found_in(await checked(kubeconfig, "team")) == [("RequestUnreadable", "PodGroup", "bad")]


async def test_what_may_not_be_read_is_said(answers: dict[str, Answer], kubeconfig: Path) -> None:
    answers[JOBS] = answers[CONFIGURATION] = answers[EVENTS] = FORBIDDEN
    section = await checked(kubeconfig)
    assert [note.partition(": ")[0] for note in section.notes] == [
        "you may not list jobs",
        "you may not list events",
        "you may not list configmaps of volcano-system",
    ]
    assert section.notes[0].endswith("leftovers of another quota system may be missed")
    assert section.complete


@pytest.mark.parametrize("path", [JOBS, CONFIGURATION])
@pytest.mark.parametrize("answer", [(500, "oops"), (200, "no list")])
async def test_a_broken_answer_is_no_good_news(
    answers: dict[str, Answer], kubeconfig: Path, path: str, answer: Answer
) -> None:
    answers[path] = answer
    if path == CONFIGURATION and answer[0] == 200:
        assert found_in(await checked(kubeconfig)) == []  # nothing that Volcano could read
        return
    with pytest.raises(ClusterError):
        await checked(kubeconfig)


async def test_of_many_some_are_shown_and_the_rest_counted(
    answers: dict[str, Answer], kubeconfig: Path
) -> None:
    groups = [a_group(f"g{number}").requesting("{") for number in range(MOST_SHOWN + 7)]
    answers[f"{GROUP}/podgroups"] = a_list(*groups)
    section = await checked(kubeconfig)
    assert len(section.findings) == MOST_SHOWN
    assert section.notes == ["7 findings more of RequestUnreadable"]
