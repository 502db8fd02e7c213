"""Which nodes a pod may go to, and in which words it may not go to the others."""

import pytest

from builders import GPU, H200, Body, a_ledger, a_namespace, a_node, a_pod, a_queue
from builders.node import NodeBody
from builders.pod import PodBody
from cardquota.extender import NodeFit, fit_nodes
from cardquota.quota import vocabulary as v

CARD = 16276
NO_ROOM = "no single card has 8138 MiB free"
POD = a_pod("new").asking_for_memory(8138)


def sharing(name: str, cards: int = 2) -> NodeBody:
    return a_node(name).sharing_memory(cards * CARD, cards)


def on(name: str, node: str, card: int, amount: int) -> PodBody:
    return a_pod(name).on_card(node, card, amount)


def fit(pod: PodBody, *things: Body, names: tuple[str, ...] = ("n1", "n2", "n3")) -> NodeFit:
    return fit_nodes(a_ledger(*things), pod.facts(), names)


THREE = (
    *(sharing("n1"), sharing("n2"), sharing("n3")),
    *(on("a", "n1", 0, 12207), on("b", "n1", 1, CARD)),
    *(on("c", "n2", 0, 12207), on("d", "n2", 1, 12207)),
    *(on("e", "n3", 0, 8138), on("f", "n3", 1, CARD)),
)
"""4,069 left in sum; 4,069 on each card; 8,138 on one."""


def test_b4_one_card_must_have_room() -> None:
    assert fit(POD, *THREE) == NodeFit(["n3"], {"n1": NO_ROOM, "n2": NO_ROOM}, {})


def test_b4_what_no_card_could_hold_is_unresolvable() -> None:
    text = "no healthy card has 16277 MiB"
    found = fit(a_pod().asking_for_memory(CARD + 1), *THREE)
    assert found == NodeFit([], {}, dict.fromkeys(("n1", "n2", "n3"), text))


def test_b4_a_broken_card_takes_no_pod() -> None:
    node = sharing("n1").annotated(v.UNHEALTHY_CARDS, "1")
    assert fit(POD, node, names=("n1",)).names == ["n1"]
    assert fit(POD, node, on("a", "n1", 0, 8139), names=("n1",)).failed == {"n1": NO_ROOM}
    node = sharing("n1").annotated(v.UNHEALTHY_CARDS, "0,1")
    assert fit(POD, node, names=("n1",)).unresolvable == {"n1": "no healthy card has 8138 MiB"}


def test_b4_the_unit_is_the_nodes() -> None:
    node = a_node("n1").sharing_memory(32, 2)
    pod = a_pod("new").asking_for_memory(8)
    found = fit(pod, node, on("a", "n1", 0, 9), on("b", "n1", 1, 9), names=("n1",))
    assert found.failed == {"n1": "no single card has 8 GiB free"}


BOTH = sharing("n1").offering(8, GPU)
BY_CARD = a_pod("w").asking_for(1)
NOT_KNOWN = "node is not known to cardquota"
OF_BOTH = "node has pods with whole cards and pods with card memory"


@pytest.mark.parametrize(
    ("pod", "things", "text", "curable"),
    [
        (POD, [a_node("n1").with_cards(H200, 8)], "node gives out whole cards", False),
        (POD, [a_node("n1")], "node shares no card memory", False),
        (POD, [], NOT_KNOWN, False),
        (POD, [on("a", "n1", 0, 1)], NOT_KNOWN, False),
        (
            POD,
            [a_node("n1").offering(8, v.GPU_MEMORY)],
            "node does not say what cards it has (aliyun.com/gpu-mem, aliyun.com/gpu-count)",
            False,
        ),
        (POD, [BOTH, BY_CARD.on_node("n1")], "node gives out whole cards", True),
        (POD, [BOTH, BY_CARD.on_node("n1"), on("a", "n1", 0, 1)], OF_BOTH, True),
        (BY_CARD, [sharing("n1")], "node gives out card memory", False),
        (BY_CARD, [], NOT_KNOWN, False),
        (BY_CARD, [BOTH, on("a", "n1", 0, 1)], "node gives out card memory", True),
        (BY_CARD, [BOTH, BY_CARD.on_node("n1"), on("a", "n1", 0, 1)], OF_BOTH, True),
    ],
)
def test_b3_a_pod_by_memory_and_one_by_card_go_to_no_node_of_the_other_kind(
    pod: PodBody, things: list[Body], text: str, curable: bool
) -> None:
    found = fit(pod, *things, names=("n1",))
    assert found[:3] == ([], {"n1": text} if curable else {}, {} if curable else {"n1": text})
    assert found.unknown is (text == NOT_KNOWN and not things)


@pytest.mark.parametrize(
    ("pod", "node"),
    [
        (POD, BOTH),
        (BY_CARD, BOTH),
        (a_pod().asking_for_memory(1).asking_for(1, "rdma/hca"), sharing("n1")),
        (a_pod().asking_for_memory(0), a_node("n1")),
    ],
    ids=["B3: undecided", "B3: undecided, by card", "another device", "a request of nothing"],
)
def test_b3_b4_a_node_takes_it(pod: PodBody, node: NodeBody) -> None:
    assert fit(pod, node, names=("n1",)).names == ["n1"]


def test_b4_a_pod_that_asks_for_both_fits_nowhere() -> None:
    pod = a_pod().asking_for_memory(1).asking_for(1)
    text = "pod asks for aliyun.com/gpu-mem and for whole cards: it can have only one of them"
    assert fit(pod, sharing("n1"), names=("n1",)).unresolvable == {"n1": text}


@pytest.mark.parametrize("amount", ["-1", "1.5", "1e30", "x"])
def test_b4_a_request_that_cannot_be_read_fits_nowhere(amount: str) -> None:
    found = fit(a_pod().asking_for_memory(amount), sharing("n1"), names=("n1",))
    assert found.names == []
    assert found.unresolvable["n1"].startswith("pod cannot be read: resource aliyun.com/gpu-mem: ")


def test_b4_the_pods_total_counts() -> None:
    asks = ({"limits": {v.GPU_MEMORY: amount}} for amount in ("8000", "8300"))
    pod = a_pod().with_spec(containers=[{"name": "a", "resources": one} for one in asks])
    assert fit(pod, sharing("n1"), names=("n1",)).names == []


def test_b4_each_node_has_its_own_reason() -> None:
    found = fit(
        POD,
        *(sharing("n1"), sharing("n2"), sharing("n3")),
        *(on(f"{name}-{card}", name, card, CARD) for name in ("n1", "n3") for card in (0, 1)),
        a_node("n2").sharing_memory(8000, 1),
        a_node("n4").with_cards(H200, 8),
        sharing("n5"),
        names=("n1", "n2", "n3", "n4", "n5", "n6"),
    )
    whole, unknown = "node gives out whole cards", "node is not known to cardquota"
    wrong = {"n2": "no healthy card has 8138 MiB", "n4": whole, "n6": unknown}
    assert found == NodeFit(["n5"], {"n1": NO_ROOM, "n3": NO_ROOM}, wrong, unknown=True)


# --- B9: memory needs a queue with a row ----

ROW = a_queue("red").with_quota({"NVIDIA-A10/gpu-mem": 99_999})
NO_ROW = "pod asks for aliyun.com/gpu-mem and has no queue with a quota of card memory"


@pytest.mark.parametrize("queue", [None, "red", "none"])
def test_b9_a_pod_that_we_did_not_release_has_no_card_memory(queue: str | None) -> None:
    pod = POD.in_queue(queue)
    ledger = a_ledger(*THREE, ROW, pod, memory_by_row=True)
    found = fit_nodes(ledger, pod.facts(), ["n3"])
    assert found == NodeFit([], {}, {"n3": NO_ROW})
    assert fit_nodes(a_ledger(*THREE, ROW, pod), pod.facts(), ["n3"]).names == ["n3"]


def test_b9_one_that_we_released_has() -> None:
    pod = POD.in_queue("red").stamped("red", {"NVIDIA-A10/gpu-mem": 8138})
    ledger = a_ledger(*THREE, ROW, pod, memory_by_row=True)
    assert fit_nodes(ledger, pod.facts(), ["n3"]).names == ["n3"]


@pytest.mark.parametrize("mode", ["audit", "off"])
def test_b9_where_nothing_is_enforced_none_is_needed(mode: str) -> None:
    namespace = a_namespace("team").in_mode(mode)
    ledger = a_ledger(*THREE, namespace, POD, memory_by_row=True)
    assert fit_nodes(ledger, POD.facts(), ["n3"]).names == ["n3"]


def test_b9_whole_cards_need_no_row() -> None:
    pod = a_pod("w").asking_for(1)
    ledger = a_ledger(a_node("n9").with_cards(H200, 8), pod, memory_by_row=True)
    assert fit_nodes(ledger, pod.facts(), ["n9"]).names == ["n9"]
