"""Where the container runtime reads no CDI files the card is guessed when the kubelet asks for IDs;
a wrong guess is found before the container starts (K5).
"""

from collections.abc import Iterator

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster
from harness.python_kubelet import StartError, UnexpectedAdmissionError

from .agent_process import AgentNode, agent_node, placed_on

pytestmark = [pytest.mark.plane, pytest.mark.slow]


@pytest.fixture
def old_runtime(plane: Cluster, namespace: str, unique: str) -> Iterator[AgentNode]:
    with agent_node(
        plane,
        namespace,
        f"{unique}-node",
        sizes=(16_376, 8_188),
        memory={"told": "allocate"},
    ) as node:
        yield node


def test_a_container_is_given_the_card_of_the_pod_that_waits(old_runtime: AgentNode) -> None:
    old_runtime.says("a pod may be taken for another of its size")
    for name, card in (("a", 1), ("b", 0)):
        old_runtime.pod(name, {"main": 500}, **placed_on(card, 500))
        env = old_runtime.start_container(name)
        assert (env["NVIDIA_VISIBLE_DEVICES"], env["ALIYUN_COM_GPU_MEM_CONTAINER"]) == (
            f"GPU-{card}",
            "500",
        )
        assert old_runtime.pod_notes(name)[v.GPU_MEMORY_ASSIGNED] == "true"
    assert old_runtime.kubelet.device_nodes(old_runtime.namespace, "a") == ["/dev/null1"]


def test_who_was_taken_for_another_does_not_start(old_runtime: AgentNode) -> None:
    cards = {"first": 0, "second": 1}
    for name, card in cards.items():
        later = {v.GPU_MEMORY_ASSUMED_AT: f"170000000000000000{card}"}
        old_runtime.create(name, {"main": 500}, **(placed_on(card, 500) | later))
    # The kubelet admits them in the other order, and knows of both.
    old_runtime.kubelet.hear_of(old_runtime.namespace, "first", "main")
    old_runtime.admit("second", {"main": 500})
    said = "as much: it has card <GPU-0>, and its annotation names <GPU-1>"
    with pytest.raises(StartError, match=said):
        old_runtime.start_container("second")


def test_without_a_pod_that_waits_with_a_card_nothing_is_given(old_runtime: AgentNode) -> None:
    with pytest.raises(UnexpectedAdmissionError, match="no pod waits whose annotations name"):
        old_runtime.pod("p", {"main": 500})
    with pytest.raises(UnexpectedAdmissionError, match="names card <9>, the node has <2>"):
        old_runtime.pod("q", {"main": 500}, **placed_on(9, 500))
    old_runtime.pod("r", {"main": 500}, **placed_on(0, 500))
