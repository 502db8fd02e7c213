"""What an API server may answer, by one of a few lines, and what `check` makes of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from builders import H200, a_group, a_namespace, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.cli.check import CheckedCluster, CheckSection, read_cluster
from cardquota.cli.check.check import check
from cardquota.cli.check.usage_sections import past_section
from cardquota.cli.output import ClusterChoice, Output
from cardquota.cli.reading import ClusterError, client_of
from cardquota.quota import vocabulary as v
from cardquota.settings import Settings

from ..answering_api import FORBIDDEN, Answer, Answers, a_list, answering

PODS = "/api/v1/pods"
GROUP = "/apis/scheduling.volcano.sh/v1beta1"


def came_past(name: str) -> PodBody:
    """A pod on a node that passed no gate."""
    pod = a_pod(name).with_uid(name).in_queue("queue").naming(H200).asking_for(1)
    return pod.on_node("h200-a")


@pytest.fixture
def asked() -> list[tuple[str, dict[str, str]]]:
    """What was asked for."""
    return []


@pytest.fixture
def answers() -> Answers:
    """By path: a cluster with a queue; what is not here is not served."""
    return {
        "/api/v1/nodes": a_list(a_node("h200-a").with_cards(H200, 8)),
        "/api/v1/namespaces": a_list(a_namespace("team")),
        f"{GROUP}/queues": a_list(a_queue().with_quota({H200: 1})),
        f"{GROUP}/podgroups": a_list(a_group("g")),
        PODS: a_list(),
        "/api/v1/events": a_list(),
    }


@pytest.fixture
async def kubeconfig(
    answers: Mapping[str, Answer], asked: list[tuple[str, dict[str, str]]], tmp_path: Path
) -> AsyncIterator[Path]:
    async with answering(answers, tmp_path, lambda *one: asked.append(one)) as path:
        yield path


async def checked(kubeconfig: Path, namespace: str = "") -> CheckSection:
    return past_section(await read(kubeconfig, namespace))


async def read(kubeconfig: Path, namespace: str = "") -> CheckedCluster:
    async with client_of(ClusterChoice(kubeconfig)) as client:
        return await read_cluster(client, namespace, Settings())


async def test_only_managed_pods_are_asked_for_and_what_decides(
    kubeconfig: Path, asked: list[tuple[str, dict[str, str]]]
) -> None:
    section = await checked(kubeconfig)
    assert (section.findings, section.notes, section.complete) == ([], [], True)
    assert dict(asked)[PODS] == {"limit": "500", "labelSelector": v.MANAGED}
    assert [path.rpartition("/")[2] for path, _ in asked][-1] == "pods"
    kinds = {path.rpartition("/")[2] for path, _ in asked}
    assert kinds == {"nodes", "namespaces", "queues", "podgroups", "pods"}


@pytest.mark.parametrize("kind", ["nodes", "namespaces", "pods"])
async def test_a_forbidden_kind_is_named(answers: Answers, kubeconfig: Path, kind: str) -> None:
    answers[f"/api/v1/{kind}"] = FORBIDDEN
    section = await checked(kubeconfig)
    (note,) = section.notes
    assert kind in note
    assert not section.complete


async def test_who_may_list_pods_of_one_namespace(answers: Answers, kubeconfig: Path) -> None:
    answers[PODS] = answers[f"{GROUP}/podgroups"] = FORBIDDEN
    answers["/api/v1/namespaces/team/pods"] = a_list(came_past("a"))
    answers[f"{GROUP}/namespaces/team/podgroups"] = a_list()
    section = await checked(kubeconfig, "team")
    assert [dict(one.cards) for one in section.findings] == [{H200: 1}]
    assert (section.notes, section.complete) == ([], True)


async def test_who_may_list_that_namespace_alone(answers: Answers, kubeconfig: Path) -> None:
    answers["/api/v1/namespaces"] = FORBIDDEN
    wrong = a_namespace("team").put("x", "metadata", "annotations", "volcano.sh/card-quota")
    answers["/api/v1/namespaces?metadata.name=team"] = a_list(wrong)
    found = await read(kubeconfig, "team")
    assert [one.namespace for one in found.namespace_keys] == ["team"]
    assert not found.unread


async def test_one_that_is_not_there_is_said_to_him(answers: Answers, kubeconfig: Path) -> None:
    answers["/api/v1/namespaces"] = FORBIDDEN
    answers["/api/v1/namespaces?metadata.name=none"] = a_list()
    with pytest.raises(ClusterError, match="none"):
        await read(kubeconfig, "none")


async def test_of_one_namespace_there_are_the_sections_from_namespaces_on(
    kubeconfig: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = ClusterChoice(kubeconfig)
    asking = partial(check, Settings(), given=True, namespace="team")
    code = await asyncio.to_thread(asking, cluster=cluster, output=Output.JSON)
    sections = json.loads(capsys.readouterr().out)["sections"]
    assert [one["section"] for one in sections] == ["namespaces", "past", "refused", "outside"]
    assert code == 0


async def test_what_is_in_other_namespaces_is_left_out(answers: Answers, kubeconfig: Path) -> None:
    answers[PODS] = a_list(came_past("a"), came_past("b").in_namespace("other"))
    section = await checked(kubeconfig, "team")
    assert [dict(one.cards) for one in section.findings] == [{H200: 1}]


async def test_objects_that_are_none_keep_no_other_away(answers: Answers, kubeconfig: Path) -> None:
    bad = came_past("odd").put("x", "metadata", "resourceVersion")
    form = came_past("form").put(7, "spec", "containers")
    answers[PODS] = a_list({"metadata": 7}, form, bad, came_past("web"))
    section = await checked(kubeconfig)
    assert [dict(one.cards) for one in section.findings] == [{H200: 1}]
    starts = [note.partition(" cannot be read")[0] for note in section.notes[:3]]
    assert starts == ["pods: one of them", "pods: team/form", "pods: team/odd"]
    assert not section.complete


@pytest.mark.parametrize("answer", [(500, "{}"), (200, "[]")])
async def test_all_other_are_errors(answers: Answers, kubeconfig: Path, answer: Answer) -> None:
    answers[PODS] = answer
    with pytest.raises(ClusterError, match="cannot list pods"):
        await checked(kubeconfig)


async def test_keys_that_mean_nothing_are_kept(answers: Answers, kubeconfig: Path) -> None:
    odd = a_queue("odd").annotated("volcano.sh/card.qouta", "{}")
    odd = odd.annotated("volcano.sh/card.x", "x")
    bad = {"metadata": {"name": "bad", "annotations": {"volcano.sh/card.qouta": 7}}, "spec": 7}
    answers[f"{GROUP}/queues"] = a_list(a_queue().with_quota({H200: 1}), odd, bad, {"metadata": 7})
    found = await read(kubeconfig)
    keys = [("volcano.sh/card.qouta", v.QUOTA), ("volcano.sh/card.x", "")]
    assert found.queue_keys == {"odd": keys, "bad": keys[:1]}
