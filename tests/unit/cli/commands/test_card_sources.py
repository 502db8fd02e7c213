"""What an API server may answer that the control plane of the tests never does, by one of a few
lines.
"""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from builders import GPU, H200, a_namespace, a_node
from cardquota.cli.commands.cards import from_cluster
from cardquota.cli.output import ClusterChoice
from cardquota.cli.reading import ClusterError
from cardquota.settings import Settings

from ..answering_api import FORBIDDEN, NOT_SERVED, Answer, Answers, a_list, answering

NODES = "/api/v1/nodes"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
NAMESPACES = "/api/v1/namespaces"
CLASSES = "/apis/resource.k8s.io/v1beta1/deviceclasses"
"""As an API server says it of a kind that is not defined."""


ONE_NODE = a_list(a_node().with_cards(H200, 8))


@pytest.fixture
def answers() -> Answers:
    """By path; what is not here is not served."""
    return {}


@pytest.fixture
async def kubeconfig(answers: Mapping[str, Answer], tmp_path: Path) -> AsyncIterator[Path]:
    async with answering(answers, tmp_path) as path:
        yield path


@pytest.mark.parametrize(
    ("queues", "note"),
    [
        (NOT_SERVED, "the cluster has no definition of Queue: no quotas are shown"),
        (FORBIDDEN, "you may not list queues: no: no quotas are shown"),
    ],
)
async def test_without_queues_there_are_cards(
    answers: Answers, kubeconfig: Path, queues: Answer, note: str
) -> None:
    answers.update({NODES: ONE_NODE, QUEUES: queues})
    found = await from_cluster(ClusterChoice(kubeconfig), Settings())
    assert [(card.name, card.allocatable, card.quota) for card in found.cards] == [(H200, 8, None)]
    assert (found.queues, found.notes) == (None, [note])


@pytest.mark.parametrize(
    ("nodes", "queues", "text"),
    [
        (NOT_SERVED, ONE_NODE, "cannot list nodes: 404: 404 page not found"),
        ((401, "{}"), ONE_NODE, "cannot list nodes: 401: "),
        (ONE_NODE, (500, "etcd is away"), "cannot list queues: .*500 : etcd is away"),
        (ONE_NODE, (200, "[]"), "cannot list queues: the answer is not a list"),
    ],
)
async def test_half_an_answer_is_none(
    answers: Answers, kubeconfig: Path, nodes: Answer, queues: Answer, text: str
) -> None:
    """Quotas that are there and cannot be had just now are no quotas of zero."""
    answers.update({NODES: nodes, QUEUES: queues})
    with pytest.raises(ClusterError, match=text):
        await from_cluster(ClusterChoice(kubeconfig), Settings())


def a_class(name: str, resource: str | None = None) -> object:
    return {"metadata": {"name": name}, "spec": {"extendedResourceName": resource}}


async def test_what_is_claimed_and_odd_labels(answers: Answers, kubeconfig: Path) -> None:
    """By the newest version of DeviceClasses that is served. What is a card is no claim (P7)."""
    answers[NODES] = ONE_NODE
    answers[NAMESPACES] = a_list(*(a_namespace(m).in_mode(m) for m in ("on", "enforced")))
    answers[CLASSES] = a_list(a_class("npu", "example.com/npu"), a_class("gpu", GPU), 7)
    found = await from_cluster(ClusterChoice(kubeconfig), Settings())
    assert [
        (entry["device_class"], entry["problem"].partition(";")[0]) for entry in found.claimed
    ] == [
        ("gpu", "no quota counts devices asked for as deviceclass.resource.kubernetes.io/gpu"),
        (
            "npu",
            (
                "no quota counts devices asked for as deviceclass.resource.kubernetes.io/npu or "
                "example.com/npu"
            ),
        ),
    ]
    assert [entry["namespace"] for entry in found.unknown_modes] == ["on"]
    assert "is <on>, an unknown value" in found.unknown_modes[0]["problem"]


@pytest.mark.parametrize(
    ("namespaces", "notes"),
    [
        ((403, "{}"), []),
        ((500, "etcd is away"), ["cannot list namespaces: 500 : etcd is away"]),
        ((200, "[]"), ["cannot list namespaces: the answer is not a list of Kubernetes objects"]),
    ],
)
async def test_without_those_there_are_cards_all_the_same(
    answers: Answers, kubeconfig: Path, namespaces: Answer, notes: list[str]
) -> None:
    answers.update({NODES: ONE_NODE, QUEUES: a_list(), NAMESPACES: namespaces})
    answers[CLASSES] = a_list(a_class("npu"))
    found = await from_cluster(ClusterChoice(kubeconfig), Settings())
    assert ([card.name for card in found.cards], found.notes) == ([H200], notes)
    assert [entry["device_class"] for entry in found.claimed] == ["npu"]
