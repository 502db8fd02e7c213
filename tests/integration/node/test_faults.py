"""What goes wrong on a node: the agent or the kubelet ends in the middle, pods are gone, files are
left, two agents run (K3, K4).
"""

import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually
from harness.python_kubelet import StartError, UnexpectedAdmissionError
from integration.asking import ask

from .agent_process import COUNT, MEMORY, AgentNode, placed_on

ALL = 16_376 + 8_188

pytestmark = [pytest.mark.plane, pytest.mark.slow]


def test_the_agent_is_killed_between_allocation_and_start(two_cards: AgentNode) -> None:
    two_cards.pod("p", {"main": 100}, **placed_on(1, 100))
    two_cards.stop(signal.SIGKILL)
    two_cards.kubelet.waits_for(MEMORY, 0)
    with pytest.raises(StartError):
        two_cards.start_container("p")
    two_cards.start()
    two_cards.kubelet.waits_for(MEMORY, ALL)
    assert two_cards.start_container("p")["ALIYUN_COM_GPU_MEM_IDX"] == "1"


def test_what_was_written_holds_while_the_agent_is_down(two_cards: AgentNode) -> None:
    two_cards.pod("p", {"main": 100}, **placed_on(1, 100))
    two_cards.start_container("p")
    two_cards.stop(signal.SIGKILL)
    assert two_cards.kubelet.created(two_cards.namespace, "p", "main")[
        "NVIDIA_VISIBLE_DEVICES"
    ] == ("GPU-1")


def test_a_pod_that_arrives_while_the_agent_is_down_fails_and_the_next_one_does_not(
    two_cards: AgentNode,
) -> None:
    two_cards.stop(signal.SIGKILL)
    two_cards.kubelet.waits_for(MEMORY, 0)
    with pytest.raises(UnexpectedAdmissionError, match="available: 0"):
        two_cards.pod("p", {"main": 100}, **placed_on(0, 100))
    two_cards.start()
    two_cards.kubelet.waits_for(MEMORY, ALL)
    two_cards.pod("q", {"main": 100}, **placed_on(0, 100))
    assert two_cards.start_container("q")["ALIYUN_COM_GPU_MEM_IDX"] == "0"


def test_a_socket_that_nobody_answers_is_waited_for(two_cards: AgentNode) -> None:
    two_cards.kubelet.stop()
    path = two_cards.kubelet.plugins / "kubelet.sock"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))  # and it does not listen
        two_cards.says(f"{MEMORY} waits for the kubelet")
    two_cards.kubelet.start()
    two_cards.kubelet.waits_for(MEMORY, ALL)


def test_its_own_socket_is_made_again(two_cards: AgentNode) -> None:
    for path in two_cards.kubelet.plugins.glob("cardquota-*"):
        path.unlink()
    before = two_cards.kubelet.registrations
    eventually(lambda: two_cards.kubelet.registrations == before + 2, "both are registered again")
    two_cards.kubelet.waits_for(MEMORY, ALL)
    two_cards.pod("p", {"main": 100}, **placed_on(0, 100))
    assert two_cards.start_container("p")["ALIYUN_COM_GPU_MEM_IDX"] == "0"


def test_a_second_agent_waits_until_the_first_has_ended(two_cards: AgentNode) -> None:
    first, two_cards.process = two_cards.process, None
    assert first is not None
    two_cards.start()
    two_cards.says("another agent serves this node")
    before = two_cards.kubelet.registrations
    two_cards.pod("p", {"main": 100}, **placed_on(0, 100))
    assert two_cards.start_container("p")["ALIYUN_COM_GPU_MEM_IDX"] == "0"
    assert two_cards.kubelet.registrations == before
    first.kill()
    first.wait(30)
    eventually(lambda: two_cards.kubelet.registrations == before + 2, "the second is registered")
    two_cards.kubelet.waits_for(MEMORY, ALL)
    two_cards.kubelet.waits_for(COUNT, 2)
    assert two_cards.start_container("p")["ALIYUN_COM_GPU_MEM_IDX"] == "0"


def test_a_pod_that_is_gone_before_it_starts_gets_nothing(two_cards: AgentNode) -> None:
    two_cards.pod("p", {"main": 100}, **placed_on(0, 100))
    path = f"/api/v1/namespaces/{two_cards.namespace}/pods/p"
    assert ask(two_cards.plane, "DELETE", f"{path}?gracePeriodSeconds=0").ok
    with pytest.raises(StartError, match=r"which card the pod has: .* 404 pods"):
        two_cards.start_container("p")


def test_one_start_may_be_asked_for_many_times_at_once(two_cards: AgentNode) -> None:
    two_cards.pod("p", {"main": 100}, **placed_on(1, 100))
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(two_cards.start_container, ["p"] * 16))
    assert {env["ALIYUN_COM_GPU_MEM_IDX"] for env in found} == {"1"}
    ids = two_cards.kubelet.ids(two_cards.namespace, "p", MEMORY)
    two_cards.kubelet.ask_for(MEMORY, ids)  # as for an init container and the one after it
    assert two_cards.start_container("p") == found[0]


def test_an_init_container_has_its_file_for_as_long_as_its_ids_are_used(
    two_cards: AgentNode,
) -> None:
    two_cards.pod("p", {"main": 100}, **placed_on(1, 100))
    two_cards.start_container("p")
    ids = sorted(two_cards.kubelet.ids(two_cards.namespace, "p", MEMORY))
    two_cards.kubelet.ask_to_start(MEMORY, ids[40:])  # used again by the container after it
    assert len(list(two_cards.kubelet.cdi.glob("*.json"))) == 2
    two_cards.kubelet.remove(two_cards.namespace, "p")
    eventually(lambda: not list(two_cards.kubelet.cdi.glob("*.json")), "no file")


def test_whoever_is_silent_keeps_nobody_from_its_health(two_cards: AgentNode) -> None:
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection(("127.0.0.1", two_cards.port)))
        assert two_cards.page("/healthz") == (200, "ok\n")


def test_files_that_were_left_go_when_the_agent_starts(two_cards: AgentNode) -> None:
    two_cards.pod("p", {"main": 100}, **placed_on(1, 100))
    first = two_cards.start_container("p")
    two_cards.stop(signal.SIGKILL)
    (own,) = two_cards.kubelet.cdi.glob("*.json")
    dead = own.name.replace("GPU-1_", "GPU-0_")
    (own.parent / dead).write_text("{")
    (own.parent / dead).with_suffix(".unfinished").write_text("{")
    own.write_text(own.read_text()[:20])
    foreign = own.parent / "nvidia.json"
    foreign.write_text('{"kind": "nvidia.com/gpu", "devices": []}')
    two_cards.start()
    two_cards.kubelet.waits_for(MEMORY, ALL)
    left = {foreign.name, own.name, "cardquota-node.lock"}
    eventually(lambda: {path.name for path in own.parent.iterdir()} == left, "what was left goes")
    assert two_cards.start_container("p") == first


def test_the_health_of_ids_is_that_of_the_card_which_the_container_has(
    two_cards: AgentNode,
) -> None:
    two_cards.kubelet.asks_for_preferences = False
    two_cards.pod("p", {"main": 100}, **placed_on(1, 100))
    two_cards.start_container("p")
    ids = two_cards.kubelet.ids(two_cards.namespace, "p", MEMORY)
    elsewhere = [one for one in ids if one.startswith("GPU-0_")]
    assert elsewhere
    two_cards.cards[1]["problem"] = "XID 79"
    two_cards.write_cards()
    two_cards.kubelet.waits_for(MEMORY, 16_376 - len(elsewhere))
    assert {two_cards.kubelet.devices[MEMORY][one] for one in ids} == {"Unhealthy"}
    two_cards.stop()
    two_cards.start()
    two_cards.kubelet.waits_for(MEMORY, 16_376 - len(elsewhere))
    two_cards.kubelet.remove(two_cards.namespace, "p")
    two_cards.kubelet.waits_for(MEMORY, 16_376)
    assert v.GPU_MEMORY_ASSIGNED in two_cards.pod_notes("p")
