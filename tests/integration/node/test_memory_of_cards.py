"""What containers get that ask for memory of a card: a real API server, the agent as a process, and
a Python kubelet that replays what a kubelet does (K1, K2).
"""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import eventually
from harness.python_kubelet import StartError, UnexpectedAdmissionError

from .agent_process import COUNT, MEMORY, AgentNode, placed_on

ALL = 16_376 + 8_188

pytestmark = [pytest.mark.plane, pytest.mark.slow]


def test_a_container_gets_the_card_that_its_pods_annotation_names(two_cards: AgentNode) -> None:
    two_cards.pod("p", {"main": 4_000}, **placed_on(1, 4_000))
    assert two_cards.start_container("p") == {
        "NVIDIA_VISIBLE_DEVICES": "GPU-1",
        "CUDA_VISIBLE_DEVICES": "GPU-1",
        "ALIYUN_COM_GPU_MEM_IDX": "1",
        "ALIYUN_COM_GPU_MEM_POD": "4000",
        "ALIYUN_COM_GPU_MEM_CONTAINER": "4000",
        "ALIYUN_COM_GPU_MEM_DEV": "8188",
    }
    notes = two_cards.pod_notes("p")
    assert notes[v.GPU_MEMORY_ASSIGNED] == "true"
    assert notes[v.GPU_MEMORY_ASSUMED_AT] == "1700000000000000001"
    assert [two_cards.start_container("p")["ALIYUN_COM_GPU_MEM_IDX"] for _ in range(3)] == ["1"] * 3


def test_pods_of_equal_size_that_start_in_the_same_moment_are_never_crossed(
    two_cards: AgentNode,
) -> None:
    named = {f"p{n}": n % 2 for n in range(20)}
    for name, card in named.items():
        two_cards.create(name, {"main": 500}, **placed_on(card, 500))
    for name in reversed(named):
        two_cards.admit(name, {"main": 500})
    with ThreadPoolExecutor(8) as threads:
        found = dict(zip(named, threads.map(two_cards.start_container, named), strict=True))
    assert {name: int(env["ALIYUN_COM_GPU_MEM_IDX"]) for name, env in found.items()} == named


def test_two_containers_of_a_pod_have_its_card_and_each_its_part(two_cards: AgentNode) -> None:
    two_cards.pod("p", {"a": 1_000, "b": 2_000}, **placed_on(0, 3_000))
    found = [two_cards.start_container("p", one) for one in "ab"]
    assert [env["ALIYUN_COM_GPU_MEM_CONTAINER"] for env in found] == ["1000", "2000"]
    assert [env["ALIYUN_COM_GPU_MEM_POD"] for env in found] == ["3000", "3000"]
    assert {env["NVIDIA_VISIBLE_DEVICES"] for env in found} == {"GPU-0"}


@pytest.mark.parametrize(
    ("amount", "notes", "said"),
    [
        (100, {}, "has no annotation ALIYUN_COM_GPU_MEM_IDX: the scheduler that bound it"),
        (100, placed_on(9, 100), "names card <9>, the node has <2>, from 0 on"),
        (100, {v.GPU_MEMORY_CARD: "-1"}, "<-1> is not the index of a card"),
        (100, {v.GPU_MEMORY_CARD: "one"}, "<one> is not the index of a card"),
        (100, placed_on(0, 200), "_POD is <200>, the pod asks for <100>"),
        (9_000, placed_on(1, 9_000), "asks for <9000> MiB, card <1> has <8188>"),
    ],
)
def test_a_container_whose_card_is_not_known_does_not_start(
    two_cards: AgentNode, amount: int, notes: dict[str, str], said: str
) -> None:
    two_cards.pod("bad", {"main": amount}, **notes)
    two_cards.pod("good", {"main": 100}, **placed_on(1, 100))
    with pytest.raises(StartError, match=said):
        two_cards.start_container("bad")
    assert two_cards.start_container("good")["ALIYUN_COM_GPU_MEM_IDX"] == "1"
    two_cards.says(f"not started: pod <{two_cards.namespace}/bad>")


def test_more_than_there_is_fails_at_admission(two_cards: AgentNode) -> None:
    with pytest.raises(UnexpectedAdmissionError, match="available: 24564"):
        two_cards.pod("p", {"main": 25_000}, **placed_on(0, 25_000))


def test_who_has_a_card_is_not_given_another_when_the_kubelet_or_the_agent_starts_again(
    two_cards: AgentNode,
) -> None:
    two_cards.pod("p", {"main": 4_000}, **placed_on(1, 4_000))
    first = two_cards.start_container("p")
    two_cards.kubelet.stop()
    two_cards.kubelet.start()
    two_cards.kubelet.waits_for(MEMORY, ALL)
    assert two_cards.start_container("p") == first
    two_cards.stop()
    two_cards.kubelet.waits_for(MEMORY, 0)
    two_cards.start()
    two_cards.kubelet.waits_for(MEMORY, ALL)
    assert two_cards.start_container("p") == first


def test_a_sick_card_is_offered_as_such_and_published_and_so_is_its_recovery(
    two_cards: AgentNode,
) -> None:
    eventually(lambda: v.CARD_MEMORY in two_cards.notes(), "sizes on the node")
    assert two_cards.notes()[v.CARD_MEMORY] == "[16376, 8188]"
    two_cards.pod("p", {"main": 100}, **placed_on(1, 100))
    two_cards.cards[1]["problem"] = "XID 79"
    two_cards.write_cards()
    two_cards.kubelet.waits_for(MEMORY, 16_376)
    assert two_cards.kubelet.number(MEMORY, "Unhealthy") == 8_188
    eventually(lambda: two_cards.notes().get(v.UNHEALTHY_CARDS) == "1", "the sick card")
    with pytest.raises(StartError, match="card <1> is sick: XID 79"):
        two_cards.start_container("p")
    del two_cards.cards[1]["problem"]
    two_cards.write_cards()
    two_cards.kubelet.waits_for(MEMORY, ALL)
    eventually(lambda: v.UNHEALTHY_CARDS not in two_cards.notes(), "no sick card")
    two_cards.kubelet.waits_for(COUNT, 2)
    assert two_cards.start_container("p")["ALIYUN_COM_GPU_MEM_IDX"] == "1"


def test_without_the_api_server_no_container_starts(two_cards: AgentNode) -> None:
    two_cards.pod("p", {"main": 100}, **placed_on(0, 100))
    two_cards.stop()
    two_cards.settings["kubeconfig"] = two_cards.nowhere()
    two_cards.start()
    two_cards.kubelet.waits_for(MEMORY, ALL)
    with pytest.raises(StartError, match=r"it is not known which card the pod has: GET .*refused"):
        two_cards.start_container("p")


def test_a_port_that_is_taken_is_said_in_one_line(two_cards: AgentNode) -> None:
    two_cards.settings["http"] = {"host": "127.0.0.1", "port": two_cards.port}
    other = two_cards.another()
    assert other.returncode == 1
    assert "address already in use" in other.stderr
    assert len(other.stderr.splitlines()) == 2  # the other is what lists the cards


def test_what_cannot_be_asked_keeps_a_container_from_starting_until_it_can(
    two_cards: AgentNode,
) -> None:
    two_cards.pod("p", {"main": 100}, **placed_on(0, 100))
    two_cards.kubelet.answers_about_pods = False
    with pytest.raises(StartError, match="rate limit exceeded: it is asked again"):
        two_cards.start_container("p")
    two_cards.kubelet.answers_about_pods = True
    assert two_cards.start_container("p")["ALIYUN_COM_GPU_MEM_IDX"] == "0"


def test_a_node_with_many_device_ids_is_warned(two_cards: AgentNode) -> None:
    two_cards.stop()
    two_cards.start()
    two_cards.says("more than <8000> device IDs")
    two_cards.kubelet.waits_for(MEMORY, ALL)


def test_the_commands_show_the_cards_and_who_has_them(two_cards: AgentNode) -> None:
    two_cards.pod("p", {"main": 4_000}, **placed_on(1, 4_000))
    two_cards.pod("waits", {"main": 10}, **placed_on(0, 10))
    two_cards.start_container("p")
    where = {"namespace": two_cards.namespace, "container": "main"}
    assert two_cards.command("allocations") == [
        {**where, "pod": "p", "amount": 4_000, "card": "1", "uuid": "GPU-1"},
        {**where, "pod": "waits", "amount": 10, "card": "", "uuid": ""},
    ]
    shown = two_cards.command("inventory")
    assert [(card["uuid"], card["memory"], card["healthy"]) for card in shown] == [
        ("GPU-0", 16_376, True),
        ("GPU-1", 8_188, True),
    ]


def test_files_of_containers_that_are_gone_go_and_the_others_stay(two_cards: AgentNode) -> None:
    for name in ("stays", "goes"):
        two_cards.pod(name, {"main": 10}, **placed_on(0, 10))
        two_cards.start_container(name)
    two_cards.kubelet.remove(two_cards.namespace, "goes")
    eventually(lambda: len(list(two_cards.kubelet.cdi.glob("*.json"))) == 1, "one file")
    assert two_cards.start_container("stays")["ALIYUN_COM_GPU_MEM_IDX"] == "0"


def test_health_and_metrics_are_answered(two_cards: AgentNode) -> None:
    assert two_cards.page("/healthz") == (200, "ok\n")
    code, text = two_cards.page("/metrics")
    row = '{card="1",product="NVIDIA-A10",uuid="GPU-1"}'
    assert (code, f"cardquota_node_card_healthy{row} 1\n" in text) == (200, True)
    assert f"cardquota_node_card_memory_bytes{row} {8_188 * 2**20}\n" in text
    assert two_cards.page("/secrets")[0] == 404
    before = refused(two_cards)
    two_cards.pod("p", {"main": 1})
    with pytest.raises(StartError, match="no annotation"):
        two_cards.start_container("p")
    assert refused(two_cards) == before + 1


def refused(node: AgentNode) -> int:
    row = re.search(r'_starts_total\{result="refused"\} (\d+)', node.page("/metrics")[1])
    assert row is not None
    return int(row[1])
