"""Pods that no scheduler has given a card, where that is allowed; and nodes whose memory is too
much for one ID for each MiB.
"""

from collections.abc import Iterator

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from harness.python_kubelet import StartError

from .agent_process import MEMORY, AgentNode, agent_node, placed_on

pytestmark = [pytest.mark.plane, pytest.mark.slow]


@pytest.fixture
def large(plane: Cluster, namespace: str, unique: str) -> Iterator[AgentNode]:
    """Three cards of 80 GiB: more than 40,000 MiB. Pods without a card get one."""
    with agent_node(
        plane,
        namespace,
        f"{unique}-node",
        sizes=(81_559,) * 3,
        offered=79 * 3,
        memory={"unannotated": "leastFree"},
    ) as node:
        yield node


def test_they_get_the_card_with_the_least_free_memory_that_has_enough(large: AgentNode) -> None:
    def card_of(name: str, amount: int) -> str:
        large.pod(name, {"main": amount})
        return large.start_container(name)["ALIYUN_COM_GPU_MEM_IDX"]

    large.pod("placed", {"main": 50}, **placed_on(2, 50))
    large.start_container("placed")
    assert [card_of("a", 20), card_of("b", 20), card_of("c", 9)] == ["2", "0", "2"]
    assert large.start_container("a")["ALIYUN_COM_GPU_MEM_IDX"] == "2"
    large.pod("more", {"main": 80})
    with pytest.raises(StartError, match="no healthy card has <80> GiB free"):
        large.start_container("more")
    assert v.GPU_MEMORY_ASSIGNED not in large.pod_notes("a")
    # Where no extender places pods, anybody may write that one did.
    large.pod("claims", {"main": 10}, **placed_on(2, 10))
    with pytest.raises(StartError, match="card <2> has not <10> GiB free"):
        large.start_container("claims")


def test_where_mib_are_too_many_one_id_stands_for_a_gib(large: AgentNode) -> None:
    large.says("<3> cards with <237> GiB in all, one device ID for each GiB")
    assert len(large.kubelet.devices[MEMORY]) == 237
    eventually(lambda: v.CARD_MEMORY in large.notes(), "sizes on the node")
    assert large.notes()[v.CARD_MEMORY] == "[79, 79, 79]"
    large.stop()
    large.settings["memory"] = {"unit": "MiB"}
    large.start()
    large.says("<244677> MiB in all, and the kubelet takes at most <40000> of them")
