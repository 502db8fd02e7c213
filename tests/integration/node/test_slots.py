"""What containers get that ask for slots of cards: a real API server, the agent as a process, and a
Python kubelet that replays what a kubelet does (K6).
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cardquota.quota import vocabulary as v
from cardquota_dev.testing import Cluster, eventually
from harness.python_kubelet import StartError, UnexpectedAdmissionError

from .agent_process import AgentNode, agent_node

pytestmark = [pytest.mark.plane, pytest.mark.slow]

SAME_POD = {v.CARD_BIND: "same-pod"}
MOST_LOADED = 100


@pytest.fixture
def slots(plane: Cluster, namespace: str, unique: str) -> Iterator[AgentNode]:
    """A node with two cards of two slots each."""
    with agent_node(
        plane,
        namespace,
        f"{unique}-node",
        sizes=(16_376, 16_376),
        offered=4,
        resource=v.SLOT,
        offer="slots",
    ) as node:
        loads(node, 0, 0)
        yield node


def loads(node: AgentNode, *percent: int) -> None:
    """Have the agent see these loads: it looks ten times in a second."""
    for card, load in zip(node.cards, percent, strict=True):
        card["utilization"] = load
    change(node)


def change(node: AgentNode) -> None:
    """Have the agent see the cards, and know that it has: a process shows in its metrics."""
    for card in node.cards:
        card["used"] = card.get("used", 0) % 1_000 + 1
    node.write_cards()
    used = [card["used"] * 2**20 for card in node.cards]

    def seen() -> bool:
        rows = [line for line in node.page("/metrics")[1].splitlines() if "_used_bytes{" in line]
        return [float(row.split()[-1]) for row in rows] == used

    eventually(seen, "the cards as they are now")


def card_of(node: AgentNode, pod: str, container: str = "main") -> str:
    env = node.start_container(pod, container)
    assert env["NVIDIA_VISIBLE_DEVICES"] == env["CUDA_VISIBLE_DEVICES"]
    return env["NVIDIA_VISIBLE_DEVICES"]


def a_pod(node: AgentNode, name: str, number: int = 1, **notes: str) -> str:
    node.pod(name, {"main": number}, **notes)
    return card_of(node, name)


def files(node: AgentNode) -> dict[str, Any]:
    """By their device, what the runtime reads."""
    devices = [one["devices"][0] for one in node.kubelet.specs()]
    return {one["name"]: one["containerEdits"] for one in devices}


def test_each_container_gets_the_card_that_is_least_loaded_when_it_is_admitted(
    slots: AgentNode,
) -> None:
    assert slots.kubelet.number(v.SLOT) == 4
    loads(slots, 50, 10)
    assert a_pod(slots, "a") == "GPU-1"
    loads(slots, 0, 10)
    assert a_pod(slots, "b") == "GPU-0"
    loads(slots, 20, 20)  # of cards that are loaded alike the one of which fewer slots are taken
    assert {a_pod(slots, "c"), a_pod(slots, "d")} == {"GPU-0", "GPU-1"}
    with pytest.raises(UnexpectedAdmissionError, match="available: 0"):
        slots.pod("e", {"main": 1})
    assert v.CARD_MEMORY not in slots.notes()


def test_a_slot_changes_places_when_its_card_is_the_more_loaded_one_at_the_start(
    slots: AgentNode,
) -> None:
    loads(slots, 10, 50)
    slots.pod("a", {"main": 1})
    loads(slots, 50, 10)
    assert card_of(slots, "a") == "GPU-1"
    (device,) = files(slots)
    assert device == "GPU-0_0"
    edits = files(slots)[device]
    assert edits["deviceNodes"][0] == {"path": "/dev/null1"}
    env = dict(entry.split("=", 1) for entry in edits["env"])
    assert (env["NVIDIA_VISIBLE_DEVICES"], env["CARDQUOTA_CARDS"]) == ("GPU-1", "1")
    where = {"namespace": slots.namespace, "pod": "a", "container": "main"}
    assert slots.command("allocations") == [{**where, "amount": 1, "card": "1", "uuid": "GPU-1"}]
    # Its former place is of the other card now.
    slots.cards[1]["problem"] = "XID 79"
    slots.write_cards()
    unhealthy = {"GPU-0_0": "Unhealthy", "GPU-1_1": "Unhealthy", "GPU-1_0": "Healthy"}
    eventually(
        lambda: slots.kubelet.devices[v.SLOT] == {**unhealthy, "GPU-0_1": "Healthy"},
        "the slots of the sick card",
    )


def test_containers_that_start_in_the_same_moment_never_share_a_slot(slots: AgentNode) -> None:
    pods = [f"p{number}" for number in range(4)]
    loads(slots, 10, 50)
    for name in pods:
        slots.pod(name, {"main": 1})
    loads(slots, 50, 10)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda name: card_of(slots, name), pods))
    assert sorted(found) == ["GPU-0", "GPU-0", "GPU-1", "GPU-1"]
    assert [card_of(slots, name) for name in pods] == found


def test_containers_of_a_pod_that_says_so_are_on_one_card_while_it_has_room(
    slots: AgentNode,
) -> None:
    loads(slots, 0, 50)
    slots.pod("p", dict.fromkeys("abc", 1), **SAME_POD)
    assert card_of(slots, "p", "a") == "GPU-0"
    loads(slots, 90, 0)
    assert card_of(slots, "p", "b") == "GPU-0"
    assert card_of(slots, "p", "c") == "GPU-1"


def test_without_a_word_each_container_is_on_the_card_that_is_least_loaded(
    slots: AgentNode,
) -> None:
    loads(slots, 0, 50)
    slots.pod("p", dict.fromkeys("ab", 1), **{v.CARD_BIND: "balance"})
    assert card_of(slots, "p", "a") == "GPU-0"
    loads(slots, 90, 0)
    assert card_of(slots, "p", "b") == "GPU-1"


def test_another_word_is_refused(slots: AgentNode) -> None:
    slots.pod("p", {"main": 1}, **{v.CARD_BIND: "spread"})
    said = "card.bind is <spread>, it can be balance or same-pod"
    with pytest.raises(StartError, match=said):
        slots.start_container("p")
    slots.says(f"not started: pod <{slots.namespace}/p>: annotation volcano.sh/{said}")


def test_who_has_a_slot_keeps_its_card_when_the_agent_or_the_container_starts_again(
    slots: AgentNode,
) -> None:
    loads(slots, 10, 50)
    slots.pod("p", dict.fromkeys("ab", 1), **SAME_POD)
    loads(slots, 50, 10)
    first = slots.start_container("p", "a")
    assert first["NVIDIA_VISIBLE_DEVICES"] == "GPU-1"
    before = dict(slots.kubelet.devices[v.SLOT])
    restart(slots)
    loads(slots, 0, MOST_LOADED)
    assert slots.kubelet.devices[v.SLOT] == before
    assert [slots.start_container("p", "a") for _ in range(2)] == [first] * 2
    assert card_of(slots, "p", "b") == "GPU-1"
    slots.cards[1]["problem"] = "XID 79"
    slots.write_cards()
    slots.kubelet.waits_for(v.SLOT, 2)
    with pytest.raises(StartError, match="card <1> is sick: XID 79"):
        slots.start_container("p", "a")


def restart(node: AgentNode) -> None:
    node.stop()
    node.kubelet.waits_for(v.SLOT, 0)
    node.start()
    node.kubelet.waits_for(v.SLOT, 4)


@pytest.mark.parametrize("broken", ['{"GPU-0_0": {"ca', "[]", None])
def test_if_the_state_is_lost_who_has_a_slot_keeps_its_card_by_its_own_file(
    slots: AgentNode, broken: str | None
) -> None:
    loads(slots, 10, 50)
    slots.pod("p", dict.fromkeys("ab", 1), **SAME_POD)
    loads(slots, 50, 10)
    assert card_of(slots, "p", "a") == "GPU-1"
    state = slots.kubelet.cdi / "cardquota-slots.state"
    state.unlink() if broken is None else state.write_text(broken)
    restart(slots)
    loads(slots, 0, MOST_LOADED)
    assert [card_of(slots, "p", one) for one in "ab"] == ["GPU-1"] * 2
    assert ("cardquota-slots.state cannot be read" in slots.log) is (broken is not None)


def test_slots_of_pods_that_are_gone_stay_where_they_are(slots: AgentNode) -> None:
    loads(slots, 10, 50)
    slots.pod("goes", {"main": 1}, **SAME_POD)
    loads(slots, 50, 10)
    assert card_of(slots, "goes") == "GPU-1"
    slots.kubelet.remove(slots.namespace, "goes")
    eventually(lambda: not files(slots), "no file")
    # Its slot is still on GPU-1: a pod that needs both of that card gets them.
    restart(slots)
    loads(slots, MOST_LOADED, 0)
    assert a_pod(slots, "two", 2) == "GPU-1"
    assert set(files(slots)) == {"GPU-0_0"}


def test_a_slot_is_free_when_its_pod_is_gone(slots: AgentNode) -> None:
    loads(slots, 50, 10)
    assert [a_pod(slots, name) for name in ("goes", "stays")] == ["GPU-1"] * 2
    slots.kubelet.remove(slots.namespace, "goes")
    eventually(lambda: len(files(slots)) == 1, "one file")
    loads(slots, 10, 50)
    slots.pod("comes", {"main": 1})
    loads(slots, 50, 10)
    assert card_of(slots, "comes") == "GPU-1"


def test_who_starts_when_its_card_is_sick_gets_a_healthy_one(slots: AgentNode) -> None:
    loads(slots, 10, 50)
    slots.pod("p", {"main": 1})
    slots.cards[0]["problem"] = "XID 79"
    slots.write_cards()
    slots.kubelet.waits_for(v.SLOT, 2)
    assert card_of(slots, "p") == "GPU-1"
    told = {"GPU-0_0": "Healthy", "GPU-0_1": "Unhealthy"}
    told |= {"GPU-1_0": "Unhealthy", "GPU-1_1": "Healthy"}
    eventually(lambda: slots.kubelet.devices[v.SLOT] == told, "where the sick slots are")


def test_several_slots_of_a_container_stay_and_it_has_the_card_of_each(slots: AgentNode) -> None:
    loads(slots, 0, 50)
    slots.pod("p", {"main": 3})
    loads(slots, 50, 0)
    env = slots.start_container("p")
    assert env["NVIDIA_VISIBLE_DEVICES"] == "GPU-0,GPU-1"
    nodes = [one["path"] for one in files(slots)["GPU-0_0"]["deviceNodes"]]
    assert nodes[:2] == ["/dev/null0", "/dev/null1"]
    (row,) = slots.command("allocations")
    assert (row["amount"], row["card"], row["uuid"]) == (3, "0,1", "GPU-0,GPU-1")


def test_what_cannot_be_stored_starts_no_container(slots: AgentNode) -> None:
    slots.pod("p", {"main": 1})
    slots.kubelet.cdi.mkdir(exist_ok=True)
    (slots.kubelet.cdi / "cardquota-slots.unfinished").mkdir()
    with pytest.raises(StartError, match="nobody would know who has which slot: Is a directory"):
        slots.start_container("p")
    (slots.kubelet.cdi / "cardquota-slots.unfinished").rmdir()
    assert card_of(slots, "p") == "GPU-0"
