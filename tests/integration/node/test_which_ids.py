"""Which device IDs the agent prefers, and what it says of those that the kubelet takes (K2)."""

import grpc
import pytest

from harness.python_kubelet import UnexpectedAdmissionError

from .agent_process import COUNT, MEMORY, AgentNode, placed_on

pytestmark = [pytest.mark.plane, pytest.mark.slow]


def cards_of(node: AgentNode, pod: str) -> set[str]:
    return {one.rpartition("_")[0] for one in node.kubelet.ids(node.namespace, pod, MEMORY)}


def test_those_of_the_card_that_the_annotation_names(two_cards: AgentNode) -> None:
    two_cards.pod("small", {"main": 10}, **placed_on(1, 10))
    two_cards.pod("large", {"main": 20}, **placed_on(0, 20))
    assert cards_of(two_cards, "large") == {"GPU-0"}
    assert cards_of(two_cards, "small") == {"GPU-1"}


def test_else_of_the_card_with_the_least_that_has_enough(two_cards: AgentNode) -> None:
    two_cards.pod("a", {"main": 1_000})
    two_cards.pod("b", {"main": 8_000})
    two_cards.pod("c", {"main": 9_000})
    assert [cards_of(two_cards, name) for name in "ab"] == [{"GPU-1"}, {"GPU-0"}]
    assert cards_of(two_cards, "c") == {"GPU-0", "GPU-1"}


def test_how_many_cards_there_are_cannot_be_had(two_cards: AgentNode) -> None:
    both = {"main": {MEMORY: 10, COUNT: 1}}
    with pytest.raises(UnexpectedAdmissionError, match="gpu-count says how many cards"):
        two_cards.kubelet.admit(two_cards.namespace, "both", both)
    two_cards.pod("one", {"main": 10}, **placed_on(0, 10))
    assert two_cards.start_container("one")["ALIYUN_COM_GPU_MEM_IDX"] == "0"


@pytest.mark.parametrize("ids", [["GPU-7_0"], ["GPU-0_16376"], ["GPU-0"], ["GPU-0_-1"], [""], []])
def test_ids_that_were_never_offered_are_refused(two_cards: AgentNode, ids: list[str]) -> None:
    with pytest.raises(grpc.RpcError, match="is no memory of this node's cards"):
        two_cards.kubelet.ask_for(MEMORY, ids)
    with pytest.raises(grpc.RpcError, match="the kubelet names no container"):
        two_cards.kubelet.ask_to_start(MEMORY, ["GPU-0_3"])
    assert two_cards.page("/healthz")[0] == 200
