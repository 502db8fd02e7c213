"""`kubectl cardquota explain`: what is asked, and what is printed of the answer."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from builders import H200, H800
from cardquota.cli.arguments import NamedKind, named_kind
from cardquota.cli.commands.explain import explain_lines
from cardquota.quota.answers import (
    CardAmount,
    Explanation,
    Holder,
    OtherQueue,
    PodNumbers,
    ReclaimAnswer,
)

from ..answering_api import called, posting

SENTENCE = f"Queue <research> has insufficient <{H200}> quota: requested <4>"
ANSWER = Explanation(
    kind="Deployment",
    namespace="team",
    name="chat",
    time="2026-01-02T12:00:00Z",
    queue="research",
    asks=(CardAmount(name=H200, amount=4),),
    pods=PodNumbers(running=1, released=2, waiting=3, lacking=4),
    state="Waits",
    reason="InsufficientCardQuota",
    message=SENTENCE,
    place=2,
    place_of=9,
    holders=(
        Holder(
            kind="Job",
            namespace="team",
            name="train",
            pods=1,
            cards=(CardAmount(name=H200, amount=2),),
            since="2026-01-02T09:00:00Z",
        ),
    ),
    more_holders=3,
    held_elsewhere=(CardAmount(name=H200, amount=5),),
    other_cards=(CardAmount(name=H800, amount=6),),
    other_queues=(OtherQueue(queue="spare", card=H200, left=8),),
)
FITS = Explanation(
    kind="Pod",
    namespace="team",
    name="p",
    time="2026-01-02T12:00:00Z",
    queue="",
    asks=(),
    pods=PodNumbers(running=1, released=0, waiting=0, lacking=0),
    state="Fits",
    reason="",
    message="it fits",
)


def rows(answer: Explanation) -> list[str]:
    return [" ".join(line.plain.split()) for line in explain_lines(answer)]


def test_all_of_it_is_shown() -> None:
    assert rows(ANSWER) == [
        "Deployment team/chat: waits",
        f"why {SENTENCE}",
        "queue research",
        f"asks for {H200} 4",
        "pods 1 on nodes, 2 released and without a node, 3 at the gate, 4 missing",
        "place 2 of 9 that wait in the queue",
        f"held by Job/train: {H200} 2 (1 pod, for 3 h)",
        "held by 3 more in this namespace",
        f"held elsewhere {H200} 5 (other namespaces, and reservations)",
        f"would fit with another card of the queue: {H800} (6 left)",
        f"would fit in another queue: spare (8 of {H200} left)",
    ]


def test_what_fits_says_so() -> None:
    lines = ["Pod team/p: does not wait", "why it fits", "queue none, so no quota holds it"]
    assert rows(FITS) == [*lines, "pods 1 on nodes, 0 at the gate"]


def test_l7_what_could_be_taken_back_is_the_last_line() -> None:
    told = ReclaimAnswer(state="Possible", message="<1> could be\x07 taken back", card=H200)
    found = msgspec.structs.replace(ANSWER, reclaim=told)
    assert rows(found) == [*rows(ANSWER), "reclaim <1> could be? taken back"]
    assert "reclaim" not in msgspec.to_builtins(ANSWER)


def test_names_of_tenants_are_made_safe() -> None:
    odd = msgspec.structs.replace(ANSWER, message="a\x1b[31m", queue="\x07")
    assert not {"\x1b", "\x07"} & set("".join(rows(odd)))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((name, NamedKind("Pod")) for name in ("pod", "pods", "po", "Pod", "PODS")),
        *((name, NamedKind("Deployment")) for name in ("deploy", "deployment", "deployments")),
        *((name, NamedKind("StatefulSet")) for name in ("sts", "statefulsets")),
        *((name, NamedKind("DaemonSet")) for name in ("ds", "daemonset")),
        *((name, NamedKind("ReplicaSet")) for name in ("rs", "replicasets")),
        *((name, NamedKind("PodGroup")) for name in ("pg", "podgroup", "podgroups")),
        ("job", NamedKind("Job")),
        ("jobs.batch", NamedKind("Job", "batch/v1")),
        ("vcjob", NamedKind("Job", "batch.volcano.sh/v1alpha1")),
        ("PyTorchJob", NamedKind("PyTorchJob")),
    ],
)
def test_kinds_are_named_as_for_kubectl(text: str, kind: NamedKind) -> None:
    assert named_kind(text) == kind


@pytest.mark.parametrize(
    ("arguments", "namespace", "spec"),
    [
        (["deploy", "chat"], "ours", {"kind": "Deployment", "name": "chat"}),
        (["deploy/chat", "-n", "team"], "team", {"kind": "Deployment", "name": "chat"}),
        (
            ["vcjob/x"],
            "ours",
            {"kind": "Job", "name": "x", "apiVersion": "batch.volcano.sh/v1alpha1"},
        ),
    ],
)
async def test_what_is_asked(
    arguments: list[str], namespace: str, spec: dict[str, str], tmp_path: Path
) -> None:
    sent: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        sent.append((request.path, (await request.json())["spec"]))
        return web.json_response({"status": json.loads(msgspec.json.encode(ANSWER))}, status=201)

    async with posting(answer, tmp_path) as kubeconfig:
        text = kubeconfig.read_text().replace("user: u}", "user: u, namespace: ours}")
        kubeconfig.write_text(text)
        done = await called(kubeconfig, "explain", *arguments, "-o", "json")
    path = f"/apis/cardquota.volcano.sh/v1alpha1/namespaces/{namespace}/workloadreviews"
    assert (done.exit_code, sent) == (0, [(path, spec)])
    assert json.loads(done.output) == json.loads(msgspec.json.encode(ANSWER))


async def test_for_people_it_is_lines(tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"status": json.loads(msgspec.json.encode(FITS))}, status=201)

    async with posting(answer, tmp_path) as kubeconfig:
        done = await called(kubeconfig, "explain", "pod/p")
    assert done.exit_code == 0
    assert done.output.startswith("Pod team/p: does not wait\n")
